// SPDX-License-Identifier: GPL-2.0-only
/* The page: a tab for each kind of profile. A tab is filled when it is opened. */
'use strict';

(function () {
	const h = hwprof.element;
	const TABS = [
		['cct', 'Contexts', 'flame'], ['loops', 'Loops', 'loops'],
		['paths', 'Paths', 'paths'], ['edges', 'Edges', 'graph'],
		['calls', 'Calls', 'calls'], ['ranges', 'Ranges', 'heat'],
		['values', 'Values', 'values'],
	];

	function read(name) {
		return hwprof.unpack(document.getElementById('data-' + name)
			.textContent);
	}

	/* ---- what was recorded -------------------------------------------- */

	/* Lists have a limit. */
	function left_out(data, about) {
		const report = data.diff || data.report;
		const list = report.changes || report.loops || report.paths ||
			report.branches || report.pairs || report.loads;

		if (!list || list.length >= data.count)
			return null;
		return h('p', { class: 'quiet' }, 'The first ' +
			hwprof.count(list.length) + ' of ' +
			hwprof.count(data.count) + ': ' + hwprof.clean(about.limit) +
			' writes more.');
	}

	async function open(panel, kind, component, about) {
		const wait = h('p', { role: 'status' }, 'Reading\u2026');

		panel.append(wait);
		const data = await read(kind);

		wait.remove();

		hwprof.add(panel, hwprof.notes('Warnings', data.report &&
			!about.diff && data.report.warnings),
		hwprof.notes('Warnings about ' + hwprof.clean(about.files[0]),
			     data.warnings_before),
		about.diff ? hwprof.notes('Warnings about ' +
			hwprof.clean(about.files[1]), data.warnings_after) : null,
		left_out(data, about));
		hwprof[about.diff ? 'diff' : component](panel, data);
		if (!about.diff && data.report)
			hwprof.add(panel, h('h3', {}, 'What was counted'),
				   hwprof.totals(data));
	}

	/* ---- tabs --------------------------------------------------------- */

	function tabs(about) {
		const bar = h('div', { role: 'tablist', 'aria-label': 'Profiles' });
		const panels = h('main');
		const all = TABS.filter(([kind]) => about.kinds.includes(kind))
			.map(([kind, title, component], i) => ({
				kind, component, filled: false,
				button: h('button', {
					type: 'button', role: 'tab', id: 'tab-' + kind,
					'aria-controls': 'panel-' + kind,
					onclick: () => choose(i),
				}, title),
				panel: h('section', {
					role: 'tabpanel', id: 'panel-' + kind,
					'aria-labelledby': 'tab-' + kind,
				}),
			}));

		function choose(index) {
			all.forEach((tab, i) => {
				tab.button.setAttribute('aria-selected', i === index);
				tab.button.tabIndex = i === index ? 0 : -1;
				tab.panel.hidden = i !== index;
			});
			const tab = all[index];

			if (!tab.filled)
				open(tab.panel, tab.kind, tab.component, about);
			tab.filled = true;
		}

		const moves = {
			ArrowRight: (i) => (i + 1) % all.length,
			ArrowLeft: (i) => (i + all.length - 1) % all.length,
			Home: () => 0, End: () => all.length - 1,
		};

		bar.addEventListener('keydown', (event) => {
			const now = all.findIndex((t) => t.button === event.target);

			if (now < 0 || !moves[event.key])
				return;
			event.preventDefault();
			const next = moves[event.key](now);

			choose(next);
			all[next].button.focus();
		});
		bar.append(...all.map((tab) => tab.button));
		panels.append(...all.map((tab) => tab.panel));
		choose(0);
		return [bar, panels];
	}

	async function main() {
		const about = await read('about');
		const files = about.files.map((file) => hwprof.clean(file, 2000));
		const title = about.diff ? files.join(' \u2192 ') : files.join(', ');

		document.getElementById('page').append(
			h('header', {}, h('h1', {}, 'hwprof'),
			  h('p', { class: 'files' }, title),
			  h('p', { class: 'quiet' }, (about.diff ? 'comparison, ' :
				about.replayed ? 'replayed stacks, ' : '') +
				'hwprof ' + about.version)));
		document.getElementById('page').append(...tabs(about));
	}

	main();
})();
