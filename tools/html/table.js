// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table of any length: only the rows in sight are elements. The arrow keys,
 * Page Up, Page Down, Home and End move through it.
 *
 * options.label    name of the table
 * options.columns  each has a name, and text(row); or value(row), by which the
 *                  table can be sorted, and write(value). draw(row) returns an
 *                  element that stands before the text. right: numbers. width:
 *                  of CSS, in em. title(row): a tooltip, if it is more than the
 *                  text. about: a tooltip of the name
 * options.rows     the rows
 * options.select   is called with a row when it is chosen; may be absent
 * options.level    returns the depth of a row in a tree; may be absent
 * options.search   returns the text that the filter looks in
 */
'use strict';

const ROW_HEIGHT = 26;
const ROWS_IN_SIGHT = 15;
const ROWS_AROUND = 8;
const GAP = 0.8;	/* between columns, in em */

hwprof.table = function (element, options) {
	const { columns } = options;
	const h = hwprof.element;
	const widths = columns.map((c) => c.width || 'minmax(6em, 1fr)');
	const width = widths.reduce((sum, w) => sum + GAP +
		parseFloat(w.replace('minmax(', '')), 1) + 'em';
	const status = h('span', { class: 'status', role: 'status' });
	const filter = h('input', { type: 'search', oninput: () => choose() });
	const head = h('div', { class: 'row head', role: 'row' });
	const space = h('div', { class: 'space', role: 'rowgroup' });
	const grid = h('div', {
		class: 'grid', tabindex: 0, role: options.level ? 'treegrid' : 'grid',
		'aria-label': options.label, 'aria-colcount': columns.length,
		onscroll: () => draw(), onkeydown: press,
	}, head, space);
	let rows = options.rows, active = -1, sorted = -1, down = true;
	let selected = null;
	let shown = new Map();

	/* ---- cells ---------------------------------------------------- */

	function text(column, row) {
		if (column.text)
			return column.text(row);
		const value = column.value(row);

		return (column.write || hwprof.count)(value);
	}

	function cell(column, row, level) {
		const content = text(column, row);
		const title = column.title ? column.title(row) : content;

		return h('div', {
			role: 'gridcell', class: column.right ? 'right' : null,
			title: hwprof.clean(title, 2000),
		}, level ? '\u00a0'.repeat(2 * Math.min(level, 40)) : null,
		column.draw ? column.draw(row) : null,
		h('span', { class: 'text' }, hwprof.clean(content)));
	}

	/* Gives a row its columns. */
	function shape(row) {
		row.style.gridTemplateColumns = widths.join(' ');
		row.style.minWidth = width;
		return row;
	}

	function line(index) {
		const row = rows[index];
		const level = options.level ? options.level(row) : 0;
		const element = h('div', {
			class: 'row', role: 'row', id: grid.id + '-' + index,
			'aria-rowindex': index + 2,
			'aria-level': options.level ? level + 1 : null,
			onclick: () => activate(index, true),
		}, columns.map((c, i) => cell(c, row, i ? 0 : level)));

		element.style.top = index * ROW_HEIGHT + 'px';
		return shape(element);
	}

	/* Marks the active row and the selected one. */
	function mark() {
		for (const [index, element] of shown) {
			element.classList.toggle('active', index === active);
			element.setAttribute('aria-selected',
					     rows[index] === selected);
		}
		if (shown.has(active))
			grid.setAttribute('aria-activedescendant',
					  shown.get(active).id);
		else
			grid.removeAttribute('aria-activedescendant');
	}

	/* Makes rows that have come into sight, and drops those that left. */
	function draw() {
		const first = Math.floor(grid.scrollTop / ROW_HEIGHT) - ROWS_AROUND;
		const last = first + ROWS_IN_SIGHT + 2 * ROWS_AROUND;
		const now = new Map();

		for (let i = Math.max(0, first); i < last && i < rows.length; i++)
			now.set(i, shown.get(i) || line(i));
		for (const [i, element] of shown)
			if (!now.has(i))
				element.remove();
		for (const [i, element] of now)
			if (!shown.has(i))
				space.append(element);
		shown = now;
		mark();
	}

	function redraw() {
		for (const element of shown.values())
			element.remove();
		shown = new Map();
		space.style.height = rows.length * ROW_HEIGHT + 'px';
		grid.setAttribute('aria-rowcount', rows.length + 1);
		grid.style.height = (Math.min(rows.length, ROWS_IN_SIGHT) + 1) *
				    ROW_HEIGHT + 16 + 'px';
		draw();
	}

	/* ---- moving ---------------------------------------------------- */

	function reveal(index) {
		const top = index * ROW_HEIGHT;
		const height = grid.clientHeight - ROW_HEIGHT;

		if (top < grid.scrollTop)
			grid.scrollTop = top;
		else if (top + ROW_HEIGHT > grid.scrollTop + height)
			grid.scrollTop = top + ROW_HEIGHT - height;
	}

	function activate(index, choose_) {
		active = Math.max(0, Math.min(rows.length - 1, index));
		if (!rows.length)
			return;
		reveal(active);
		if (choose_) {
			selected = rows[active];
			if (options.select)
				options.select(selected);
		}
		draw();
	}

	const moves = {
		ArrowDown: () => active + 1, ArrowUp: () => active - 1,
		PageDown: () => active + ROWS_IN_SIGHT,
		PageUp: () => active - ROWS_IN_SIGHT,
		Home: () => 0, End: () => rows.length - 1,
		Enter: () => active, ' ': () => active,
	};

	function press(event) {
		if (event.target !== grid || event.ctrlKey || event.altKey ||
		    event.metaKey || !moves[event.key])
			return;
		event.preventDefault();
		activate(moves[event.key](), true);
	}

	/* ---- order and filter -------------------------------------------- */

	function compare(a, b) {
		const value = columns[sorted].value;
		const x = value(a), y = value(b);
		const known = (v) => v !== null && v !== undefined;

		if (!known(x) || !known(y))
			return known(y) - known(x);
		return (x < y ? -1 : x > y) * (down ? -1 : 1);
	}

	function choose() {
		const wanted = filter.value.toLowerCase();
		const search = options.search || ((row) => columns.map((c) =>
			text(c, row)).join(' '));

		rows = wanted ? options.rows.filter((row) =>
			search(row).toLowerCase().includes(wanted)) : options.rows;
		if (sorted >= 0)
			rows = rows.slice().sort(compare);
		status.textContent = wanted ? hwprof.count(rows.length) + ' of ' +
			hwprof.count(options.rows.length) :
			hwprof.count(rows.length) + (rows.length === 1 ?
				' row' : ' rows');
		active = rows.indexOf(selected);
		grid.scrollTop = 0;
		redraw();
	}

	/* Sorts by a column; again: the other way round. */
	function sort(index) {
		down = sorted === index ? !down : Boolean(columns[index].right);
		sorted = index;
		head.querySelectorAll('[role=columnheader]').forEach((cell_, i) =>
			cell_.setAttribute('aria-sort', i !== sorted ? 'none' :
					   down ? 'descending' : 'ascending'));
		choose();
	}

	function title(column, index) {
		const sorts = column.value && !options.level;

		return h('div', {
			role: 'columnheader', class: column.right ? 'right' : null,
			'aria-sort': sorts ? 'none' : null, title: column.about,
		}, sorts ? h('button', {
			type: 'button', onclick: () => sort(index),
		}, column.name) : column.name);
	}

	grid.id = hwprof.identifier();
	head.append(...columns.map(title));
	shape(head);
	space.style.minWidth = width;
	hwprof.add(element, h('div', { class: 'tools' },
		h('label', {}, 'Filter ', filter), status), grid);
	choose();

	return {
		select: (row) => activate(rows.indexOf(row), true),
		/* Replaces all rows, and stays where it was. */
		show: (all) => {
			const top = grid.scrollTop;

			options.rows = all;
			choose();
			grid.scrollTop = top;
		},
	};
};

