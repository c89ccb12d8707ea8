// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches, and control-flow graphs of procedures. data.graphs has the graphs,
 * and data.code and data.source the code of their blocks.
 */
'use strict';

(function () {
	const h = hwprof.element;
	const svg = hwprof.svg;
	const WIDTH = 170, HEIGHT = 44, GAP = 26, RANK = 62, LANE = 9;
	const THICKEST = 10;

	/* ---- layout ------------------------------------------------------ */

	/*
	 * Marks edges that close a cycle, by a search from the entry on, and
	 * returns the blocks so that each comes before those that it leads to.
	 */
	function order(blocks, edges) {
		const out = blocks.map(() => []), state = blocks.map(() => 0);
		const result = [];

		edges.forEach((edge) => out[edge.from].push(edge));
		for (let start = 0; start < blocks.length; start++) {
			const stack = state[start] ? [] : [{ block: start, next: 0 }];

			while (stack.length) {
				const top = stack[stack.length - 1];
				const edge = out[top.block][top.next++];

				state[top.block] = 1;
				if (!edge) {
					state[top.block] = 2;
					result.unshift(stack.pop().block);
				} else if (!state[edge.to]) {
					stack.push({ block: edge.to, next: 0 });
				} else {
					edge.back = state[edge.to] === 1;
				}
			}
		}
		return result;
	}

	/* Each block is below all that lead to it. */
	function ranks(blocks, edges) {
		const rank = blocks.map(() => 0), out = blocks.map(() => []);

		edges.forEach((edge) => out[edge.from].push(edge));
		for (const block of order(blocks, edges))
			for (const edge of out[block])
				if (!edge.back)
					rank[edge.to] = Math.max(rank[edge.to],
								 rank[block] + 1);
		return rank;
	}

	/*
	 * Rows of cells. A cell is a block, or where a long edge passes a row.
	 * Each edge gets the cells that it joins.
	 */
	function rows(blocks, edges) {
		const rank = ranks(blocks, edges);
		const result = Array.from({ length: Math.max(...rank) + 1 },
					  () => []);
		const cells = blocks.map((block, i) => ({
			block, width: WIDTH, up: [], down: [], rank: rank[i],
		}));

		cells.forEach((cell) => result[cell.rank].push(cell));
		for (const edge of edges.filter((e) => !e.back)) {
			edge.cells = [cells[edge.from]];
			for (let r = rank[edge.from] + 1; r < rank[edge.to]; r++) {
				const cell = { width: 14, up: [], down: [], rank: r };

				result[r].push(cell);
				edge.cells.push(cell);
			}
			edge.cells.push(cells[edge.to]);
			edge.cells.forEach((cell, i) => {
				if (i) {
					cell.up.push(edge.cells[i - 1]);
					edge.cells[i - 1].down.push(cell);
				}
			});
		}
		return { rows: result, cells };
	}

	const mean = (list, of) => list.reduce((s, x) => s + of(x), 0) /
				   list.length;

	/* Sorts each row by where its neighbours are, so that few edges cross. */
	function untangle(all) {
		const number = () => all.forEach((row) => row.forEach((cell, i) => {
			cell.at = i;
		}));

		number();
		for (let sweep = 0; sweep < 8; sweep++) {
			const from = sweep % 2 ? 'down' : 'up';

			for (const row of all) {
				for (const cell of row)
					cell.key = cell[from].length ?
						mean(cell[from], (c) => c.at) :
						cell.at;
				row.sort((a, b) => a.key - b.key);
			}
			number();
		}
	}

	/* Moves the cells of a row to where they want to be, without overlaps. */
	function settle(row) {
		let right = -Infinity;

		for (const cell of row) {
			cell.x = Math.max(cell.wish, right + cell.width / 2);
			right = cell.x + cell.width / 2 + GAP;
		}
		const shift = mean(row, (c) => c.x - c.wish);

		row.forEach((cell) => {
			cell.x -= shift;
		});
	}

	function spread(all) {
		all.forEach((row) => {
			row.forEach((cell, i) => {
				cell.wish = i * (WIDTH + GAP) / 2;
			});
			settle(row);
		});
		for (let sweep = 0; sweep < 12; sweep++) {
			const side = sweep % 2 ? 'down' : 'up';

			for (const row of sweep % 2 ? all.slice().reverse() : all) {
				for (const cell of row)
					cell.wish = cell[side].length ? mean(
						cell[side], (c) => c.x) : cell.x;
				settle(row);
			}
		}
	}

	function place(graph) {
		const edges = graph.edges.map((edge) => Object.assign({}, edge));
		const { rows: all, cells } = rows(graph.blocks, edges);

		untangle(all);
		spread(all);
		const flat = all.flat();
		const left = Math.min(...flat.map((c) => c.x - c.width / 2)) - 20;

		for (const cell of flat) {
			cell.x -= left;
			cell.y = cell.rank * (HEIGHT + RANK) + 24;
		}
		const right = Math.max(...flat.map((c) => c.x + c.width / 2));
		const back = edges.filter((e) => e.back);

		back.sort((a, b) => Math.abs(cells[a.from].rank - cells[a.to].rank) -
				    Math.abs(cells[b.from].rank - cells[b.to].rank));
		back.forEach((edge, i) => {
			edge.lane = right + 14 + i * LANE;
		});
		return { edges, cells,
			 width: right + 30 + back.length * LANE,
			 height: all.length * (HEIGHT + RANK) + 20 };
	}

	/* ---- picture ----------------------------------------------------- */

	const curve = d3.line().curve(d3.curveMonotoneY);
	const bend = d3.line().curve(d3.curveBasis);

	/* Spreads the ends of edges over the width of a block. */
	function ports(edges, cells) {
		const share = (list, end, of) => {
			list.sort((a, b) => of(a) - of(b));
			list.forEach((edge, i) => {
				edge[end] = (i + 1) / (list.length + 1) - 0.5;
			});
		};

		cells.forEach((cell, i) => {
			share(edges.filter((e) => e.from === i), 'out', (e) =>
				e.back ? Infinity : e.cells[1].x);
			share(edges.filter((e) => e.to === i), 'in', (e) =>
				e.back ? Infinity : e.cells[e.cells.length - 2].x);
		});
	}

	function way(edge, cells) {
		const from = cells[edge.from], to = cells[edge.to];
		const begin = [from.x + edge.out * WIDTH * 0.8, from.y + HEIGHT];
		const end = [to.x + edge.in * WIDTH * 0.8, to.y - 5];

		if (edge.back)
			return bend([begin, [begin[0], begin[1] + 14],
				     [edge.lane - 6, begin[1] + 20],
				     [edge.lane, begin[1] + 4],
				     [edge.lane, (begin[1] + end[1]) / 2],
				     [edge.lane, end[1] - 8],
				     [edge.lane - 6, end[1] - 20],
				     [end[0], end[1] - 18], end]);
		const inner = edge.cells.slice(1, -1).flatMap((c) =>
			[[c.x, c.y], [c.x, c.y + HEIGHT]]);

		return curve([begin, [begin[0], begin[1] + 8], ...inner,
			      [end[0], end[1] - 8], end]);
	}

	function arrow(to, edge) {
		const x = to.x + edge.in * WIDTH * 0.8, y = to.y;

		return `M${x - 4} ${y - 7}L${x} ${y}L${x + 4} ${y - 7}Z`;
	}

	function width(count, most) {
		return 1 + (THICKEST - 1) * Math.sqrt(count / most);
	}

	/* Returns an edge's share of the counts of all edges of its block. */
	function part(graph, edge) {
		const all = graph.edges.filter((e) => e.from === edge.from);

		return all.length < 2 ? null : edge.count /
			all.reduce((sum, e) => sum + e.count, 0);
	}

	function draw_edge(graph, edge, cells, most) {
		const share = part(graph, edge);
		const from = cells[edge.from];
		const group = svg('g', { class: 'edge ' + (edge.back ? 'back' :
			edge.kind === 'taken' ? 'taken' : 'next') },
		svg('title', {}, `${edge.kind} ${hwprof.count(edge.count)}` +
			(share === null ? '' : ', ' + hwprof.percent(share))),
		svg('path', { d: way(edge, cells), 'stroke-width':
			width(edge.count, most).toFixed(1) }),
		svg('path', { class: 'arrow', d: arrow(cells[edge.to], edge) }));

		const beside = width(edge.count, most) / 2 + 5;

		if (share !== null)
			group.append(svg('text', {
				x: from.x + edge.out * WIDTH * 0.8 +
				   (edge.out < 0 ? -beside : beside),
				y: from.y + HEIGHT + 14,
				'text-anchor': edge.out < 0 ? 'end' : 'start',
			}, hwprof.percent(share, share > 0.999 && share < 1 ? 2 : 1)));
		return group;
	}

	function draw_block(cell, index, most, choose) {
		const { block } = cell;
		const group = svg('g', {
			class: 'node', tabindex: 0, role: 'button',
			'aria-label': `block ${index + 1} at ${block.first}, ran ` +
				`${hwprof.count(block.count)} times`,
			transform: `translate(${cell.x - WIDTH / 2} ${cell.y})`,
			onclick: () => choose(index),
			onkeydown: (event) => {
				if (event.key === 'Enter' || event.key === ' ') {
					event.preventDefault();
					choose(index);
				}
			},
		}, svg('rect', { width: WIDTH, height: HEIGHT, rx: 4 }),
		svg('rect', { class: 'heat', width: WIDTH, height: HEIGHT, rx: 4,
			      'fill-opacity': (0.6 * block.count / most)
				      .toFixed(3) }),
		svg('text', { x: 8, y: 18, class: 'strong' },
			`${index + 1}  \u00d7 ${hwprof.count(block.count)}`),
		svg('text', { x: 8, y: 35 }, block.label));

		return group;
	}

	function label(graph, block, listing) {
		const line = listing.instructions(graph.object, block.first,
						  block.last)
			.find((i) => i.file);
		const text = line ? hwprof.line(line.file, line.line) :
				    block.first;

		return hwprof.clean(text, 24);
	}

	function picture(graph, listing, choose) {
		graph.blocks.forEach((block) => {
			block.label = label(graph, block, listing);
		});
		const all = place(graph);
		const busiest = Math.max(1, ...graph.blocks.map((b) => b.count));
		const most = Math.max(1, ...graph.edges.map((e) => e.count));

		ports(all.edges, all.cells);
		return svg('svg', {
			class: 'graph', width: all.width, height: all.height,
			role: 'group', 'aria-label': 'Control-flow graph of ' +
				hwprof.clean(graph.function || graph.address),
		}, all.edges.slice().sort((a, b) => a.count - b.count).map((edge) =>
			draw_edge(graph, edge, all.cells, most)),
		all.cells.map((cell, i) => draw_block(cell, i, busiest, choose)));
	}

	/* ---- a procedure -------------------------------------------------- */

	function show_block(element, graph, listing, index) {
		const block = graph.blocks[index];
		const out = graph.edges.filter((e) => e.from === index);

		hwprof.replace(element,
			h('h4', {}, `Block ${index + 1}`),
			hwprof.facts([
				['runs', hwprof.count(block.count)],
				['from', block.first], ['to', block.last],
				['instructions', block.instructions],
			]),
			hwprof.block(listing, graph.object, block.first,
				     block.last),
			out.length ? hwprof.plain('Where it leads',
				['block', 'way', 'times', 'share'], out.map((e) => [
				String(e.to + 1), e.kind, hwprof.count(e.count),
				hwprof.percent(part(graph, e) || 1)])) : null);
	}

	function show_graph(element, graph, listing) {
		const code = h('div', { class: 'side', 'aria-live': 'polite' });
		let hottest = 0;

		function choose(index) {
			element.querySelectorAll('.node').forEach((node, i) => {
				node.classList.toggle('chosen', i === index);
			});
			show_block(code, graph, listing, index);
		}

		/* Scrolls the graph, but not the page, to a block. */
		function reveal(index) {
			const frame = element.querySelector('.graph-box');
			const node = element.querySelectorAll('.node')[index]
				.getBoundingClientRect();
			const { left, top } = frame.getBoundingClientRect();

			frame.scrollTo(node.left - left - frame.clientWidth / 2 +
				node.width / 2, node.top - top -
				frame.clientHeight / 2 + node.height);
		}

		graph.blocks.forEach((block, i) => {
			if (block.count > graph.blocks[hottest].count)
				hottest = i;
		});
		hwprof.replace(element,
			h('h3', {}, 'Procedure ', hwprof.name(graph.function ||
				graph.address, graph.object)),
			h('p', { class: 'quiet' }, 'Blocks that ran. The width of ' +
				'an edge grows with its count; dashed edges fall ' +
				'through to the next instruction, and those on the ' +
				'right lead back.'),
			h('div', { class: 'beside' },
			  h('div', { class: 'scroll graph-box' },
			    picture(graph, listing, choose)), code));
		choose(hottest);
		reveal(hottest);
	}

	function procedures(element, data, listing) {
		const sum = (graph) => graph.blocks.reduce((s, b) => s + b.count, 0);
		const rows_ = data.graphs.map((graph) => ({ graph,
			runs: sum(graph) })).sort((a, b) => b.runs - a.runs);

		hwprof.add(element, h('h3', {}, 'Procedures'));
		hwprof.detailed(element, {
			label: 'Procedures with graphs', rows: rows_, columns: [
				hwprof.name_column('procedure', (r) =>
					r.graph.function || r.graph.address,
				(r) => r.graph.object, 'minmax(14em, 3fr)'),
				{ name: 'object', write: String,
				  value: (r) => hwprof.base(r.graph.object),
				  title: (r) => r.graph.object },
				{ name: 'runs of blocks', value: (r) => r.runs,
				  right: true },
				{ name: 'entered', right: true, value: (r) =>
					r.graph.blocks[0].count,
				about: 'runs of the first block' },
				{ name: 'blocks', right: true,
				  value: (r) => r.graph.blocks.length },
			], details: (box, r) => show_graph(box, r.graph, listing),
		});
	}

	/* ---- branches ------------------------------------------------------ */

	function show_branch(element, branch) {
		hwprof.replace(element,
			h('h3', {}, 'Branch ', hwprof.name(hwprof.code(branch.code),
				branch.code.object)),
			hwprof.facts([
				['kind', branch.kind],
				...hwprof.where(branch.code),
				['taken', hwprof.count(branch.taken)],
				['passed', branch.passed === null ? null :
					hwprof.count(branch.passed)],
				['bias', branch.bias === null ? null :
					hwprof.percent(branch.bias) + ' ' +
					hwprof.interval(branch.bias_low,
						branch.bias_high, hwprof.percent)],
				['mispredicted', branch.mispredicted === null ?
					null : hwprof.count(branch.mispredicted)],
			]), branch.targets.length ? hwprof.plain('Where it led',
				['target', 'source', 'times', 'share', ''],
				branch.targets.map((t) => [
					hwprof.name(hwprof.code(t.code),
						    t.code.object || '?'),
					hwprof.clean(hwprof.line(t.code.file,
								 t.code.line)),
					hwprof.count(t.count),
					hwprof.percent(t.share),
					hwprof.bar(t.share, null, null, 1)])) :
				h('p', {}, 'No target was seen.'));
	}

	const columns = [
		hwprof.name_column('branch', (b) => hwprof.code(b.code),
				   (b) => b.code.object),
		hwprof.source_column((b) => b.code),
		{ name: 'kind', value: (b) => b.kind || '', write: String,
		  width: '10em' },
		{ name: 'share', value: (b) => b.share, right: true,
		  write: hwprof.percent, width: '6em' },
		{ name: 'taken', value: (b) => b.taken, right: true },
		{ name: 'passed', value: (b) => b.passed, right: true },
		{ name: 'bias', value: (b) => b.bias, right: true, width: '14em',
		  about: 'how often it was taken, with its 95 % interval',
		  write: hwprof.percent, draw: (b) => b.bias === null ? null :
			hwprof.bar(b.bias, b.bias_low, b.bias_high, 1) },
		{ name: 'mispredicted', value: (b) => b.mispredicted, right: true,
		  width: '8em' },
		{ name: 'targets', value: (b) => b.targets.length, right: true,
		  width: '6em' },
	];

	hwprof.graph = function (element, data) {
		const { branches } = data.report;

		if (data.graphs && data.graphs.length)
			procedures(element, data, hwprof.listing(data));
		else
			hwprof.add(element, h('p', { class: 'quiet' }, 'There are no ' +
				'graphs, since the code of no procedure could be ' +
				'read.'));
		hwprof.add(element, h('h3', {}, 'Branches'));
		hwprof.detailed(element, {
			label: 'Branches', rows: branches, columns,
			details: show_branch, none: 'No branch was counted.',
		});
	};
})();
