// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of time, as /api/v1/windows has them: the cache of those that are
 * shown, what is measured in them, and how they are divided into cells.
 */
'use strict';

const front = hwprof.front = {};

/* ---- time --------------------------------------------------------------- */

/* Columns of cells: how many, and seconds of a column and of a row. */
front.SPANS = {
	hour: { title: 'the last hour', columns: 60, column: 60, row: 10,
		height: 26, about: 'A column is a minute' },
	day: { title: 'the last day', columns: 24, column: 3600, row: 60,
	       height: 7, about: 'A column is an hour' },
	weeks: { title: 'the last two weeks', columns: 14, column: 86400,
		 row: 600, height: 4, about: 'A column is a day' },
};

const iso = (seconds) => new Date(seconds * 1000).toISOString();

/* "2026-11-26 20:51:00", and the time alone. All times are UTC. */
front.date = (seconds) => iso(seconds).slice(0, 19).replace('T', ' ');
front.clock = (seconds) => iso(seconds).slice(11, 19);

front.range = function (from, to) {
	const first = front.date(from), last = front.date(to);

	return first + ' to ' + (first.slice(0, 10) === last.slice(0, 10) ?
		last.slice(11) : last);
};

front.duration = function (seconds) {
	for (const [unit, name] of [[86400, 'd'], [3600, 'h'], [60, 'min']])
		if (seconds >= unit && seconds % unit === 0)
			return seconds / unit + ' ' + name;
	return seconds + ' s';
};

/* ---- questions ------------------------------------------------------------ */

/*
 * Returns a promise of what the server answers. An error has its sentence, and
 * the status of HTTP.
 * Addresses are relative, so that a proxy can serve them in a folder.
 */
front.ask = async function (path, parameters) {
	const text = new URLSearchParams(parameters || {}).toString();
	const answer = await fetch('api/v1/' + path + (text ? '?' + text : ''), {
		cache: 'no-store', credentials: 'same-origin',
	});

	if (!answer.ok)
		throw Object.assign(new Error((await answer.text()).trim()
			.slice(0, 500)), { status: answer.status });
	return answer.json();
};

const overlap = (a, b) => Math.min(a.to, b.to) - Math.max(a.from, b.from);

/*
 * Returns the windows of all, after those of fresh came, which are all that
 * overlap the time from a time on. Windows that were merged go.
 */
front.renew = function (all, fresh, from) {
	const key = (w) => [w.from, w.to, w.level].join();
	const known = new Map(all.map((w) => [key(w), w]));
	const same = (w) => {
		const found = known.get(key(w)) || {};

		known.delete(key(w));
		return Object.assign(found, w);
	};
	const kept = all.filter((w) => w.to <= from &&
		!fresh.some((f) => overlap(w, f) > 0));

	/* A window that is known stays the same object: tables know it by that. */
	return kept.concat(fresh.map(same)).sort((a, b) =>
		a.from - b.from || a.to - b.to);
};

/* ---- measures -------------------------------------------------------------- */

front.units = (w) => Object.values(w.units).reduce((sum, n) => sum + n, 0);

const account = (name) => (w) => w.account ? w.account[name] : 0;
const rate = (number) => hwprof.short(number) + '/s';
const share = (part) => hwprof.percent(part);

/*
 * What is measured: a ratio of sums over windows. Without a bottom it is by the
 * second. strip: it has a strip of its own in the timeline.
 */
front.MEASURES = [
	{ name: 'units', title: 'units per second', top: front.units,
	  write: rate, strip: true },
	{ name: 'cost', title: 'cost, as a share of programs\u2019 time',
	  top: account('cost_ns'), bottom: account('task_ns'), write: share,
	  strip: true },
	{ name: 'lost', title: 'units lost or evicted, as a share',
	  top: (w) => account('lost')(w) + account('evicted')(w),
	  bottom: account('produced'), write: share, strip: true },
	{ name: 'time', title: 'programs\u2019 profiled time per second',
	  top: (w) => account('task_ns')(w) / 1e9,
	  write: (number) => hwprof.short(number) + ' s/s' },
	...['loops', 'calls', 'paths', 'edges', 'cct'].map((kind) => ({
		name: kind, title: 'units of ' + (kind === 'cct' ? 'contexts' :
			kind) + ' per second',
		top: (w) => w.units[kind] || 0, write: rate,
	})),
];

front.measure = (name) => front.MEASURES.find((m) => m.name === name) ||
			  front.MEASURES[0];

/* The measure of one window; null if there is nothing to compare with. */
front.value = function (measure, w) {
	const bottom = measure.bottom ? measure.bottom(w) :
				       Math.max(1, w.to - w.from);

	return bottom > 0 ? measure.top(w) / bottom : null;
};

/* ---- cells --------------------------------------------------------------- */

/* Calls each(cell, part) for the cells that a window overlaps. */
function divide(w, grid, each) {
	const length = Math.max(1, w.to - w.from);
	const first = Math.max(0, Math.floor((w.from - grid.from) / grid.row));
	const end = Math.min(grid.count, Math.ceil((w.to - grid.from) / grid.row));

	for (let i = first; i < end; i++) {
		const from = grid.from + i * grid.row;
		const part = overlap({ from, to: from + grid.row }, w) / length;

		if (part > 0)
			each(i, part, part * length);
	}
}

/*
 * Divides windows into the cells of a grid, which has from, row (seconds) and
 * count. Returns the measure in each cell; null where there is no window.
 */
front.cells = function (windows, grid, measure) {
	const tops = new Float64Array(grid.count);
	const bottoms = new Float64Array(grid.count);

	for (const w of windows) {
		const top = measure.top(w);
		const bottom = measure.bottom ? measure.bottom(w) : 0;

		divide(w, grid, (i, part, seconds) => {
			tops[i] += part * top;
			bottoms[i] += measure.bottom ? part * bottom : seconds;
		});
	}
	return Array.from(tops, (top, i) => {
		/* Windows that overlap each other do not make time longer. */
		const bottom = measure.bottom ? bottoms[i] :
			Math.min(bottoms[i], grid.row);

		return bottom > 0 ? top / bottom : null;
	});
};

/* The grid of a span that ends with the column of a time. */
front.grid = function (span, end, window) {
	const { column, columns } = span;
	const row = span.row > 10 ? span.row :
		[1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60].find((n) => n >= window) ||
		span.row;
	const rows = column / row;

	return { from: (Math.floor(end / column) + 1 - columns) * column,
		 row, rows, columns, column, count: rows * columns,
		 to: (Math.floor(end / column) + 1) * column,
		 height: span.row > 10 ? span.height :
			 Math.max(4, Math.round(156 / rows)) };
};
