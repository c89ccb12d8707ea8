// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot ranges as a heat map. The places where ranges begin and end are put side
 * by side at equal distances, since addresses lie too far apart to be drawn to
 * scale. Ranges of one stream are below those around them; ranges of pairs have
 * the data from left to right, and the code from top to bottom.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;
	const ROW = 30, LEFT = 8;

	const big = (text) => BigInt(text);

	/* Returns a function from the ends of ranges to a number from 0 to 1. */
	function scale(spans) {
		const ends = new Map();

		for (const [key, low, high] of spans) {
			ends.set(key + '\n' + low, [key, low]);
			ends.set(key + '\n' + (high + 1n), [key, high + 1n]);
		}
		const all = [...ends.values()].sort((a, b) =>
			a[0] < b[0] ? -1 : a[0] > b[0] ? 1 :
			a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0);
		const at = new Map(all.map(([key, end], i) => [key + '\n' + end,
			i / Math.max(1, all.length - 1)]));

		return (key, end) => at.get(key + '\n' + end);
	}

	const key = (range) => (range.object || '') + '\n' + (range.pid || '');

	function span(range) {
		return [key(range), big(range.low), big(range.high)];
	}

	function code(range) {
		return [range.code.object || '', big(range.code.low),
			big(range.code.high)];
	}

	/* ---- names ------------------------------------------------------- */

	function place(range) {
		if (range.function)
			return hwprof.place(range.function, range.function_offset) +
				(range.last_function &&
				 range.last_function !== range.function ?
				 ' \u2013 ' + range.last_function : '');
		return range.low === range.high ? range.low :
		       range.low + '\u2013' + range.high;
	}

	function name(range) {
		if (range.parent === null)
			return 'all';
		return (range.code ? place(range.code) + ' at ' : '') + place(range);
	}

	hwprof.range_name = name;

	function sentence(range) {
		return hwprof.clean(name(range)) + (range.object ? ' in ' +
			hwprof.clean(hwprof.base(range.object)) : '') + ', ' +
			range.low + ' to ' + range.high + ': ' +
			hwprof.percent(range.share) + ' of all events, ' +
			hwprof.count(range.least) + ' to ' +
			hwprof.count(range.most) + ' in it';
	}

	/* ---- boxes -------------------------------------------------------- */

	/* Boxes of ranges: below each other by depth. */
	function by_depth(ranges) {
		const inner = ranges.filter((r) => r.parent !== null);
		const x = scale(inner.map(span));

		return ranges.map((range) => {
			const [where, low, high] = span(range);
			const root = range.parent === null;
			const left = root ? 0 : x(where, low);
			const right = root ? 1 : x(where, high + 1n);

			return { range, x: left, width: right - left,
				 y: range.depth * ROW, height: ROW - 2 };
		});
	}

	/* Boxes of pairs. The root is all of the picture. */
	function by_code(ranges) {
		const inner = ranges.filter((r) => r.parent !== null);
		const x = scale(inner.map(span)), y = scale(inner.map(code));
		const height = Math.max(160, Math.min(480, 40 * inner.length));

		return ranges.map((range) => {
			if (range.parent === null)
				return { range, x: 0, width: 1, y: 0, height };
			const [where, low, high] = span(range);
			const [object, first, last] = code(range);
			const top = y(object, first) * height;

			return { range, x: x(where, low), y: top,
				 width: x(where, high + 1n) - x(where, low),
				 height: y(object, last + 1n) * height - top };
		});
	}

	function box(it, width, most, choose) {
		const { range } = it;
		const x = LEFT + it.x * width, wide = Math.max(1, it.width * width - 1);
		const room = Math.floor((wide - 10) / 7);
		const text = `${hwprof.percent(range.share, 1)}  ${name(range)}`;

		return svg('g', {
			class: 'range', tabindex: 0, role: 'button',
			'aria-label': sentence(range),
			onclick: () => choose(range), onfocus: () => choose(range),
		}, svg('title', {}, sentence(range)),
		svg('rect', { class: 'ground', x, y: it.y, width: wide,
			      height: Math.max(1, it.height) }),
		svg('rect', { class: 'heat', x, y: it.y, width: wide,
			      height: Math.max(1, it.height), 'fill-opacity':
				      (range.share / most).toFixed(3) }),
		room > 4 ? svg('text', { x: x + 6, y: it.y + 19 },
			       hwprof.clean(text, room)) : null);
	}

	function legend(most) {
		const cells = [0, 0.25, 0.5, 0.75, 1].map((part) => {
			const cell = h('span', { class: 'swatch' });

			cell.style.setProperty('--part', part);
			return [cell, hwprof.percent(part * most, 1) + ' '];
		});

		return h('p', { class: 'legend' },
			 'Share of all events, without hot ranges inside: ', cells);
	}

	function picture(element, ranges, now) {
		const pairs = Boolean(ranges[0].code);
		const boxes = pairs ? by_code(ranges) : by_depth(ranges);
		const most = Math.max(...ranges.map((r) => r.share)) || 1;
		const height = Math.max(...boxes.map((b) => b.y + b.height)) + 4;
		const frame = h('div', { class: 'heat-map' });
		const choose = (range) => {
			now.textContent = sentence(range);
		};

		function draw() {
			const width = Math.max(300, frame.clientWidth - 2 * LEFT);

			frame.replaceChildren(svg('svg', {
				width: width + 2 * LEFT, height, role: 'group',
				'aria-label': 'Heat map of ranges',
			}, boxes.map((it) => box(it, width, most, choose))));
		}

		hwprof.add(element, legend(most), pairs ? h('p', { class: 'quiet' },
			'Data from left to right, code from top to bottom.') : null,
			frame, now);
		let drawn = 0;

		new ResizeObserver(() => {
			if (frame.clientWidth !== drawn) {
				drawn = frame.clientWidth;
				draw();
			}
		}).observe(frame);
		draw();
	}

	const columns = [
		{ name: 'range', text: name, width: 'minmax(14em, 3fr)',
		  title: sentence },
		{ name: 'object', text: (r) => r.object ? hwprof.base(r.object) : '',
		  title: (r) => r.object || '' },
		{ name: 'from', text: (r) => r.low, right: true, width: '11em' },
		{ name: 'to', text: (r) => r.high, right: true, width: '11em' },
		{ name: 'share', value: (r) => r.share, right: true,
		  write: hwprof.percent, about: 'without hot ranges inside' },
		{ name: 'at least', value: (r) => r.least, right: true },
		{ name: 'at most', value: (r) => r.most, right: true },
	];

	hwprof.heat = function (element, data) {
		const { ranges, of, hot } = data.report;
		const now = h('p', { role: 'status', class: 'flame-now' });

		hwprof.add(element, hwprof.facts([['ranges of', of],
			['hot from', hot === undefined ? null :
				hwprof.percent(hot)]]));
		picture(element, ranges, now);
		hwprof.table(element, {
			label: 'Hot ranges, as a tree', rows: ranges, columns,
			level: (r) => r.depth, select: (r) => {
				now.textContent = sentence(r);
			},
		});
	};
})();
