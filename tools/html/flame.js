// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calling context tree as a flame graph, with the roots on top. data.nodes,
 * in a comparison, says what has changed at each context of data.report.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const ROW = 20;
	const HEIGHT = 520;
	const NARROWEST = 0.4;		/* pixels */

	/* ---- what is shown -------------------------------------------- */

	function label(context) {
		const name = context.kind === 'root' ? context.comm || '[unknown]' :
			context.function ||
			hwprof.base(context.object || '?') + '+' + context.address;

		return context.kind === 'signal' ? '[signal] ' + name :
			context.kind === 'recursion' ? name + ' (recursion)' : name;
	}

	const UNITS = [
		['branches', 'branches', 'all_branches'],
		['weight of samples', 'weight', 'all_weight'],
		['calls', 'calls', 'all_calls'],
	];

	/* Returns the measures of width that are not 0 everywhere. */
	function measures(contexts) {
		const roots = contexts.filter((c) => c.parent === null);
		const all = UNITS.map(([name, own, sum]) => ({
			name, own: (c) => c[own], all: (c) => c[sum],
		}));

		for (const metric of Object.keys((contexts[0] || {}).metrics || {}))
			all.push({
				name: metric, own: (c) => c.metrics[metric].own,
				all: (c) => c.metrics[metric].all,
			});
		return all.filter((m) => roots.some((c) => m.all(c) > 0));
	}

	function grow(contexts) {
		const top = { context: null, children: [] };
		const nodes = contexts.map((context) => ({ context, children: [] }));

		nodes.forEach((node) => {
			const { parent } = node.context;

			(parent === null ? top : nodes[parent]).children.push(node);
		});
		return top;
	}

	/* Widths are those of the report; the root has all of them. */
	function layout(top, measure) {
		const root = d3.hierarchy(top);

		root.each((node) => {
			node.value = node.data.context ?
				measure.all(node.data.context) : 0;
		});
		root.value = root.children ? root.children.reduce((sum, child) =>
			sum + child.value, 0) : 0;
		return d3.partition()(root);
	}

	/* ---- colours ---------------------------------------------------- */

	function hash(text) {
		let value = 0;

		for (let i = 0; i < text.length && i < 100; i++)
			value = (value * 31 + text.charCodeAt(i)) % 65521;
		return value;
	}

	function colour(node, changes, dark) {
		const { context } = node.data;
		const change = changes && changes.get(context);
		const light = dark ? 30 : 78;

		if (changes) {
			const verdict = hwprof.verdict(change || {});

			if (!change || verdict === 'noise' || verdict === 'same' ||
			    verdict === 'unknown')
				return dark ? '#3a3f47' : '#d5d9df';
			const far = Math.min(1, Math.abs(change.share_change) * 5);

			return `hsl(${verdict === 'more' ? 18 : 212}, 75%, ` +
			       `${dark ? 28 + 14 * far : 82 - 24 * far}%)`;
		}
		if (!context)
			return dark ? '#3a3f47' : '#d5d9df';
		return `hsl(${20 + hash(context.object || '') % 35}, 70%, ` +
		       `${light - hash(label(context)) % 12}%)`;
	}

	/* ---- the picture ------------------------------------------------- */

	function picture(element, data, all) {
		const contexts = data.report.contexts;
		const changes = data.nodes && new Map(data.nodes.map((n) =>
			[contexts[n.after], n]));
		const top = grow(contexts);
		let measure = all[0], root, zoom, focus, wanted = '', dark = false;
		/* The box's size while a picture is drawn: asking is slow. */
		let size = {};
		const colours = {};

		const canvas = h('canvas', { 'aria-hidden': 'true' });
		const space = h('div', { class: 'flame-space' });
		const live = h('p', { class: 'flame-now', role: 'status' });
		const found = h('span', { class: 'status', role: 'status' });
		const box = h('div', {
			class: 'flame', tabindex: 0, role: 'application',
			'aria-roledescription': 'flame graph',
			'aria-label': 'Flame graph of calling contexts. Arrow keys ' +
				'move to callers, callees and neighbours, Enter ' +
				'zooms in, Escape zooms out.',
			onscroll: () => draw(), onkeydown: press,
		}, canvas, space);

		/* Where a node is at this zoom, in pixels. */
		function place(node) {
			const { width } = size;
			const scale = width / (zoom.x1 - zoom.x0 || 1);
			const left = Math.max(0, (node.x0 - zoom.x0) * scale);
			const right = Math.min(width, (node.x1 - zoom.x0) * scale);

			return { left, width: right - left,
				 top: node.depth * ROW - size.scrolled };
		}

		function matches(node) {
			return wanted && node.data.context &&
			       label(node.data.context).toLowerCase()
				       .includes(wanted);
		}

		function write(context, node, at) {
			const room = Math.floor((at.width - 8) / 7.3);
			const name = node.data.context ? label(node.data.context) :
							 'all';

			if (room < 2)
				return;
			context.fillStyle = colours['flame-text'];
			context.fillText(hwprof.clean(name.length > room ?
				name.slice(0, room - 1) + '\u2026' : name, room + 8)
				.slice(0, room), at.left + 4, at.top + 14);
		}

		function frame(context, node, at) {
			context.fillStyle = matches(node) ?
				colours.found :
				colour(node, changes, dark);
			context.fillRect(at.left, at.top, Math.max(0.5,
					 at.width - 0.5), ROW - 1);
			write(context, node, at);
			if (node === focus) {
				context.strokeStyle = colours.focus;
				context.lineWidth = 2;
				context.strokeRect(at.left + 1, at.top + 1,
					Math.max(2, at.width - 3), ROW - 3);
			}
		}

		/* Draws a subtree, without what is too narrow or out of sight. */
		function subtree(context, start, height) {
			const waiting = [start];

			while (waiting.length) {
				const node = waiting.pop();
				const at = place(node);

				if (at.width < NARROWEST || at.top > height)
					continue;
				if (at.top > -ROW)
					frame(context, node, at);
				for (const child of node.children || [])
					waiting.push(child);
			}
		}

		function draw() {
			const scale = window.devicePixelRatio || 1;
			const width = box.clientWidth, height = box.clientHeight;
			size = { width, scrolled: box.scrollTop };
			for (const name of ['flame-text', 'found', 'focus'])
				colours[name] = hwprof.style('--' + name);
			const context = canvas.getContext('2d');

			canvas.width = width * scale;
			canvas.height = height * scale;
			canvas.style.width = width + 'px';
			canvas.style.height = height + 'px';
			context.scale(scale, scale);
			context.font = '12px monospace';
			for (const node of zoom.ancestors().slice(1))
				frame(context, node, place(node));
			subtree(context, zoom, height);
		}

		function sentence(node) {
			const { context } = node.data;

			if (!context)
				return 'all: ' + hwprof.count(node.value) + ' (' +
				       measure.name + ')';
			const change = changes && changes.get(context);

			return hwprof.clean(label(context)) +
				(context.object ? ' in ' + hwprof.clean(
					hwprof.base(context.object)) : '') + ': ' +
				hwprof.percent(node.value / (root.value || 1)) +
				', ' + hwprof.count(node.value) + ' (' +
				measure.name + '), itself ' +
				hwprof.count(measure.own(context)) +
				(context.calls ? ', ' + hwprof.count(context.calls) +
					' calls' : '') +
				(change ? '; ' + hwprof.change(change) : '');
		}

		function point(node) {
			focus = node;
			live.textContent = sentence(node);
			const top_ = node.depth * ROW;

			if (top_ < box.scrollTop)
				box.scrollTop = top_;
			else if (top_ + ROW > box.scrollTop + box.clientHeight)
				box.scrollTop = top_ + ROW - box.clientHeight;
			draw();
		}

		function turn(node) {
			zoom = node;
			space.style.height = (deepest(node) + 1) * ROW + 'px';
			point(node);
		}

		/* The deepest row that can be seen at this zoom. */
		function deepest(node) {
			return Math.min(root.height, node.depth + node.height);
		}

		/* ---- keys and mouse ------------------------------------ */

		function sibling(step) {
			const row = focus.parent ? focus.parent.children : [focus];

			return row[row.indexOf(focus) + step] || focus;
		}

		const moves = {
			ArrowUp: () => focus.parent || focus,
			ArrowDown: () => (focus.children || [focus])[0],
			ArrowLeft: () => sibling(-1), ArrowRight: () => sibling(1),
			Home: () => root,
		};

		function press(event) {
			if (event.key === 'Enter')
				turn(focus);
			else if (event.key === 'Escape')
				turn(zoom.parent || root);
			else if (moves[event.key])
				point(moves[event.key]());
			else
				return;
			event.preventDefault();
		}

		function under(event) {
			const area = canvas.getBoundingClientRect();
			const x = event.clientX - area.left;
			const y = event.clientY - area.top + box.scrollTop;
			const depth = Math.floor(y / ROW);
			const at = zoom.x0 + (x / canvas.clientWidth) *
				   (zoom.x1 - zoom.x0);
			let node = root;

			while (node && node.depth < depth)
				node = (node.children || []).find((child) =>
					child.x0 <= at && at < child.x1);
			return node;
		}

		function move(event) {
			const node = under(event);

			canvas.style.cursor = node ? 'pointer' : 'default';
			if (node)
				live.textContent = sentence(node);
		}

		canvas.addEventListener('mousemove', move);
		canvas.addEventListener('click', (event) => {
			const node = under(event);

			if (node)
				turn(node);
		});

		/* ---- tools ------------------------------------------- */

		function measured(name) {
			measure = all.find((m) => m.name === name);
			root = layout(top, measure);
			turn(root);
		}

		/* Sums what was found, without what is inside it. */
		function search(text) {
			let sum = 0;
			const waiting = [root];

			wanted = text.toLowerCase();
			while (wanted && waiting.length) {
				const node = waiting.pop();

				if (matches(node))
					sum += node.value;
				else
					waiting.push(...node.children || []);
			}
			found.textContent = wanted ? hwprof.percent(sum /
				(root.value || 1)) + ' found' : '';
			draw();
		}

		const choice = h('select', {
			onchange: (event) => measured(event.target.value),
		}, all.map((m) => h('option', { value: m.name },
				    hwprof.clean(m.name))));

		hwprof.add(element, h('div', { class: 'tools' },
			h('label', {}, 'Width is ', choice),
			h('label', {}, 'Find ', h('input', {
				type: 'search',
				oninput: (event) => search(event.target.value),
			})), found,
			h('button', { type: 'button', onclick: () => turn(root) },
			  'Show all')),
		data.nodes ? hwprof.legend() : null, box, live);
		root = layout(top, measure);
		zoom = focus = root;
		box.style.height = Math.min(HEIGHT, (root.height + 1) * ROW + 2) + 'px';
		turn(root);
		hwprof.themed((is_dark) => {
			dark = is_dark;
			draw();
		});
		new ResizeObserver(draw).observe(box);
	}

	/* ---- tables ------------------------------------------------------ */

	function site(context) {
		return context.site_object ? hwprof.place(context.site_function,
			context.site_offset, context.site) : '';
	}

	function columns(measure, called) {
		return [
			{ name: 'procedure', text: label, width: 'minmax(18em, 3fr)',
			  title: (c) => (c.function || '') + ' ' +
				(c.object || '') },
			{ name: 'share', value: (c) => c.share, right: true,
			  write: hwprof.percent },
			{ name: 'with callees', value: measure.all, right: true },
			{ name: 'itself', value: measure.own, right: true },
			...called ? [{ name: 'calls', value: (c) => c.calls,
				       right: true }] : [],
			{ name: 'called from', text: site,
			  width: 'minmax(10em, 2fr)' },
		];
	}

	/* No procedure is on a chain twice, so that sums over contexts are right. */
	function procedures(contexts, measure) {
		const all = new Map();

		for (const c of contexts) {
			if (c.kind === 'root' || c.kind === 'recursion')
				continue;
			const key = c.object + '\n' + c.address;
			const sum = all.get(key) || {
				context: c, all: 0, own: 0, calls: 0, contexts: 0,
			};

			sum.all += measure.all(c);
			sum.own += measure.own(c);
			sum.calls += c.calls;
			sum.contexts++;
			all.set(key, sum);
		}
		return [...all.values()].sort((a, b) => b.own - a.own);
	}

	function procedure_table(element, contexts, measure, called) {
		hwprof.table(element, {
			label: 'Procedures', rows: procedures(contexts, measure),
			columns: [
				{ name: 'procedure', value: (s) => label(s.context),
				  write: String, width: 'minmax(18em, 3fr)',
				  title: (s) => label(s.context) + ' ' +
					s.context.object },
				{ name: 'itself', value: (s) => s.own, right: true },
				{ name: 'with callees', value: (s) => s.all,
				  right: true },
				...called ? [{ name: 'calls', value: (s) => s.calls,
					       right: true }] : [],
				{ name: 'contexts', value: (s) => s.contexts,
				  right: true },
			],
		});
	}

	function fill_tables(element, contexts, measure) {
		const called = contexts.some((c) => c.calls);

		element.append(h('h3', {}, 'Procedures'));
		procedure_table(element, contexts, measure, called);
		element.append(h('h3', {}, 'Contexts'));
		hwprof.table(element, {
			label: 'Contexts, as a tree', rows: contexts,
			columns: columns(measure, called),
			level: (c) => c.depth,
			search: (c) => label(c) + ' ' + site(c),
		});
	}

	hwprof.flame = function (element, data) {
		const { contexts } = data.report;
		const all = measures(contexts);

		if (!all.length) {
			hwprof.add(element, h('p', {},
					      'No calling context was counted.'));
			return;
		}
		const tables = h('div');

		picture(element, data, all);
		if (data.nodes)
			return;
		element.append(tables);
		/* The picture is shown before the tables are made. */
		setTimeout(() => fill_tables(tables, contexts, all[0]), 50);
	};
})();
