// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot ranges by time, as /api/v1/ranges has them: a row is a range, a column is
 * a window of time in which ranges were recorded, and the colour is the share
 * of the window's events. Events in a hot range inside another are those of the
 * inner one alone, so that a column adds up to all.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;
	const LEFT = 230, TOP = 4, HEIGHT = 24, BOTTOM = 18;
	const LETTERS = 30;	/* that have room on the left */

	const HELP = 'Heat map of ranges by time. Arrow keys move to other ' +
		'ranges and windows, Home and End to the first and the last ' +
		'window. Enter chooses the window.';

	const name = (range) => range.parent === null ? 'outside hot ranges' :
		hwprof.range_name(range);
	const full = (range) => name(range) + (range.object ? ' in ' +
		hwprof.base(range.object) : '');

	/* options.choose gets the time of a window. */
	front.range_map = function (element, answer, options) {
		const { columns } = answer, { ranges } = answer.report;
		const share = (row, column) => columns[column].own[row] /
			(columns[column].events || 1);
		const most = Math.max(...ranges.flatMap((_, row) =>
			columns.map((__, column) => share(row, column)))) || 1;
		const live = h('p', { class: 'flame-now', role: 'status' });
		const box = h('div', {
			class: 'time-map range-map', tabindex: 0,
			role: 'application', 'aria-roledescription': 'heat map',
			'aria-label': HELP, onkeydown: press, onclick: click,
			onpointermove: (event) => tell(under(event)),
		});
		let focus = null;	/* row and column */

		/* ---- where cells are ----------------------------------- */

		const width = () => (Math.max(400, box.clientWidth - 2) - LEFT - 4) /
				    columns.length;
		const left = (column) => LEFT + column * width();
		const top = (row) => TOP + row * HEIGHT;

		function under(event) {
			const area = box.getBoundingClientRect();
			const column = Math.floor((event.clientX - area.left +
				box.scrollLeft - LEFT) / width());
			const row = Math.floor((event.clientY - area.top - TOP) /
					       HEIGHT);

			return row < 0 || row >= ranges.length || column < 0 ||
			       column >= columns.length ? null : { row, column };
		}

		/* ---- drawing ------------------------------------------- */

		function sentence({ row, column }) {
			const { from, to, own, events } = columns[column];

			return hwprof.clean(full(ranges[row])) + ', ' +
				front.range(from, to) + ': ' +
				hwprof.percent(share(row, column)) + ' of all ' +
				'events, ' + hwprof.count(own[row]) + ' of ' +
				hwprof.count(events);
		}

		function tell(cell) {
			if (cell)
				live.textContent = sentence(cell);
		}

		function cell(row, column) {
			const part = share(row, column) / most;
			const at = { x: left(column).toFixed(1), y: top(row),
				     width: (width() - 0.5).toFixed(1),
				     height: HEIGHT - 0.5 };

			return [svg('rect', { class: 'ground', ...at }),
				part ? svg('rect', { class: 'heat', ...at,
					'fill-opacity': part.toFixed(3) }) : null];
		}

		function label(range, row) {
			return svg('text', { x: 4, y: top(row) + HEIGHT / 2 + 4 },
				svg('title', {}, hwprof.clean(full(range))),
				hwprof.clean('\u00a0'.repeat(2 * range.depth) +
					name(range), LETTERS));
		}

		function times() {
			const step = Math.ceil(70 / width());

			return columns.filter((_, i) => i % step === 0)
				.map((column, i) => svg('text', {
					x: left(i * step),
					y: top(ranges.length) + 14,
				}, front.clock(column.from)));
		}

		function mark() {
			const old = box.querySelector('.focus');

			if (old)
				old.remove();
			if (!focus)
				return;
			box.firstChild.append(svg('rect', {
				class: 'focus', x: left(focus.column),
				y: top(focus.row), width: width() - 0.5,
				height: HEIGHT - 0.5,
			}));
			tell(focus);
		}

		function draw() {
			hwprof.replace(box, svg('svg', {
				width: LEFT + width() * columns.length + 4,
				height: top(ranges.length) + BOTTOM,
				'aria-hidden': 'true',
			}, ranges.map(label), ranges.map((_, row) => columns.map(
				(__, column) => cell(row, column))), times()));
			mark();
		}

		/* ---- choosing ------------------------------------------- */

		function choose() {
			const { from, to } = columns[focus.column];

			options.choose({ from, to: Math.max(to, from + 1) });
			mark();
		}

		function click(event) {
			focus = under(event) || focus;
			if (focus)
				choose();
		}

		const steps = {
			ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1],
			ArrowLeft: [0, -1], Home: [0, -Infinity],
			End: [0, Infinity],
		};
		const within = (n, count) => Math.max(0, Math.min(count - 1, n));

		/* The first key shows where one is. */
		function step([down, right]) {
			focus = focus ? {
				row: within(focus.row + down, ranges.length),
				column: within(focus.column + right, columns.length),
			} : { row: 0, column: columns.length - 1 };
			mark();
		}

		function press(event) {
			const { key } = event;

			if (event.ctrlKey || event.altKey || event.metaKey ||
			    !(steps[key] || key === 'Enter' || key === ' '))
				return;
			event.preventDefault();
			if (!focus || steps[key])
				step(steps[key] || [0, 0]);
			if (!steps[key])
				choose();
		}

		function legend() {
			return h('p', { class: 'legend' }, 'A column is a window ' +
				'in which ranges were recorded. Share of its ' +
				'events, without hot ranges inside: ',
			[0, 0.25, 0.5, 0.75, 1].map((part) => {
				const swatch = h('span', { class: 'swatch' });

				swatch.style.setProperty('--part', part);
				return [swatch, hwprof.percent(part * most, 1) + ' '];
			}));
		}

		let drawn = 0;

		hwprof.add(element, legend(), box, live);
		new ResizeObserver(() => {
			if (box.clientWidth !== drawn)
				draw();
			drawn = box.clientWidth;
		}).observe(box);
		draw();
	};
})();
