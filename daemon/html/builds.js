// SPDX-License-Identifier: GPL-2.0-only
/* Tables of builds and of windows. */
'use strict';

(function () {
	const kinds = ['loops', 'calls', 'paths', 'edges', 'cct'];

	const of_kind = (kind) => ({
		name: kind === 'cct' ? 'contexts' : kind, right: true,
		value: (row) => row.units[kind] || 0, width: '7em',
		about: 'units of this kind',
	});

	const when = (name, value) => ({
		name, value, write: (time) => time === null ? '' :
			front.date(time), width: '11.5em',
	});

	front.short_id = (id) => id ? id.slice(0, 12) : 'no build id';

	/* choose(build) gets null for all builds. */
	front.build_table = function (element, choose) {
		const table = hwprof.table(element, {
			label: 'Builds', rows: [], columns: [
				{ name: 'object', width: 'minmax(12em, 2fr)',
				  value: (b) => b.all ? 'all builds' :
					hwprof.base(b.object),
				  write: String, title: (b) => b.object },
				{ name: 'build id', width: '9em', write: String,
				  value: (b) => b.all ? '' :
					front.short_id(b.build_id),
				  title: (b) => b.build_id || '' },
				...kinds.map(of_kind),
				when('first window', (b) => b.from),
				when('last window', (b) => b.to),
			],
			search: (b) => b.object + ' ' + (b.build_id || ''),
			/* What has no build id cannot be asked for. */
			select: (b) => choose(b.build_id ? b : null),
		});

		/* What is known stays the same object: the table knows it by that. */
		const all = { all: true, object: '', build_id: '', from: null,
			      to: null };
		let known = new Map();
		const key = (b) => b.build_id + ' ' + b.object;
		const same = (b) => Object.assign(known.get(key(b)) || {}, b);

		return { show: (builds) => {
			const shown = builds.map(same);

			known = new Map(shown.map((b) => [key(b), b]));
			all.units = total(builds);
			table.show([all, ...shown]);
		} };
	};

	function total(builds) {
		const units = {};

		for (const kind of kinds)
			units[kind] = builds.reduce((sum, b) => sum +
				(b.units[kind] || 0), 0);
		return units;
	}

	const ratio = (name) => {
		const measure = front.measure(name);

		return { name: name, right: true, width: '6em',
			 value: (w) => front.value(measure, w),
			 write: (value) => value === null ? '-' :
				measure.write(value), about: measure.title };
	};

	front.window_table = function (element, choose) {
		return hwprof.table(element, {
			label: 'Windows', rows: [], columns: [
				when('from', (w) => w.from), when('to', (w) => w.to),
				{ name: 'kept', value: (w) => w.level, write: String,
				  width: '7em', about: 'by the memory, or by the ' +
					'minute, ten minutes or hour in the store' },
				{ name: 'units', right: true, value: front.units,
				  width: '8em' },
				{ name: 'lost units', right: true, width: '7em',
				  value: (w) => w.account ? w.account.lost +
					w.account.evicted : null,
				  about: 'lost or evicted' },
				ratio('lost'), ratio('cost'),
				{ name: 'lost records', right: true, width: '8em',
				  value: (w) => w.account &&
					w.account.lost_records },
			],
			select: choose,
		});
	};
})();
