// SPDX-License-Identifier: GPL-2.0-only
/* Values of loads, and ranges, of the time that is chosen. */
'use strict';

(function () {
	const h = hwprof.element;
	const LIMIT = 1000;		/* of loads */

	const PARTS = {
		ranges: {
			title: 'Ranges by time', path: 'ranges', parameters: {},
			line: 'ranges = ranges,range_of=load-address',
			fill: fill_ranges,
		},
		values: {
			title: 'Values of loads', path: 'profile/values',
			parameters: { limit: LIMIT },
			line: 'values = values', fill: fill_values,
		},
	};

	function counted(element, report, units) {
		hwprof.add(element, h('h4', {}, 'What was counted'),
			   hwprof.totals({ report, units }));
	}

	function fill_ranges(element, answer, options) {
		const { report } = answer;

		hwprof.add(element, hwprof.notes('Warnings', report.warnings));
		front.range_map(element, answer, options);
		hwprof.add(element, h('h4', {}, 'Hot ranges of the whole time'));
		hwprof.heat(element, { report });
		counted(element, report, 'events');
	}

	function fill_values(element, report) {
		hwprof.add(element, hwprof.notes('Warnings', report.warnings),
			   report.loads.length < LIMIT ? null :
			h('p', { class: 'quiet' }, 'The first ' +
				hwprof.count(LIMIT) + ' loads: ' +
				'/api/v1/profile/values has more.'));
		hwprof.values(element, { report });
		counted(element, report, 'loads');
	}

	/* Without any, it says how to get them; else why there is nothing. */
	function excuse(name, error) {
		if (error.status !== 404)
			return h('p', { class: 'trouble' },
				 hwprof.clean(error.message, 600));
		return h('p', {}, `No ${name} were recorded in this time. ` +
			'hwprofd records them in turns with everything else if ' +
			'hwprofd.conf has a line such as ',
		h('code', {}, PARTS[name].line), '.');
	}

	async function ask(name, range) {
		const { path, parameters } = PARTS[name];

		try {
			return { answer: await front.ask(path, {
				from: range.from, to: range.to, ...parameters,
			}) };
		} catch (error) {
			return { error };
		}
	}

	/* options.choose gets a time. Nothing is asked for before show(). */
	front.data = function (element, options) {
		const status = h('p', { role: 'status' });
		const body = h('div');
		let turn = 0;

		async function show(range) {
			const asked = ++turn;

			element.hidden = false;
			status.textContent = 'Values and ranges are being read\u2026';
			body.replaceChildren();
			element.scrollIntoView();
			const names = Object.keys(PARTS);
			const answers = await Promise.all(names.map((name) =>
				ask(name, range)));

			if (asked !== turn)
				return;
			status.textContent = front.range(range.from, range.to);
			names.forEach((name, i) => {
				const { answer, error } = answers[i];
				const part = h('section', {
					'aria-label': PARTS[name].title,
				}, h('h3', {}, PARTS[name].title));

				body.append(part);
				if (error)
					part.append(excuse(name, error));
				else
					PARTS[name].fill(part, answer, options);
			});
		}

		hwprof.add(element, h('h2', {}, 'Values and ranges'), status, body);
		return { show };
	};
})();
