// SPDX-License-Identifier: GPL-2.0-only
/*
 * Components of pages. Each is a function (element, data): it fills the element
 * with what data has. data.report is what `hwprof report --json` writes; some
 * components use further members. Names in data come from recordings, and may
 * be anything: they become text, never HTML.
 */
'use strict';

const hwprof = {};

/* Returns a promise of the JSON that a page has in base 64, packed by gzip. */
hwprof.unpack = async function (text) {
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	const stream = new Blob([bytes]).stream()
		.pipeThrough(new DecompressionStream('gzip'));

	return JSON.parse(await new Response(stream).text());
};

/* ---- text ------------------------------------------------------------- */

/* Control characters, and those that turn the direction of text. */
const UNSEEN = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-' +
			  '\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]', 'g');
const LONGEST = 300;

/* Returns a name as it can be shown: nothing in it is unseen. */
hwprof.clean = function (name, longest = LONGEST) {
	const text = String(name);
	const cut = text.length > longest ? text.slice(0, longest) + '\u2026' :
					    text;

	return cut.replace(UNSEEN, (c) => '\\u{' +
				   c.codePointAt(0).toString(16) + '}');
};

/* Returns the last part of a path. "[vdso]" and "//anon" are no paths. */
hwprof.base = function (path) {
	const name = String(path);

	return name.startsWith('[') || name.startsWith('//') ? name :
	       name.slice(name.lastIndexOf('/') + 1) || name;
};

hwprof.count = function (number) {
	return number === null || number === undefined ? '-' :
	       number.toLocaleString('en-US');
};

hwprof.percent = function (share, digits = 2) {
	return share === null || share === undefined ? '-' :
	       (100 * share).toFixed(digits) + '\u00a0%';
};

/* A number with three digits that count. */
hwprof.short = function (number) {
	if (number === null || number === undefined)
		return '-';
	if (Math.abs(number) >= 1000)
		return hwprof.count(Math.round(number));
	return String(Number(number.toPrecision(3)));
};

/* "[1.5, 1.7]", or nothing if the interval is unknown or has no width. */
hwprof.interval = function (low, high, write) {
	return low === null || high === null || low === undefined ||
	       low === high ? '' : '[' + write(low) + ', ' + write(high) + ']';
};

/* "function+0x10", or the address. */
hwprof.place = function (function_, offset, address) {
	if (!function_)
		return address || '?';
	return function_ + (offset ? '+0x' + offset.toString(16) : '');
};

/* The same for the JSON of an instruction: object, function, address. */
hwprof.code = function (code) {
	return hwprof.place(code.function, code.function_offset, code.address);
};

hwprof.line = function (file, line) {
	return file ? hwprof.base(file) + ':' + line : '';
};

/* ---- elements --------------------------------------------------------- */

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined)
			element.append(child);
	return element;
}

/* Adds children, and replaces those that are there. Null is no child. */
hwprof.add = (element, ...children) => fill(element, {}, children);
hwprof.replace = function (element, ...children) {
	element.replaceChildren();
	return hwprof.add(element, ...children);
};

/* Makes an element. Children are elements, or text. */
hwprof.element = function (tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
};

hwprof.svg = function (tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
};

let identifiers = 0;

hwprof.identifier = function () {
	return 'id' + identifiers++;
};

/* Shows a name, and all of it in a tooltip if it is long or stands for more. */
hwprof.name = function (name, title = name) {
	return hwprof.element('span', {
		class: 'name', title: hwprof.clean(title, 2000),
	}, hwprof.clean(name));
};

/* A list of names and values: "entries 12". Values may be elements. */
hwprof.facts = function (facts) {
	const list = hwprof.element('dl', { class: 'facts' });

	for (const [name, value] of facts)
		if (value !== null && value !== undefined && value !== '')
			list.append(hwprof.element('div', {},
				hwprof.element('dt', {}, name),
				hwprof.element('dd', {}, value)));
	return list;
};

/* Facts of an instruction's place: object and source. */
hwprof.where = (code) => [
	['object', hwprof.clean(code.object)],
	['source', hwprof.clean(hwprof.line(code.file, code.line))],
];

/* The fact that tells whether counts are exact, or estimated from what. */
hwprof.basis = (basis) => ['counts', basis === 'exact' ? 'exact' :
	'from ' + basis];

/*
 * Calls redraw(dark) now, and again whenever the page changes between dark and
 * light.
 */
hwprof.themed = function (redraw) {
	const dark = window.matchMedia('(prefers-color-scheme: dark)');

	dark.addEventListener('change', () => redraw(dark.matches));
	redraw(dark.matches);
};

/* The value of a variable of the style sheet. */
hwprof.style = function (name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name)
		.trim();
};

/* ---- pictures in cells ------------------------------------------------ */

/*
 * A bar from 0 to a share, and its interval as a line with ends. most is the
 * share at the right edge.
 */
hwprof.bar = function (share, low, high, most) {
	const width = 90;
	const x = (part) => Math.max(0, Math.min(1, part / (most || 1))) * width;
	const known = low !== null && low !== undefined && high > low;
	const picture = hwprof.svg('svg', {
		class: 'bar', width, height: 14, 'aria-hidden': 'true',
	}, hwprof.svg('rect', {
		class: 'fill', x: 0, y: 2, width: x(share || 0), height: 10,
	}));

	if (known)
		picture.append(hwprof.svg('path', {
			class: 'whisker',
			d: `M${x(low)} 4v6M${x(low)} 7H${x(high)}M${x(high)} 4v6`,
		}));
	return picture;
};

/* Lines of a table that is read from top to bottom, without scrolling. */
hwprof.plain = function (label, titles, rows) {
	const head = hwprof.element('tr');

	for (const title of titles)
		head.append(hwprof.element('th', { scope: 'col' }, title));
	return hwprof.element('table', { class: 'plain' },
		hwprof.element('caption', {}, label),
		hwprof.element('thead', {}, head),
		hwprof.element('tbody', {}, rows.map((cells) =>
			hwprof.element('tr', {}, cells.map((cell) =>
				hwprof.element('td', {}, cell))))));
};

/* ---- what was recorded -------------------------------------------------- */

/* Facts of what was counted. data.units is what the account is in. */
hwprof.totals = function (data) {
	const t = data.report && data.report.totals;

	if (!t)
		return null;
	return hwprof.facts([
		['events', hwprof.count(t.events)],
		['lost', t.lost_events ? hwprof.count(t.lost_events) : null],
		['gaps', hwprof.count(t.gaps)],
		['sessions', hwprof.count(t.sessions)],
		['from', t.sources.join(', ')],
		['windows', t.windows ? hwprof.count(t.windows) : null],
		['overhead', t.overhead && hwprof.percent(t.overhead.share)],
		['distances', t.distances ?
			`up to ${Math.round(t.distances.factor)} times` : null],
		[data.units, hwprof.count(t.produced) + ' = ' +
			hwprof.count(t.delivered) + ' delivered + ' +
			hwprof.count(t.lost) + ' lost + ' +
			hwprof.count(t.evicted) + ' evicted + ' +
			hwprof.count(t.pending) + ' pending'],
	]);
};

/* Sentences under a title, or nothing without any. */
hwprof.notes = function (title, sentences) {
	const h = hwprof.element;

	if (!sentences || !sentences.length)
		return null;
	return h('details', { class: 'warnings', open: true },
		 h('summary', {}, title), h('ul', {}, sentences.map((text) =>
			h('li', {}, hwprof.clean(text)))));
};
