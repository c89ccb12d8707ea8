// SPDX-License-Identifier: GPL-2.0-only
/* Loops: how often they were entered, and their trip counts. */
'use strict';

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;

	/* The trip counts of a bucket: "1", "2-3", "4-7". */
	function bucket(index, last) {
		const low = 2 ** index;

		if (last)
			return hwprof.short(low) + '+';
		return index ? hwprof.short(low) + '\u2013' +
			       hwprof.short(2 * low - 1) : '1';
	}

	/* The buckets from the first to the last that has anything. */
	function filled(loop) {
		const counts = loop.histogram || [];
		const first = counts.findIndex((n) => n > 0);
		const rows = [];

		for (let i = first; first >= 0 && i < counts.length; i++)
			rows.push({ name: bucket(i, i === counts.length - 1),
				    count: counts[i] });
		while (rows.length && !rows[rows.length - 1].count)
			rows.pop();
		return rows;
	}

	function spark(loop) {
		const counts = loop.histogram || [];
		const most = Math.max(1, ...counts);
		const picture = svg('svg', {
			class: 'spark', width: 4 * counts.length, height: 18,
			'aria-hidden': 'true',
		}, svg('line', { class: 'axis', x1: 0, x2: 4 * counts.length,
				 y1: 17.5, y2: 17.5 }));

		counts.forEach((count, i) => {
			const height = count ? Math.max(1, 16 * count / most) : 0;

			picture.append(svg('rect', {
				class: 'fill', x: 4 * i, y: 17 - height, width: 3,
				height,
			}));
		});
		return picture;
	}

	function histogram(loop) {
		const rows = filled(loop);
		const all = rows.reduce((sum, row) => sum + row.count, 0);
		const most = Math.max(1, ...rows.map((row) => row.count));
		const step = Math.max(64, Math.min(96, 800 / rows.length));
		const picture = svg('svg', {
			class: 'histogram', width: step * rows.length + 10,
			height: 190, role: 'img',
			'aria-label': 'Histogram of trip counts: ' + rows.map((row) =>
				row.name + ' iterations ' + hwprof.count(row.count) +
				' times').join(', '),
		});

		rows.forEach((row, i) => {
			const height = 130 * row.count / most;
			const middle = step * i + step / 2;

			picture.append(svg('rect', {
				class: 'fill', x: step * i + 6, width: step - 12,
				y: 155 - height, height,
			}), svg('text', { x: middle, y: 150 - height }, hwprof.percent(
				row.count / all, 1)),
			svg('text', { x: middle, y: 172 }, row.name));
		});
		picture.append(svg('line', { class: 'axis', x1: 0, x2: step *
			rows.length + 10, y1: 155.5, y2: 155.5 }));
		return rows.length ? h('div', { class: 'scroll' }, picture) :
			h('p', {}, 'No execution of it was seen whole.');
	}

	function name(loop) {
		return hwprof.place(loop.function, loop.function_offset, loop.head);
	}

	function trip(loop) {
		return hwprof.short(loop.trip) + ' ' +
		       hwprof.interval(loop.trip_low, loop.trip_high, hwprof.short);
	}

	function details(element, loop) {
		hwprof.replace(element, h('h3', {}, 'Loop ', hwprof.name(name(loop),
			loop.object)),
		hwprof.facts([
			...hwprof.where(loop),
			['head', loop.head], ['tail', loop.tail],
			['entries', hwprof.count(loop.entries)],
			['iterations', hwprof.count(loop.iterations)],
			['entries seen', loop.entries_seen === null ? null :
				hwprof.count(loop.entries_seen)],
			['back edges seen', hwprof.count(loop.back_edges_seen)],
			['trip count', trip(loop)],
			['least', loop.trip_min], ['most', loop.trip_max],
			['recently', loop.trip_recent &&
				hwprof.short(loop.trip_recent)],
			['share of ' + loop.share_of, hwprof.percent(loop.share) +
				' ' + hwprof.interval(loop.share_low,
					loop.share_high, hwprof.percent)],
			['loops around it', loop.depth],
			hwprof.basis(loop.basis),
		]), h('h4', {}, 'Trip counts of whole executions'), histogram(loop));
	}

	function columns(most, seen) {
		return [
			hwprof.name_column('loop', name, (l) => l.object,
					   'minmax(14em, 3fr)'),
			hwprof.source_column((l) => l, 'minmax(9em, 1.5fr)'),
			hwprof.share_column(most,
				'with its 95 % interval, if it has one'),
			{ name: 'entries', value: (l) => l.entries, right: true },
			{ name: 'iterations', value: (l) => l.iterations,
			  right: true },
			...seen ? [{ name: 'back edges seen', right: true,
				     value: (l) => l.back_edges_seen }] : [],
			{ name: 'trip count', value: (l) => l.trip, right: true,
			  write: hwprof.short, width: '7em' },
			{ name: '95 % interval', width: '10em', right: true,
			  text: (l) => hwprof.interval(l.trip_low, l.trip_high,
						       hwprof.short) },
			{ name: 'trip counts', text: () => '', draw: spark,
			  about: 'histogram; each bar is for twice the count of ' +
				'the one before it', width: '8em',
			  title: (l) => filled(l).map((row) => row.name + ': ' +
				hwprof.count(row.count)).join(', ') },
		];
	}

	hwprof.loops = function (element, data) {
		const { loops } = data.report;
		const seen = loops.some((l) => l.entries === null);

		hwprof.detailed(element, {
			label: 'Loops', rows: loops,
			columns: columns(hwprof.largest_share(loops), seen),
			search: (l) => name(l) + ' ' + l.object + ' ' + l.file,
			details, none: 'No loop was counted.',
		});
	};
})();
