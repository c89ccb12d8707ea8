// SPDX-License-Identifier: GPL-2.0-only
/* Call pairs, and procedures by how often they were called. */
'use strict';

(function () {
	const called = (most) => [
		{ name: 'share', value: (c) => c.share, right: true,
		  write: hwprof.percent, width: '14em',
		  draw: (c) => hwprof.bar(c.share, c.share_low, c.share_high,
					  most) },
		{ name: '95 % interval', right: true, width: '12em',
		  text: (c) => hwprof.interval(c.share_low, c.share_high,
					       hwprof.percent) },
		{ name: 'calls', value: (c) => c.least, right: true,
		  about: 'at least' },
		{ name: 'at most', value: (c) => c.most, right: true },
	];

	const code = (name, of) => ({
		name, value: (row) => hwprof.code(of(row)), write: String,
		title: (row) => hwprof.code(of(row)) + ' in ' + of(row).object,
		width: 'minmax(12em, 2fr)',
	});

	const source = (of) => ({
		name: 'source', write: String, width: 'minmax(8em, 1fr)',
		value: (row) => hwprof.line(of(row).file, of(row).line),
		title: (row) => of(row).file || '',
	});

	const most = (rows) => Math.max(0, ...rows.map((c) => c.share_high ||
						      c.share || 0));

	hwprof.calls = function (element, data) {
		const { pairs, methods } = data.report;
		const h = hwprof.element;

		hwprof.add(element, h('h3', {}, 'Call pairs'));
		hwprof.table(element, {
			label: 'Call pairs', rows: pairs,
			columns: [code('call', (p) => p.site),
				  source((p) => p.site),
				  code('callee', (p) => p.callee),
				  ...called(most(pairs))],
		});
		hwprof.add(element, h('h3', {}, 'Procedures'));
		hwprof.table(element, {
			label: 'Procedures that were called', rows: methods,
			columns: [code('procedure', (m) => m.entry),
				  source((m) => m.entry), ...called(most(methods)),
				  { name: 'call sites', value: (m) => m.sites,
				    right: true }],
		});
	};
})();
