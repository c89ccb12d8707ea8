// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page at /: what is collected now and was in the past, and the choice of
 * what to see a profile of. The choice is in the address, behind '#'.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const OVERLAP = 180;	/* seconds of windows that are asked for again */
	const LIMIT_OF_CHOICES = 200;

	const state = {
		span: 'hour', end: null, measure: 'units', now: 0, about: null,
		windows: [], builds: [], build: null, before_build: null,
		choice: null, before: null, choosing: 'choice',
		asked: 0, asked_builds: 0,
	};
	const part = {};		/* elements that change */
	let turn = 0;

	const span = () => front.SPANS[state.span];
	const shown_end = () => state.end === null ? state.now : state.end;
	const grid = () => front.grid(span(), shown_end(), state.about.window);

	/* ---- the address -------------------------------------------------- */

	const NUMBERS = [['from', 'choice', 'from'], ['to', 'choice', 'to'],
			 ['diff_from', 'before', 'from'], ['diff_to', 'before', 'to']];

	/* What the address of a profile's page asks for. */
	function parameters() {
		const all = new URLSearchParams();

		for (const [name, of, end] of NUMBERS)
			if (state[of])
				all.set(name, state[of][end]);
		if (state.build)
			all.set('build_id', state.build.build_id);
		if (state.before_build)
			all.set('diff_build_id', state.before_build);
		return all;
	}

	function write_address() {
		const all = parameters();

		all.set('show', state.span);
		if (state.end !== null)
			all.set('end', state.end);
		history.replaceState(null, '', '#' + all);
	}

	function read_range(all, from, to) {
		const [low, high] = [all.get(from), all.get(to)];

		return /^\d{1,12}$/.test(low) && /^\d{1,12}$/.test(high) &&
		       Number(low) < Number(high) ?
			{ from: Number(low), to: Number(high) } : null;
	}

	function read_address() {
		const all = new URLSearchParams(location.hash.slice(1));
		const id = (name) => /^[0-9a-f]{1,40}$/.test(all.get(name) || '') ?
			all.get(name) : null;

		state.choice = read_range(all, 'from', 'to');
		state.before = read_range(all, 'diff_from', 'diff_to');
		if (Object.keys(front.SPANS).includes(all.get('show')))
			state.span = all.get('show');
		if (/^\d{1,12}$/.test(all.get('end')))
			state.end = Number(all.get('end'));
		if (id('build_id'))
			state.build = { build_id: id('build_id'), object: '' };
		state.before_build = id('diff_build_id');
	}

	/* ---- drawing ---------------------------------------------------------- */

	function draw_status() {
		const { about } = state;

		part.status.textContent = 'Now: ' + front.date(state.now) + ' UTC. ' +
			(about.ready ? 'Ready.' : 'Not ready: ' +
				hwprof.clean(about.trouble, 600) + '.');
		part.status.classList.toggle('trouble', !about.ready);
	}

	function facts() {
		const { from, to } = grid();
		const shown = state.windows.filter((w) => w.to > from && w.from < to);
		const sum = (name) => shown.reduce((all, w) => all +
			(w.account ? w.account[name] : 0), 0);

		hwprof.replace(part.facts, hwprof.facts([
			['windows', hwprof.count(shown.length)],
			['units', hwprof.count(shown.reduce((all, w) => all +
				front.units(w), 0))],
			['lost', hwprof.count(sum('lost') + sum('evicted'))],
			['cost', hwprof.percent(sum('cost_ns') /
						(sum('task_ns') || 1))],
			['budget', hwprof.percent(state.about.budget_permille /
						  1000, 1)],
			['build', state.build ? front.short_id(
				state.build.build_id) : 'all'],
		]));
	}

	function draw_picture() {
		if (!state.about)
			return;
		const now = grid(), measure = front.measure(state.measure);

		front.strips(part.strips, state.windows, now, {
			budget: state.about.budget_permille / 1000,
			choose: choose_window,
		});
		part.map.show({
			grid: now, measure, about: span().about,
			cells: front.cells(state.windows, now, measure),
			choice: state.choice, before: state.before,
		});
		facts();
	}

	const as_input = (range, end) => range ? new Date(range[end] * 1000)
		.toISOString().slice(0, 19) : '';

	function about_range(range) {
		if (!range)
			return 'none chosen';
		const inside = state.windows.filter((w) => w.to > range.from &&
						    w.from < range.to);

		return front.range(range.from, range.to) + ' (' +
			front.duration(range.to - range.from) + '), ' +
			hwprof.count(inside.length) + (inside.length === 1 ?
				' window' : ' windows');
	}

	function draw_choice() {
		for (const name of ['choice', 'before']) {
			part[name].text.textContent = about_range(state[name]);
			for (const end of ['from', 'to'])
				part[name][end].value = as_input(state[name], end);
		}
		part.open.disabled = part.open_data.disabled = !state.choice;
		part.link.hidden = !state.choice;
		part.link.href = 'page?' + parameters();
		write_address();
	}

	function draw_builds() {
		const before = part.before_build;
		const options = state.builds.filter((b) => b.build_id)
			.slice(0, LIMIT_OF_CHOICES).map((b) => h('option', {
				value: b.build_id,
			}, hwprof.clean(hwprof.base(b.object), 60) + ' ' +
				front.short_id(b.build_id)));

		part.builds.show(state.builds);
		hwprof.replace(before, h('option', { value: '' },
					 'the same as above'), options);
		before.value = state.before_build || '';
	}

	/* ---- choosing ----------------------------------------------------- */

	function choose(range, of = state.choosing) {
		state[of] = range;
		draw_choice();
		part.map.mark(state.choice, state.before);
	}

	const choose_window = (w) => choose({ from: w.from,
					      to: Math.max(w.to, w.from + 1) });

	/* Both ends must be there, and in order. */
	function take_inputs(of) {
		const [from, to] = ['from', 'to'].map((end) =>
			Math.floor(Date.parse(part[of][end].value + 'Z') / 1000));

		if (from < to)
			choose({ from, to }, of);
	}

	function choose_build(build) {
		const id = build && build.build_id;

		if (id === (state.build && state.build.build_id))
			return;
		state.build = build;
		draw_choice();
		load_all();
	}

	function swap() {
		[state.choice, state.before] = [state.before, state.choice];
		draw_choice();
		part.map.mark(state.choice, state.before);
	}

	/* ---- the profile ------------------------------------------------------ */

	/* An error is a sentence, which the frame has as plain text. */
	function opened(event) {
		const page = event.target.contentDocument;

		if (!page || page.URL === 'about:blank')
			return;
		const failed = page.contentType === 'text/plain';

		part.frame.hidden = failed;
		part.opening.textContent = failed ?
			hwprof.clean(page.body.textContent.trim(), 600) : '';
		part.opening.classList.toggle('trouble', failed);
	}

	function open_profile() {
		const frame = h('iframe', {
			title: 'Profile of ' + about_range(state.choice),
			src: part.link.getAttribute('href'), onload: opened,
		});

		part.opening.textContent = 'The profile is being made\u2026';
		part.opening.classList.remove('trouble');
		part.frame.replaceWith(frame);
		part.frame = frame;
		part.profile.scrollIntoView();
	}

	const show_data = () => part.data.show(state.choice);

	/* ---- loading ---------------------------------------------------------- */

	/* Asks for windows from a time on; those before it are there already. */
	async function load_windows(from) {
		const asked = ++turn;
		const wanted = { from: Math.max(0, from), to: shown_end() + 1 };

		if (state.build)
			wanted.build_id = state.build.build_id;
		const { windows } = await front.ask('windows', wanted);

		if (asked !== turn)
			return;
		state.asked = state.now;
		state.windows = front.renew(state.windows, windows, from);
		part.windows.show(state.windows.slice().reverse());
		draw_picture();
		draw_choice();
	}

	async function load_builds() {
		const { from } = grid();
		const { builds } = await front.ask('builds', {
			from: Math.max(0, from), to: shown_end() + 1,
		});
		const units = (b) => Object.values(b.units).reduce((sum, n) =>
			sum + n, 0);

		state.asked_builds = state.now;
		state.builds = builds.sort((a, b) => units(b) - units(a));
		draw_builds();
	}

	async function load_now() {
		state.about = await front.ask('now');
		state.now = state.about.now;
		draw_status();
	}

	/* An error is shown; the next time may be better. */
	async function guarded(work) {
		try {
			await work();
		} catch (error) {
			part.status.textContent = 'hwprofd does not answer: ' +
				hwprof.clean(error.message, 600);
			part.status.classList.add('trouble');
		}
	}

	const load_all = () => guarded(async () => {
		await load_now();
		state.windows = [];
		await load_windows(grid().from);
		await load_builds();
	});

	const every = () => span().row > 10 ? span().row : state.about.window;

	const refresh = () => guarded(async () => {
		await load_now();
		/* Longer times change less often, and cost more to ask for. */
		if (state.end !== null || state.now - state.asked < every())
			return;
		const last = state.windows.length ?
			state.windows[state.windows.length - 1].to : 0;

		await load_windows(Math.max(grid().from,
			Math.min(last, state.now) - OVERLAP));
		if (state.now - state.asked_builds >= span().column)
			await load_builds();
	});

	async function tick() {
		if (part.follow.checked && !document.hidden)
			await refresh();
		setTimeout(tick, 1000 * Math.max(2, state.about ?
			state.about.window : 10));
	}

	/* Moves what is shown by so many columns; null: to now. */
	function turn_to(columns) {
		const { column } = span();
		const end = columns === null ? null :
			    shown_end() + columns * column;

		state.end = end === null || end >= state.now ? null :
			    Math.max(column, end);
		write_address();
		load_all();
	}

	/* ---- elements --------------------------------------------------------- */

	const button = (text, onclick, more) => h('button', {
		type: 'button', onclick, ...more,
	}, text);

	function select(label, options, value, onchange) {
		return h('label', {}, label + ' ', h('select', {
			onchange: (event) => onchange(event.target.value),
		}, options.map(([name, title]) => h('option', {
			value: name, selected: name === value,
		}, title))));
	}

	function tools() {
		part.follow = h('input', { type: 'checkbox', checked: true });
		return h('div', { class: 'tools' },
			select('Show', Object.entries(front.SPANS).map(([name, it]) =>
				[name, it.title]), state.span, (name) => {
				state.span = name;
				write_address();
				load_all();
			}),
			button('Earlier', () => turn_to(-span().columns / 2)),
			button('Later', () => turn_to(span().columns / 2)),
			button('Now', () => turn_to(null)),
			select('Colour is', front.MEASURES.map((m) =>
				[m.name, m.title]), state.measure, (name) => {
				state.measure = name;
				draw_picture();
			}),
			h('label', {}, part.follow, ' Refresh'));
	}

	/* The time of one side: what it is, and two fields to write it into. */
	function side(of, title, more) {
		const field = (end) => h('input', {
			type: 'datetime-local', step: 1,
			onchange: () => take_inputs(of),
			'aria-label': `${title}: ${end} (UTC)`,
		});
		const it = part[of] = { text: h('strong', { role: 'status' }),
					from: field('from'), to: field('to') };

		return h('fieldset', { class: of },
			 h('legend', {}, h('label', {}, h('input', {
				type: 'radio', name: 'choosing',
				checked: of === state.choosing,
				onchange: () => {
					state.choosing = of;
				},
			 }), ' ' + title)), h('p', {}, it.text),
			 h('div', { class: 'tools' }, h('span', {}, 'from ', it.from),
			   h('span', {}, 'to ', it.to),
			   button('Clear', () => choose(null, of), {
				'aria-label': 'Clear ' + title,
			   }), more));
	}

	function choices() {
		part.before_build = h('select', {
			onchange: (event) => {
				state.before_build = event.target.value || null;
				draw_choice();
			},
		});
		part.open = button('Show the profile', open_profile);
		part.open_data = button('Show values and ranges', show_data);
		part.link = h('a', { target: '_blank', rel: 'noopener' },
			      'on a page of its own');
		return h('section', { 'aria-label': 'What is chosen' },
			h('p', { class: 'quiet' }, 'The heat map, the bars and the ' +
				'table of windows choose the time that is marked ' +
				'here. A window counts as a whole if any part of ' +
				'it is chosen.'),
			h('div', { class: 'sides' },
			  side('choice', 'Time'),
			  side('before', 'Time to compare with', h('label', {},
				'build ', part.before_build))),
			h('div', { class: 'tools' }, part.open, part.link,
			  part.open_data, button('Exchange the times', swap)));
	}

	function fill(page) {
		part.status = h('p', { role: 'status', class: 'now' });
		part.facts = h('div');
		part.strips = h('div', { class: 'strips' });
		part.opening = h('p', { role: 'status' });
		part.frame = h('iframe', { hidden: true, title: 'Profile' });
		part.profile = h('section', { 'aria-label': 'Profile' },
				 part.opening, part.frame);
		const data = h('section', { 'aria-label': 'Values and ranges',
					    hidden: true });
		const map = h('section', { 'aria-label': 'Heat map of time' });
		const builds = h('section', { 'aria-label': 'Builds' },
				 h('h2', {}, 'Builds'));
		const windows = h('section', { 'aria-label': 'Windows' },
				  h('h2', {}, 'Windows'));

		hwprof.add(page, h('header', {}, h('h1', {}, 'hwprofd'), part.status),
			   h('main', {}, tools(), part.facts, part.strips, map,
			     choices(), part.profile, data, builds, windows));
		part.data = front.data(data, { choose });
		part.map = front.map(map, { choose });
		part.builds = front.build_table(builds, choose_build);
		part.windows = front.window_table(windows, choose_window);
		new ResizeObserver(() => draw_picture()).observe(part.strips);
	}

	async function main() {
		read_address();
		fill(document.getElementById('page'));
		draw_choice();
		await load_all();
		tick();
	}

	main();
})();
