// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths, spelled out block by block. data.code has instructions and data.source
 * lines of source, both of the hottest paths.
 */
'use strict';

/* Finds instructions and lines in the members "code" and "source". */
hwprof.listing = function (data) {
	const at = new Map(), lines = new Map();

	(data.code || []).forEach((instruction, i) => {
		at.set(instruction.object + '\n' + instruction.address, i);
	});
	for (const source of data.source || [])
		lines.set(source.file, new Map(source.lines.map((l) =>
			[l.line, l.text])));

	/* Instructions from first to last; none if they are not there. */
	function instructions(object, first, last) {
		const result = [];
		let i = at.get(object + '\n' + first);

		for (; i !== undefined && i < data.code.length &&
		       data.code[i].object === object; i++) {
			result.push(data.code[i]);
			if (data.code[i].address === last)
				return result;
		}
		return [];
	}

	function text(file, line) {
		return lines.has(file) ? lines.get(file).get(line) : undefined;
	}

	return { instructions, text };
};

/* Returns a block's code: each line of source, and its instructions. */
hwprof.block = function (listing, object, first, last) {
	const h = hwprof.element;
	const box = h('div', { class: 'code' });
	let line = '';

	for (const i of listing.instructions(object, first, last)) {
		const source = i.file ? hwprof.line(i.file, i.line) : '';

		if (source && source !== line) {
			const text = listing.text(i.file, i.line);

			box.append(h('div', { class: 'source', title:
				hwprof.clean(i.file, 2000) },
			h('span', { class: 'where' }, hwprof.clean(source)),
			h('span', {}, text === undefined ? '' :
				hwprof.clean(text.replace(/\t/g, '        '), 400))));
			line = source;
		}
		box.append(h('div', { class: 'instruction' },
			h('span', { class: 'where' }, i.address),
			h('span', {}, hwprof.clean(i.text)),
			i.callee ? h('span', { class: 'callee' },
				     hwprof.clean(i.callee)) : null));
	}
	return box;
};

(function () {
	const h = hwprof.element;

	function start(path) {
		return hwprof.place(path.start_function, path.start_offset,
				    path.start);
	}

	function end(path) {
		return hwprof.place(path.function, path.end_offset, path.end);
	}

	/* How a block ends: "jne, taken". */
	function ending(block) {
		if (!block.branch)
			return '';
		const way = block.conditional ? block.taken ? ', taken' :
							      ', not taken' : '';

		return block.branch + way +
		       (block.callee ? ' to ' + hwprof.clean(block.callee) : '');
	}

	function block(listing, it, index) {
		const code = hwprof.block(listing, it.object, it.first, it.last);
		const source = hwprof.line(it.file, it.line);
		const facts = [source, it.instructions ? it.instructions +
			' instruction' + (it.instructions > 1 ? 's' : '') :
			it.undecoded];

		return h('li', { class: 'block' },
			h('div', { class: 'block-head' },
			  h('b', {}, String(index + 1)), ' ',
			  hwprof.name(hwprof.place(it.function, it.offset,
						   it.first), it.object), ' ',
			  h('span', { class: 'quiet' }, hwprof.clean(facts.filter(
				  Boolean).join(', ')))),
			code.childElementCount ? code : null,
			ending(it) ? h('div', { class: 'block-end' +
				(it.conditional && it.taken ? ' taken' : '') },
			ending(it)) : null);
	}

	function contexts(path) {
		if (!path.contexts || !path.contexts.length)
			return null;
		return hwprof.plain('Contexts that ran it', ['context', 'runs'],
			path.contexts.map((c) => [hwprof.name(c.chain),
						  hwprof.count(c.count)]));
	}

	function details(element, listing, path) {
		hwprof.replace(element,
			h('h3', {}, 'Path from ', hwprof.name(start(path)), ' to ',
			  hwprof.name(end(path))),
			hwprof.facts([
				['object', hwprof.clean(path.object)],
				['runs', hwprof.count(path.count)],
				['share', hwprof.percent(path.share)],
				['heat', path.heat],
				['from', path.begins], ['to', path.ends],
				['number', path.number === null ?
					path.unnumbered : path.number],
				['taken jumps', path.length],
				['branches', hwprof.count(path.branches)],
				['instructions', path.instructions &&
					hwprof.count(path.instructions)],
				['cycles', path.cycles &&
					hwprof.count(path.cycles)],
			]), h('ol', { class: 'blocks' }, path.blocks.map((it, i) =>
				block(listing, it, i))), contexts(path));
	}

	const columns = [
		hwprof.name_column('from', start, (p) => p.start_object),
		hwprof.name_column('to', end, (p) => p.object),
		hwprof.source_column((p) => ({ file: p.start_file,
					       line: p.start_line })),
		hwprof.share_column(1),
		{ name: 'heat', value: (p) => p.heat, write: String,
		  width: '5em' },
		{ name: 'runs', value: (p) => p.count, right: true },
		{ name: 'number', value: (p) => p.number, right: true },
		{ name: 'blocks', value: (p) => p.blocks.length, right: true,
		  width: '5em' },
	];

	function summary(report) {
		const s = report.summary;

		return hwprof.facts([
			['metric', s.metric], ['runs', hwprof.count(s.count)],
			['branches', hwprof.count(s.branches)],
			['runs not seen whole', s.unseen && hwprof.count(s.unseen)],
			['hot paths', hwprof.count(s.paths.hot.number +
				s.paths.dense.number + s.paths.sparse.number)],
			['paths with 90 %', s.paths_of_90_percent],
		]);
	}

	hwprof.paths = function (element, data) {
		const { paths } = data.report;
		const listing = hwprof.listing(data);

		hwprof.add(element, summary(data.report));
		hwprof.detailed(element, {
			label: 'Paths', rows: paths, columns,
			details: (box, path) => details(box, listing, path),
			none: 'No path was seen whole.',
			search: (p) => start(p) + ' ' + end(p) + ' ' + p.object +
				' ' + p.start_file + ' ' + p.heat,
		});
	};
})();
