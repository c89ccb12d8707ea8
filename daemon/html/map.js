// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map of time by offset: a column is a minute, an hour or a day, and a
 * row is the offset in it. One chooses a time from one cell to another, down the
 * columns, with the mouse or the keyboard.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;
	const LEFT = 64, TOP = 4, BOTTOM = 18;

	const HELP = 'Heat map of time. Arrow keys move to other cells. Enter ' +
		'chooses a cell; with Shift, Enter or an arrow key extends what is ' +
		'chosen. Escape chooses nothing.';

	/* options.choose gets a time, or null. Nothing is drawn before show(). */
	front.map = function (element, options) {
		const live = h('p', { class: 'flame-now', role: 'status' });
		const box = h('div', {
			class: 'time-map', tabindex: 0, role: 'application',
			'aria-roledescription': 'heat map', 'aria-label': HELP,
			onkeydown: press, onpointerdown: down, onpointermove: move,
			onpointerup: up, onpointercancel: up,
		});
		const legend = h('p', { class: 'legend' });
		let state = null, focus = null, anchor = null, held = false;

		/* ---- where cells are ----------------------------------- */

		const width = () => (Math.max(300, box.clientWidth) - LEFT - 4) /
				    state.grid.columns;
		const left = (i) => LEFT + Math.floor(i / state.grid.rows) * width();
		const top = (i) => TOP + i % state.grid.rows * state.grid.height;
		const time = (i) => state.grid.from + i * state.grid.row;

		function under(event) {
			const area = box.getBoundingClientRect();
			const { grid } = state;
			const column = Math.floor((event.clientX - area.left - LEFT) /
						  width());
			const row = Math.floor((event.clientY - area.top - TOP) /
					       grid.height);

			return column < 0 || column >= grid.columns || row < 0 ||
			       row >= grid.rows ? null : column * grid.rows + row;
		}

		/* ---- drawing ----------------------------------------------- */

		function cell(value, i, most) {
			const at = { x: left(i).toFixed(1), y: top(i),
				     width: (width() - 0.5).toFixed(1),
				     height: state.grid.height - 0.5 };

			return [svg('rect', { class: 'ground', ...at }),
				value ? svg('rect', { class: 'heat', ...at,
					'fill-opacity': (value / most).toFixed(3),
				}) : null];
		}

		/* The outline of a time: part of a column, columns, part of one. */
		function outline(range, name) {
			const { grid } = state;
			const first = Math.max(0, Math.floor((range.from - grid.from) /
							     grid.row));
			const end = Math.min(grid.count, Math.ceil((range.to -
							grid.from) / grid.row));
			let path = '';

			for (let i = first; i < end;) {
				const rows = Math.min(end - i, grid.rows -
						      i % grid.rows);
				const columns = rows < grid.rows ? 1 :
					Math.floor((end - i) / grid.rows);

				path += `M${left(i).toFixed(1)} ${top(i)}h` +
					`${(columns * width() - 0.5).toFixed(1)}v` +
					`${rows * grid.height - 0.5}H` +
					`${left(i).toFixed(1)}z`;
				i += rows * columns;
			}
			return path ? svg('path', { class: 'outline ' + name,
						    d: path }) : null;
		}

		function axes() {
			const { grid } = state;
			const step = Math.ceil(70 / width());
			const marks = [];

			for (let i = 0; i < grid.columns; i += step)
				marks.push(svg('text', {
					x: LEFT + i * width(),
					y: TOP + grid.rows * grid.height + 14,
				}, grid.column === 86400 ?
					front.date(time(i * grid.rows)).slice(5, 10) :
					front.clock(time(i * grid.rows)).slice(0, 5)));
			for (let i = 0; i < grid.rows; i += Math.ceil(26 / grid.height))
				marks.push(svg('text', {
					x: LEFT - 6, y: top(i) + Math.max(10,
						grid.height / 2 + 4),
					'text-anchor': 'end',
				}, '+' + front.duration(i * grid.row)));
			return marks;
		}

		function sentence(i) {
			const value = state.cells[i];

			return front.range(time(i), time(i + 1)) + ': ' +
				(value === null ? 'no window' :
				 state.measure.write(value)) +
				` (${state.measure.title})`;
		}

		function mark() {
			const old = box.querySelector('.focus');

			if (old)
				old.remove();
			if (focus === null)
				return;
			box.firstChild.append(svg('rect', {
				class: 'focus', x: left(focus), y: top(focus),
				width: width() - 0.5, height: state.grid.height - 0.5,
			}));
			live.textContent = sentence(focus);
		}

		function draw_legend(most) {
			hwprof.replace(legend, state.about + ', a row ' +
				front.duration(state.grid.row) + ' of it. ' +
				state.measure.title + ': ',
			[0, 0.25, 0.5, 0.75, 1].map((part) => {
				const swatch = h('span', { class: 'swatch' });

				swatch.style.setProperty('--part', part);
				return [swatch, state.measure.write(part * most) + ' '];
			}));
		}

		function draw() {
			const { grid, cells } = state;
			const most = Math.max(...cells) || 1;

			if (focus !== null && focus >= grid.count)
				focus = null;
			box.replaceChildren(svg('svg', {
				width: LEFT + width() * grid.columns + 4,
				height: TOP + grid.rows * grid.height + BOTTOM,
				'aria-hidden': 'true',
			}, cells.map((value, i) => value === null ? null :
				cell(value, i, most)), axes()));
			draw_legend(most);
			draw_choice();
			mark();
		}

		/* Thousands of cells stay as they are when another is chosen. */
		function draw_choice() {
			box.querySelectorAll('.outline').forEach((old) => old.remove());
			for (const name of ['before', 'choice'])
				if (state[name])
					hwprof.add(box.firstChild,
						   outline(state[name], name));
		}

		/* ---- choosing ----------------------------------------------- */

		function choose(to, extend) {
			if (!extend || anchor === null)
				anchor = time(to);
			focus = to;
			options.choose({
				from: Math.min(anchor, time(to)),
				to: Math.max(anchor, time(to)) + state.grid.row,
			});
			mark();
		}

		function down(event) {
			const i = under(event);

			if (i === null || event.button)
				return;
			held = true;
			box.setPointerCapture(event.pointerId);
			choose(i, event.shiftKey);
		}

		function move(event) {
			const i = under(event);

			if (i === null)
				return;
			if (held && i !== focus)
				choose(i, true);
			else
				live.textContent = sentence(i);
		}

		function up() {
			held = false;
		}

		const steps = {
			ArrowDown: () => 1, ArrowUp: () => -1,
			ArrowRight: () => state.grid.rows,
			ArrowLeft: () => -state.grid.rows,
			Home: () => -Infinity, End: () => Infinity,
		};

		/* The cell of now, if none has been moved to. */
		function start() {
			const last = state.cells.reduce((at, value, i) =>
				value === null ? at : i, -1);

			return last < 0 ? state.grid.count - 1 : last;
		}

		function press(event) {
			const { key, shiftKey } = event;

			if (event.ctrlKey || event.altKey || event.metaKey)
				return;
			if (key === 'Escape') {
				anchor = null;
				options.choose(null);
			} else if (key === 'Enter' || key === ' ') {
				choose(focus === null ? start() : focus, shiftKey);
			} else if (steps[key]) {
				step(steps[key](), shiftKey);
			} else {
				return;
			}
			event.preventDefault();
		}

		function step(by, extend) {
			const to = focus === null ? start() : focus + by;

			if (extend && anchor === null && focus !== null)
				anchor = time(focus);
			focus = Math.max(0, Math.min(state.grid.count - 1, to));
			if (extend)
				choose(focus, true);
			mark();
		}

		hwprof.add(element, legend, box, live);
		new ResizeObserver(() => state && draw()).observe(box);
		return {
			/* Shows grid, cells, measure, about, choice and before. */
			show: (shown) => {
				/* The cell that had the focus keeps its time. */
				if (focus !== null && state)
					focus = Math.max(0, Math.floor((time(focus) -
						shown.grid.from) / shown.grid.row));
				state = shown;
				draw();
			},
			mark: (choice, before) => {
				if (!state)
					return;
				Object.assign(state, { choice, before });
				draw_choice();
			},
		};
	};
})();
