// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes from one recording to another. A change whose 95 % interval has 0
 * in it may be noise, and is not shown as a change.
 */
'use strict';

/*
 * Judges a change: "more", "less", "same", "noise", or "unknown" if it has no
 * interval. Exact counts need none.
 */
hwprof.verdict = function (change) {
	const low = change.share_change_low, high = change.share_change_high;
	const exact = (side) => !side || side.basis === 'exact';
	const certain = change.exact || ((change.before || change.after) &&
		exact(change.before) && exact(change.after));

	if (!change.share_change)
		return 'same';
	if (low !== null && low !== undefined)
		return low > 0 ? 'more' : high < 0 ? 'less' : 'noise';
	if (certain)
		return change.share_change > 0 ? 'more' : 'less';
	return 'unknown';
};

/* "+1.20 points [+1.00, +1.40]" */
hwprof.points = function (share) {
	if (share === null || share === undefined)
		return '-';
	return (share < 0 ? '\u2212' : '+') + (100 * Math.abs(share)).toFixed(2);
};

hwprof.change = function (change) {
	const verdicts = {
		noise: ' (may be noise)', unknown: ' (no interval)', same: '',
		more: '', less: '',
	};

	return hwprof.points(change.share_change) + ' points ' +
		hwprof.interval(change.share_change_low, change.share_change_high,
				hwprof.points) + verdicts[hwprof.verdict(change)];
};

/* Says what the colours of a flame graph mean. */
hwprof.legend = function () {
	const h = hwprof.element;

	return h('p', { class: 'legend' },
		h('span', { class: 'swatch more' }), 'more than before ',
		h('span', { class: 'swatch less' }), 'less ',
		h('span', { class: 'swatch none' }),
		'the same, noise, or unknown');
};

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;
	const WORDS = {
		more: 'more', less: 'less', same: 'same', noise: 'may be noise',
		unknown: 'no interval',
	};

	/* ---- names of things -------------------------------------------- */

	const of_context = (c) => c.kind === 'root' ? c.comm || '[unknown]' :
		hwprof.place(c.function, c.function_offset, c.address) +
		(c.site_function ? ' from ' + hwprof.place(c.site_function,
			c.site_offset, c.site) : '');

	const NAMES = {
		loops: (l) => hwprof.place(l.function, l.function_offset, l.head),
		calls: (c) => c.entry ? hwprof.code(c.entry) :
			hwprof.code(c.site) + ' to ' + hwprof.code(c.callee),
		cct: of_context,
		paths: (p) => p.start ? hwprof.place(p.start_function,
			p.start_offset, p.start) + ' to ' + hwprof.place(p.function,
			p.end_offset, p.end) : p.function || p.object,
		values: (l) => hwprof.place(l.function, l.function_offset, l.address),
		edges: (b) => hwprof.code(b.code),
		ranges: (r) => r.function ? hwprof.place(r.function,
			r.function_offset) : r.low + '\u2013' + r.high,
	};

	function source(thing) {
		const code = thing.site || thing.entry || thing.code || thing;

		return typeof code === 'object' ? hwprof.line(code.file ||
			thing.start_file, code.line || thing.start_line) : '';
	}

	/* ---- the picture of a change ------------------------------------- */

	function most(changes) {
		return Math.max(0.0001, ...changes.map((c) => Math.max(
			Math.abs(c.share_change), Math.abs(c.share_change_low || 0),
			Math.abs(c.share_change_high || 0))));
	}

	/*
	 * A dot for the change, a line for its interval, and one for 0. A line
	 * that reaches farther than those of all changes is cut.
	 */
	function picture(change, reach) {
		const width = 140;
		const x = (share) => width / 2 + Math.max(-1, Math.min(1, share /
			reach)) * (width / 2 - 4);
		const verdict = hwprof.verdict(change);
		const low = change.share_change_low, high = change.share_change_high;
		const result = svg('svg', {
			class: 'change ' + verdict, width, height: 18,
			'aria-hidden': 'true',
		}, svg('line', { class: 'axis', x1: width / 2, x2: width / 2, y1: 0,
				 y2: 18 }));

		if (low !== null && low !== undefined && high > low)
			result.append(svg('path', { class: 'whisker', d:
				`M${x(low)} 6v6M${x(low)} 9H${x(high)}M${x(high)} ` +
				'6v6' }));
		result.append(svg('circle', { cx: x(change.share_change), cy: 9,
					      r: 3.5 }));
		return result;
	}

	function side(thing) {
		return thing ? thing.share : null;
	}

	function columns(kind, reach) {
		const thing = (c) => c.after || c.before;

		return [
			hwprof.name_column('name', (c) => NAMES[kind](thing(c)),
				(c) => thing(c).object || '', 'minmax(14em, 3fr)'),
			{ name: 'source', value: (c) => source(thing(c)),
			  write: String, width: 'minmax(8em, 1fr)' },
			{ name: 'before', value: (c) => side(c.before), right: true,
			  write: hwprof.percent, width: '6em' },
			{ name: 'after', value: (c) => side(c.after), right: true,
			  write: hwprof.percent, width: '6em' },
			{ name: 'points', value: (c) => c.share_change, right: true,
			  write: hwprof.points, width: '6em',
			  about: 'change of the share, in points' },
			{ name: '95 % interval', right: true, width: '11em',
			  text: (c) => hwprof.interval(c.share_change_low,
				c.share_change_high, hwprof.points) },
			{ name: 'change', text: () => '', width: '11em',
			  draw: (c) => picture(c, reach),
			  title: hwprof.change },
			{ name: 'verdict', value: (c) => WORDS[hwprof.verdict(c)],
			  write: String, width: '8em' },
			{ name: 'match', value: (c) => c.match || 'none',
			  write: String, width: '6em',
			  about: 'why the two are considered the same' },
		];
	}

	function list(element, kind, label, changes) {
		const shown = changes.filter((c) =>
			['more', 'less'].includes(hwprof.verdict(c)));
		const hidden = changes.length - shown.length;
		const noise = h('input', { type: 'checkbox' });
		const box = h('div', { class: 'table-box' });

		hwprof.add(element, h('h3', {}, label), h('p', {}, shown.length ?
			`${hwprof.count(shown.length)} changed.` :
			'Nothing changed beyond noise.', ' ', h('label', {}, noise,
			` Show ${hwprof.count(hidden)} that did not change, or ` +
			'whose change may be noise or has no interval')), box);
		const table = hwprof.table(box, {
			label, rows: shown,
			columns: columns(kind, most(shown.length ? shown : changes)),
			search: (c) => NAMES[kind](c.after || c.before) + ' ' +
				source(c.after || c.before),
		});

		noise.addEventListener('change', () =>
			table.show(noise.checked ? changes : shown));
	}

	hwprof.diff = function (element, data) {
		const { kind, diff } = data;

		if (data.nodes && data.report)
			hwprof.flame(element, data);
		list(element, kind, 'Changes', diff.changes);
		for (const [name, changes] of Object.entries(diff))
			if (name !== 'changes')
				list(element, kind, 'By procedure', changes);
	};
})();
