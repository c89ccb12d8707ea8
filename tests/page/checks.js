// SPDX-License-Identifier: GPL-2.0-only
/* What tests of pages share. A page may be a frame, too. */
'use strict';

let done = 0, failed = 0;

async function check(what, test) {
	const wrong = [];
	const equal = (is, expected, about = '') => {
		if (JSON.stringify(is) !== JSON.stringify(expected))
			wrong.push(`${about}: ${JSON.stringify(is)}, expected ` +
				   JSON.stringify(expected));
	};

	try {
		await test(equal);
	} catch (error) {
		wrong.push(...String(error.stack).split('\n').slice(0, 8));
	}
	failed += wrong.length > 0;
	console.log(`${wrong.length ? 'not ok' : 'ok'} ${++done} - ${what}`);
	for (const line of wrong.slice(0, 20))
		console.log('# ' + line.slice(0, 500));
}

/* Rows of a table that are in sight: the texts of their cells. */
function rows(page, label) {
	return page.evaluate((name) => {
		const grid = document.querySelector(`[aria-label="${name}"]`);
		const all = [...grid.querySelectorAll('.space .row')];

		all.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex);
		return all.map((row) => [...row.children].map((cell) =>
			cell.querySelector('.text').textContent));
	}, label);
}

/* Contrast of text on its ground, by WCAG. */
function contrast(page) {
	return page.evaluate(() => {
		const parse = (text) => text.match(/[\d.]+/g).map(Number);
		const light = (text) => {
			const [r, g, b] = parse(text).map((v) => {
				const c = v / 255;

				return c <= 0.03928 ? c / 12.92 :
				       ((c + 0.055) / 1.055) ** 2.4;
			});

			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const ground = (element) => {
			const colour = getComputedStyle(element).backgroundColor;

			return !element.parentElement || (parse(colour)[3] !== 0) ?
				colour : ground(element.parentElement);
		};
		const wrong = new Set();

		for (const element of document.querySelectorAll('body *')) {
			if (!element.checkVisibility() || !element.innerText ||
			    element.namespaceURI.endsWith('svg'))
				continue;
			const x = light(getComputedStyle(element).color);
			const y = light(ground(element));
			const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);

			if (ratio < 4.5)
				wrong.add(element.tagName + '.' + element.className +
					  ' ' + ratio.toFixed(2));
		}
		return [...wrong];
	});
}

/* What can be focused, and has no name. */
function nameless(page) {
	return page.evaluate(() => [...document.querySelectorAll(
		'a, button, input, select, iframe, [tabindex]')].filter((e) =>
		!(e.getAttribute('aria-label') ||
		  e.getAttribute('aria-labelledby') || e.title ||
		  e.textContent || (e.labels && e.labels.length)))
		.map((e) => e.outerHTML.slice(0, 80)));
}

/* Ends the test, with its exit status. */
function finish() {
	console.log(`1..${done}`);
	process.exit(failed ? 1 : 0);
}

module.exports = { check, contrast, finish, nameless, rows };
