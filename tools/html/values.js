// SPDX-License-Identifier: GPL-2.0-only
/* Loads: classes and values. */
'use strict';

(function () {
	const h = hwprof.element;
	const CLASSES = ['constant', 'zero', 'stride', 'glacial', 'varying'];
	const ABOUT = {
		constant: 'nearly always the same value', zero: 'nearly always 0',
		stride: 'mostly the previous value plus a fixed stride',
		glacial: 'nearly always the previous value',
		varying: 'in none of the other ways',
	};

	function name(load) {
		return hwprof.place(load.function, load.function_offset,
				    load.address);
	}

	const first = (load) => load.values[0] || {};

	function chip(class_) {
		return h('span', { class: 'chip ' + (CLASSES.includes(class_) ?
			class_ : '') }, hwprof.clean(class_));
	}

	/* One bar: how much of all executions each class has. */
	function classes(loads) {
		const sum = (rows) => rows.reduce((s, l) => s + l.executions, 0);
		const all = sum(loads) || 1;
		const parts = CLASSES.map((class_) => {
			const own = loads.filter((l) => l.class === class_);

			return { class_, loads: own.length, share: sum(own) / all };
		}).filter((part) => part.loads);
		const bar = h('div', { class: 'stack', role: 'img', 'aria-label':
			parts.map((p) => p.class_ + ' ' + hwprof.percent(p.share))
				.join(', ') });

		for (const part of parts) {
			const piece = h('div', { class: part.class_ });

			piece.style.flexGrow = part.share;
			bar.append(piece);
		}
		return [bar, hwprof.plain('Classes of loads',
			['class', 'executions', 'loads', 'values are'],
			parts.map((p) => [chip(p.class_), hwprof.percent(p.share),
					  hwprof.count(p.loads), ABOUT[p.class_]]))];
	}

	function values(load) {
		return hwprof.plain('Its values', ['value', 'executions',
			'invariance', '', 'interval'], load.values.map((v) => [
			v.value, hwprof.count(v.hits), hwprof.percent(v.invariance),
			hwprof.bar(v.invariance, v.low, v.high, 1),
			hwprof.interval(v.low, v.high, hwprof.percent)]));
	}

	function details(element, load) {
		hwprof.replace(element, h('h3', {}, 'Load ', hwprof.name(name(load),
			load.object)),
		hwprof.facts([
			...hwprof.where(load),
			['class', chip(load.class)],
			['bytes', load.width],
			['executions', hwprof.count(load.executions)],
			['seen', hwprof.count(load.seen)],
			['runs of one value', load.runs === null ? null :
				hwprof.count(load.runs)],
			['stride', load.stride],
			['strides', load.strides && hwprof.count(load.strides)],
			hwprof.basis(load.basis),
		]), values(load));
	}

	const columns = [
		hwprof.name_column('load', name, (l) => l.object),
		hwprof.source_column((l) => l),
		{ name: 'class', value: (l) => l.class, text: () => '',
		  draw: (l) => chip(l.class), title: (l) => ABOUT[l.class],
		  width: '7em' },
		{ name: 'executions', value: (l) => l.executions, right: true },
		{ name: 'share', value: (l) => l.share, right: true,
		  write: hwprof.percent, width: '6em' },
		{ name: 'most frequent value', text: (l) => first(l).value || '-',
		  right: true, width: '12em' },
		{ name: 'invariance', value: (l) => first(l).invariance,
		  right: true, write: hwprof.percent, width: '14em',
		  about: 'how often it was the most frequent value',
		  draw: (l) => hwprof.bar(first(l).invariance, first(l).low,
					  first(l).high, 1) },
		{ name: 'interval', right: true, width: '12em',
		  text: (l) => hwprof.interval(first(l).low, first(l).high,
					       hwprof.percent) },
	];

	hwprof.values = function (element, data) {
		const { loads, completeness } = data.report;

		if (loads.length)
			hwprof.add(element, hwprof.facts([['of all loads that ran',
				completeness === null ? null :
				hwprof.percent(completeness)]]), ...classes(loads));
		hwprof.detailed(element, {
			label: 'Loads', rows: loads, columns,
			search: (l) => name(l) + ' ' + l.object + ' ' + l.file +
				' ' + l.class,
			details, none: 'No load was seen.',
		});
	};
})();