/* ---- tables that several components have -------------------------------- */

/*
 * A table, and below it the details of the row that is chosen, at first the
 * first one. options are those of hwprof.table, and
 *
 * options.details  fills an element with the details of a row
 * options.none     the sentence for a table without rows
 */
hwprof.detailed = function (element, options) {
	const h = hwprof.element;
	const box = h('section', { class: 'details', 'aria-live': 'polite' });

	if (!options.rows.length) {
		hwprof.add(element, h('p', {}, options.none));
		return;
	}
	const table = hwprof.table(element, Object.assign({
		select: (row) => options.details(box, row),
	}, options));

	hwprof.add(element, box);
	table.select(options.rows[0]);
};

/* A column of names; the tooltip names the object, too. */
hwprof.name_column = (name, text, object, width = 'minmax(12em, 2fr)') => ({
	name, value: text, write: String, width,
	title: (row) => text(row) + ' in ' + object(row),
});

/* A column of lines of source. of(row) has the file and the line. */
hwprof.source_column = (of, width = 'minmax(8em, 1fr)') => ({
	name: 'source', write: String, width,
	value: (row) => hwprof.line(of(row).file, of(row).line),
	title: (row) => of(row).file || '',
});

/* A column of shares as bars. most is the share at the right edge of a bar. */
hwprof.share_column = (most, about) => ({
	name: 'share', value: (row) => row.share, right: true,
	write: hwprof.percent, width: '14em', about,
	draw: (row) => hwprof.bar(row.share, row.share_low, row.share_high, most),
});

/* Returns the largest share of all rows, or the largest end of an interval. */
hwprof.largest_share = (rows) => Math.max(0, ...rows.map((row) =>
	row.share_high || row.share || 0));
