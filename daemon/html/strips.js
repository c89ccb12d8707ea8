// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline: a strip for each of some measures, with a bar for each window.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;
	const HEIGHT = 54, TOP = 16, LEFT = 8;

	function bar(w, value, at) {
		const height = Math.max(1, value / at.most * HEIGHT);
		const left = at.x(w.from);

		return svg('rect', {
			class: 'fill', x: left.toFixed(1),
			y: (TOP + HEIGHT - height).toFixed(1),
			width: Math.max(0.7, at.x(w.to) - left - 0.3).toFixed(1),
			height: height.toFixed(1), onclick: () => at.choose(w),
		}, svg('title', {}, front.range(w.from, w.to) + ': ' +
			at.measure.write(value)));
	}

	/* A line at the budget, which costs are to stay below. */
	function rule(budget, at) {
		const y = TOP + HEIGHT - budget / at.most * HEIGHT;

		return svg('g', { class: 'budget' },
			svg('path', { d: `M${LEFT} ${y.toFixed(1)}H${at.right}` }),
			svg('text', { x: at.right, y: Math.max(TOP + 12, y - 4),
				      'text-anchor': 'end' },
			    'budget ' + hwprof.percent(budget, 1)));
	}

	function strip(measure, windows, grid, options) {
		const values = windows.map((w) => front.value(measure, w));
		const known = values.filter((v) => v !== null);
		const budget = measure.name === 'cost' ? options.budget : 0;
		const most = Math.max(...known, budget * 1.1) || 1;
		const right = options.width - LEFT;
		const at = {
			measure, most, right, choose: options.choose,
			x: (time) => LEFT + (right - LEFT) * Math.max(0, Math.min(1,
				(time - grid.from) / (grid.to - grid.from))),
		};
		const about = `${measure.title}: ` + (known.length ?
			`at most ${measure.write(Math.max(...known))}, at last ` +
			measure.write(known[known.length - 1]) : 'no windows');

		return h('div', { class: 'strip', 'data-measure': measure.name },
			 svg('svg', { width: options.width,
				      height: TOP + HEIGHT + 2, role: 'img',
				      'aria-label': about },
			     svg('text', { x: LEFT, y: 12 }, about),
			     svg('path', { class: 'axis', d: `M${LEFT} ` +
				`${TOP + HEIGHT + 0.5}H${right}` }),
			     windows.map((w, i) => values[i] === null ? null :
				bar(w, values[i], at)),
			     budget ? rule(budget, at) : null));
	}

	/*
	 * Draws the strips in an element. options: budget (a share), choose(w),
	 * which is called when a bar is clicked.
	 */
	front.strips = function (element, windows, grid, options) {
		const width = Math.max(300, element.clientWidth);
		const shown = windows.filter((w) => w.to > grid.from &&
					     w.from < grid.to);

		hwprof.replace(element, front.MEASURES.filter((m) => m.strip)
			.map((m) => strip(m, shown, grid,
					  Object.assign({ width }, options))),
		h('p', { class: 'ends quiet' }, h('span', {},
			front.date(grid.from)), h('span', {}, front.date(grid.to))));
	};
})();
