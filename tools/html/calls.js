// SPDX-License-Identifier: GPL-2.0-only
/* Call pairs, and procedures by how often they were called. */
'use strict';

(function () {
	const called = (most) => [
		hwprof.share_column(most),
		{ name: '95 % interval', right: true, width: '12em',
		  text: (c) => hwprof.interval(c.share_low, c.share_high,
					       hwprof.percent) },
		{ name: 'calls', value: (c) => c.least, right: true,
		  about: 'at least' },
		{ name: 'at most', value: (c) => c.most, right: true },
	];

	const code = (name, of) => hwprof.name_column(name, (row) =>
		hwprof.code(of(row)), (row) => of(row).object);

	hwprof.calls = function (element, data) {
		const { pairs, methods } = data.report;
		const h = hwprof.element;

		hwprof.add(element, h('h3', {}, 'Call pairs'));
		hwprof.table(element, {
			label: 'Call pairs', rows: pairs,
			columns: [code('call', (p) => p.site),
				  hwprof.source_column((p) => p.site),
				  code('callee', (p) => p.callee),
				  ...called(hwprof.largest_share(pairs))],
		});
		hwprof.add(element, h('h3', {}, 'Procedures'));
		hwprof.table(element, {
			label: 'Procedures that were called', rows: methods,
			columns: [code('procedure', (m) => m.entry),
				  hwprof.source_column((m) => m.entry),
				  ...called(hwprof.largest_share(methods)),
				  { name: 'call sites', value: (m) => m.sites,
				    right: true }],
		});
	};
})();
