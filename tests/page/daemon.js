// SPDX-License-Identifier: GPL-2.0-only
/*
 * daemon.js FOLDER: opens the page of the hwprofd at $PORT in chromium, and
 * compares what it shows with what /api/v1 says. $LOCAL_PORT leads to its local
 * socket. Prints TAP. Pictures are left in FOLDER.
 */
'use strict';

const { execFileSync } = require('child_process');
const path = require('path');
const { chromium } = require('playwright-core');
const { check, contrast, finish, nameless, rows } = require('./checks');

const folder = path.resolve(process.argv[2]);
const origin = `http://127.0.0.1:${process.env.PORT}`;
const local = `http://127.0.0.1:${process.env.LOCAL_PORT}`;
const count = (number) => number === null ? '-' : number.toLocaleString('en-US');
const date = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19)
	.replace('T', ' ');
const ROW = 10, COLUMN = 60, COLUMNS = 60;
let browser;

const api = async (question, from = origin) => (await fetch(from + '/api/v1/' +
	question)).json();

/* ---- the page ------------------------------------------------------------- */

/* Notes whatever the policy refuses, in all frames. */
function watch() {
	window.refused = [];
	document.addEventListener('securitypolicyviolation', (event) =>
		window.refused.push(event.violatedDirective + ' ' +
				    event.blockedURI));
}

async function refusals(page) {
	const all = [];

	for (const frame of page.frames())
		all.push(...await frame.evaluate(() => window.refused || []));
	return all;
}

/*
 * Opens the page, calls test with it, and takes a picture. Requests of other
 * servers, what the policy refuses, and messages on the console are errors;
 * options.sentence: but for those of a request that fails.
 */
async function visit(name, options, test) {
	const { sentence, address, server = origin, ...more } = options;
	const context = await browser.newContext({
		viewport: { width: 1300, height: 1000 }, ...more,
	});
	const page = await context.newPage();
	const said = [];

	await context.addInitScript(watch);
	page.on('console', (message) => {
		if (!sentence || !/^Failed to load resource/.test(message.text()))
			said.push(message.text());
	});
	page.on('pageerror', (error) => said.push(String(error.stack)));
	page.on('request', (request) => {
		if (!request.url().startsWith(server + '/'))
			said.push('request of ' + request.url());
	});
	try {
		await page.goto(server + '/' + (address || ''));
		await page.waitForSelector('.time-map svg');
		await page.waitForSelector('[aria-label=Builds] .space .row');
		await test(page);
		said.push(...await refusals(page));
		await page.screenshot({ fullPage: true,
					path: path.join(folder, name + '.png') });
		if (said.length)
			throw new Error(said.join('\n'));
	} finally {
		await context.close();
	}
}

/* The first second that a page shows. */
async function first(page) {
	return Date.parse((await page.textContent('.ends span')).replace(' ', 'T') +
			  'Z') / 1000;
}

/* What a page of the last hour shows: the windows, and the first second. */
async function shown(page) {
	const from = await first(page);
	const { now } = await api('now');
	const { windows } = await api(`windows?from=${from}&to=${now + 1}`);

	return { windows, from, now };
}

const units = (w) => Object.values(w.units).reduce((sum, n) => sum + n, 0);

/* The units by the second in each cell of the last hour; null: no window. */
function cells({ windows, from }) {
	return Array.from({ length: COLUMN / ROW * COLUMNS }, (_, i) => {
		const low = from + i * ROW, high = low + ROW;
		let sum = 0, seconds = 0;

		for (const w of windows) {
			const inside = Math.min(w.to, high) - Math.max(w.from, low);

			if (inside > 0) {
				sum += units(w) * inside / (w.to - w.from);
				seconds += inside;
			}
		}
		return seconds ? sum / Math.min(seconds, ROW) : null;
	});
}

/* Where the middle of a time's cell is, in the box of the heat map. */
async function cell_at(page, time) {
	const from = await first(page);
	const map = page.locator('.time-map');

	await map.scrollIntoViewIfNeeded();
	const box = await map.boundingBox();
	const ground = await page.locator('.time-map svg').boundingBox();
	const i = Math.floor((time - from) / ROW);
	const width = (box.width - 2 - 64 - 4) / COLUMNS;
	const height = (ground.height - 22) / (COLUMN / ROW);

	return [box.x + 1 + 64 + (Math.floor(i / 6) + 0.5) * width,
		box.y + 1 + 4 + (i % 6 + 0.5) * height];
}

const choice = (page) => page.textContent('fieldset.choice strong');
const before = (page) => page.textContent('fieldset.before strong');

/* Opens what is chosen; returns the frame, when it has drawn itself. */
async function open(page) {
	await page.click('text="Show the profile"');
	const frame = page.frameLocator('iframe');

	await frame.locator('[role=tab]').first().waitFor();
	return page.frames()[1];
}

async function tab(frame, kind) {
	await frame.click('#tab-' + kind);
	await frame.waitForSelector(`#panel-${kind} [role=status]`);
	await frame.waitForSelector(`#panel-${kind} > p:text("Reading")`, {
		state: 'detached',
	});
}

/* A recent window, and one before it, both in memory. */
async function two_windows(page) {
	const all = (await shown(page)).windows.filter((w) => w.level === 'memory');

	return [all[all.length - 1], all[all.length - 3]];
}

/* ---- what is shown -------------------------------------------------------- */

const lint = () => check('eslint finds nothing', (equal) =>
	equal(process.env.LINT, '0', 'its status'));

async function windows() {
	await check('windows and builds are those of /api/v1', (equal) =>
		visit('front-light', {}, async (page) => {
			const all = (await shown(page)).windows.reverse();
			const { builds } = await api('builds?seconds=3600');
			const table = await rows(page, 'Windows');

			equal(all.length > 10, true, 'there are windows');
			equal(table.length, Math.min(all.length, 23), 'rows');
			all.slice(0, 10).forEach((w, i) => equal(
				[table[i][0], table[i][1], table[i][2], table[i][3],
				 table[i][4]],
				[date(w.from), date(w.to), w.level, count(units(w)),
				 count(w.account.lost)], `window ${i}`));
			const names = (await rows(page, 'Builds')).map((r) => r[1]);

			equal(names.sort(), ['', ...builds.map((b) => b.build_id
				.slice(0, 12))].sort(), 'builds');
			const status = await page.textContent('header [role=status]');

			equal(status.includes('the collector is not connected'), true,
			      status);
		}));
	await check('strips have a bar for each window, and the budget', (equal) =>
		visit('strips', {}, async (page) => {
			const all = (await shown(page)).windows;

			for (const name of ['units', 'cost', 'lost'])
				equal(await page.locator(`[data-measure=${name}] .fill`)
					.count(), all.length, name);
			equal(await page.textContent('.budget text'),
			      'budget 1.0\u00a0%', 'budget');
			const cost = all[all.length - 1].account;
			const label = await page.getAttribute('[data-measure=cost] ' +
				'svg', 'aria-label');

			equal(label.endsWith('at last ' + (100 * cost.cost_ns /
				cost.task_ns).toFixed(2) + '\u00a0%'), true, label);
		}));
	await check('the heat map has the units of windows in its cells', (equal) =>
		visit('front-dark', { colorScheme: 'dark' }, async (page) => {
			const expected = cells(await shown(page));
			const most = Math.max(...expected);
			const heat = await page.locator('.time-map .heat')
				.evaluateAll((all) => all.map((e) =>
					e.getAttribute('fill-opacity')));

			equal(await page.locator('.time-map .ground').count(),
			      expected.filter((v) => v !== null).length, 'cells');
			equal(heat, expected.filter((v) => v).map((v) =>
				(v / most).toFixed(3)), 'heat');
		}));
	await check('longer times have other columns, and older windows', (equal) =>
		visit('weeks', {}, async (page) => {
			const all = (await api('windows?from=1&to=9999999999')).windows;
			const now = (await shown(page)).windows;
			const row_count = () => page.getAttribute(
				'[aria-label=Windows] [role=grid]', 'aria-rowcount');
			const some = await row_count();
			const hour = await page.textContent('.legend');

			await page.selectOption('.tools select >> nth=0', 'weeks');
			/* A machine that has started lately has no more rows. */
			await page.waitForFunction((before) => document.querySelector(
				'.legend').textContent !== before, hour);
			await page.waitForFunction((n) => document.querySelector(
				'[aria-label=Windows] [role=grid]').ariaRowCount === n,
			String(all.length + 1));
			equal(Number(some), now.length + 1, 'the last hour');
			const legend = await page.textContent('.legend');

			equal(legend.startsWith('A column is a day, a row 10 min'),
			      true, legend);
			await page.click('text="Earlier"');
			await page.waitForFunction(() => document.querySelector(
				'[aria-label=Windows] [role=grid]').ariaRowCount === '1');
			await page.click('text="Now"');
			await page.waitForFunction((n) => document.querySelector(
				'[aria-label=Windows] [role=grid]').ariaRowCount === n,
			String(all.length + 1));
		}));
}

/* ---- choosing -------------------------------------------------------------- */

async function loops_of(frame, equal, question) {
	await tab(frame, 'loops');
	const { loops } = await api('profile/loops?' + question);
	const table = await rows(frame, 'Loops');

	equal(table.map((r) => [r[0], r[5]]), loops.map((l) =>
		[l.function, count(l.back_edges_seen)]), 'loops');
}

async function mouse() {
	await check('a cell is chosen by the mouse, and its profile opened', (equal) =>
		visit('profile', {}, async (page) => {
			const [w] = await two_windows(page);
			const low = Math.floor(w.from / ROW) * ROW;

			await page.mouse.click(...await cell_at(page, w.from));
			equal((await choice(page)).startsWith(
				`${date(low)} to ${date(low + ROW).slice(11)} (10 s), `),
			true, await choice(page));
			equal(await page.locator('.outline.choice').count(), 1,
			      'outline');
			const frame = await open(page);

			equal(await frame.textContent('.files'),
			      `${date(low)} to ${date(low + ROW).slice(11)} UTC`,
			      'its time');
			await loops_of(frame, equal, `from=${low}&to=${low + ROW}`);
			equal(await page.getAttribute('a', 'href'),
			      `page?from=${low}&to=${low + ROW}`, 'link');
		}));
	await check('a time is drawn with the mouse over columns', (equal) =>
		visit('drawn', {}, async (page) => {
			const { now } = await shown(page);
			const low = Math.floor((now - 320) / ROW) * ROW;

			await page.mouse.move(...await cell_at(page, low));
			await page.mouse.down();
			await page.mouse.move(...await cell_at(page, low + 150));
			await page.mouse.up();
			await page.mouse.move(...await cell_at(page, low + 10));
			equal((await choice(page)).startsWith(date(low) + ' to ' +
				date(low + 160).slice(11)), true, await choice(page));
		}));
	await check('a bar, or a row of the table, chooses its window', (equal) =>
		visit('bar', {}, async (page) => {
			const all = (await shown(page)).windows;
			const w = all[all.length - 2];
			const text = (it) => `${date(it.from)} to ` +
				date(it.to).slice(11);

			await page.click('[aria-label=Windows] .space ' +
				'[aria-rowindex="2"]');
			equal((await choice(page)).startsWith(
				text(all[all.length - 1])), true, 'row');
			await page.locator('[data-measure=units] .fill').nth(
				all.length - 2).click({ force: true });
			equal((await choice(page)).startsWith(text(w)), true, 'bar');
		}));
	await check('a build alone: its windows, and its profile', (equal) =>
		visit('build', {}, async (page) => {
			const { builds } = await api('builds?seconds=3600');
			const build = builds.find((b) => b.object.endsWith('record'));
			const [w] = await two_windows(page);

			await page.click('[aria-label=Windows] .space ' +
				'[aria-rowindex="2"]');
			await page.click(`[aria-label=Builds] .row:has-text("${
				build.build_id.slice(0, 12)}")`);
			await page.waitForSelector('.facts dd:text-is("' +
				build.build_id.slice(0, 12) + '")');
			const one = (await api('windows?seconds=3600&build_id=' +
				build.build_id)).windows;

			await page.waitForFunction((text) => document.querySelector(
				'.facts').textContent.includes(text), count(one.reduce(
				(sum, it) => sum + units(it), 0)));
			const frame = await open(page);

			await loops_of(frame, equal, `from=${w.from}&to=${w.to}` +
				       `&build_id=${build.build_id}`);
			equal((await frame.textContent('.files')).endsWith(', build ' +
				build.build_id), true, 'title');
		}));
}

async function comparisons() {
	await check('two times are compared', (equal) =>
		visit('comparison', {}, async (page) => {
			const [after, old] = await two_windows(page);
			const cell = (w) => Math.floor(w.from / ROW) * ROW;

			await page.mouse.click(...await cell_at(page, after.from));
			await page.check('fieldset.before input[type=radio]');
			await page.mouse.click(...await cell_at(page, old.from));
			equal(await page.locator('.outline').count(), 2, 'outlines');
			const frame = await open(page);
			const title = await frame.textContent('header');

			equal([title.includes('\u2192'), title.includes('comparison')],
			      [true, true], title);
			equal(title.indexOf(date(cell(old))) <
			      title.indexOf(date(cell(after))), true, title);
			await tab(frame, 'loops');
			const { diff } = await frame.evaluate(() => hwprof.unpack(
				document.getElementById('data-loops').textContent));
			const seen = (loops) => loops.filter((l) => l).map((l) =>
				l.build_id + ' ' + l.back_edges_seen).sort();

			for (const [side, w] of [['before', old], ['after', after]])
				equal(seen(diff.changes.map((c) => c[side])),
				      seen((await api(`profile/loops?from=${cell(w)}` +
					`&to=${cell(w) + ROW}`)).loops), side);
		}));
	await check('two builds of one time are compared, and times exchanged',
		(equal) => visit('builds', {}, async (page) => {
			const { builds } = await api('builds?seconds=3600');
			const [one, two] = builds.map((b) => b.build_id);

			await page.click('[aria-label=Windows] .space ' +
				'[aria-rowindex="2"]');
			const time = (await page.getAttribute('a', 'href'))
				.match(/from=\d+&to=\d+/)[0];

			await page.click(`[aria-label=Builds] .row:has-text("${
				one.slice(0, 12)}")`);
			await page.selectOption('fieldset.before select', two);
			equal(await page.getAttribute('a', 'href'), `page?${time}` +
				`&build_id=${one}&diff_build_id=${two}`, 'link');
			await page.click('text="Exchange the times"');
			equal(await page.isDisabled('text="Show the profile"'), true,
			      'no time is left');
			equal((await before(page)).includes('window'), true,
			      await before(page));
		}));
	await check('the choice is in the address, and comes back with it', (equal) =>
		visit('address', { address: '#from=100&to=200&diff_from=5&diff_to=9' +
			'&build_id=ab12&show=day&end=1e9' }, async (page) => {
			equal([await choice(page), await before(page)].map((text) =>
				text.split(' (')[0]), ['1970-01-01 00:01:40 to 00:03:20',
						       '1970-01-01 00:00:05 to 00:00:09'],
			'times');
			equal((await page.textContent('.legend')).startsWith(
				'A column is an hour'), true, 'hours');
			equal(await page.getAttribute('a', 'href'), 'page?from=100&' +
				'to=200&diff_from=5&diff_to=9&build_id=ab12', 'link');
		}));
	await check('what cannot be answered is a sentence', (equal) =>
		visit('sentence', { sentence: true, address: '#from=100&to=200' },
		      async (page) => {
			await page.click('text="Show the profile"');
			await page.waitForSelector('p.trouble:text("nothing was")');
			equal(await page.isVisible('iframe'), false, 'frame');
		}));
}

/* ---- values and ranges ----------------------------------------------------- */

const DATA = '[aria-label="Values and ranges"]';
const percent = (share) => (100 * share).toFixed(2) + '\u00a0%';

/* A time in which there are values and ranges. */
async function data_time() {
	const { now } = await api('now');

	return `from=${now - 400}&to=${now}`;
}

async function open_data(page) {
	await page.click('text="Show values and ranges"');
	await page.waitForSelector(DATA + ' h3 >> nth=1');
}

async function ranges() {
	await check('ranges by time: the shares of each window', async (equal) => {
		const time = await data_time();

		await visit('ranges', { server: local, address: '#' + time },
			async (page) => {
			const { columns, report } = await api('ranges?' + time, local);
			const share = (i, c) => c.own[i] / c.events;

			await open_data(page);
			const most = Math.max(...report.ranges.flatMap((_, i) =>
				columns.map((c) => share(i, c))));
			const heat = await page.locator('.range-map .heat')
				.evaluateAll((all) => all.map((e) =>
					e.getAttribute('fill-opacity')));

			equal([columns.length > 3, report.ranges.length], [true, 3],
			      'there are windows and ranges');
			equal(heat, report.ranges.flatMap((_, i) => columns.map((c) =>
				(share(i, c) / most).toFixed(3))), 'heat');
			equal((await page.textContent('.range-map text'))
				.startsWith('outside hot ranges'), true, 'name');
			const table = await rows(page, 'Hot ranges, as a tree');

			equal(table.map((r) => r[4]), report.ranges.map((r) =>
				percent(r.share)), 'the whole time');
		});
	});
	await check('ranges by time work with the keyboard', async (equal) => {
		const time = await data_time();

		await visit('ranges-keys', { server: local, address: '#' + time },
			async (page) => {
			const { columns, report } = await api('ranges?' + time, local);
			const last = columns[columns.length - 1];
			const live = () => page.textContent('.range-map + p');

			await open_data(page);
			await page.focus('.range-map');
			await page.keyboard.press('ArrowUp');
			equal((await live()).startsWith('outside hot ranges, ' +
				date(last.from)), true, await live());
			await page.keyboard.press('ArrowDown');
			await page.keyboard.press('Home');
			equal(await live(), `${report.ranges[1].low}\u2013${
				report.ranges[1].high} in //anon, ${date(columns[0]
				.from)} to ${date(columns[0].to).slice(11)}: ${percent(
				columns[0].own[1] / columns[0].events)} of all ` +
				`events, ${count(columns[0].own[1])} of ${
					count(columns[0].events)}`, 'a cell');
			await page.keyboard.press('End');
			await page.keyboard.press('Enter');
			equal((await choice(page)).startsWith(`${date(last.from)} to ` +
				date(last.to).slice(11)), true, await choice(page));
			equal(await nameless(page), [], 'names');
		});
	});
}

async function values() {
	await check('values: classes, and loads as /api/v1 has them', async (equal) => {
		const time = await data_time();

		await visit('values', { server: local, address: '#' + time,
					colorScheme: 'dark' }, async (page) => {
			const { loads } = await api('profile/values?' + time, local);

			await open_data(page);
			equal((await rows(page, 'Loads')).map((r) => [r[0], r[3]]),
			      loads.map((l) => [l.function, count(l.executions)]),
			      'loads');
			const table = page.locator(DATA + ' table', {
				hasText: 'Classes of loads',
			});

			equal(await table.locator('tbody td').allTextContents(),
			      ['constant', percent(1), count(loads.length),
			       'nearly always the same value'], 'classes');
			equal(await contrast(page), [], 'contrast');
		});
	});
	await check('without values and ranges a line says how to get them', (equal) =>
		visit('no-data', { server: local, sentence: true,
				   address: '#from=100&to=200' }, async (page) => {
			await open_data(page);
			const text = await page.textContent(DATA);

			for (const line of ['ranges = ranges,range_of=load-address',
					    'values = values'])
				equal(text.includes(line), true, text);
		}));
	await check('who may not see values and ranges gets a sentence', (equal) =>
		visit('no-right', { sentence: true, address: '#from=100&to=200' },
		      async (page) => {
			const answers = [];

			page.on('response', (answer) => answers.push(answer.status()));
			await open_data(page);
			const text = await page.locator(DATA + ' .trouble')
				.allTextContents();

			equal(text.map((t) => t.includes('root and values_group')),
			      [true, true], text.join());
			equal(answers.filter((s) => s !== 200), [403, 403], 'status');
		}));
}

/* ---- keys, refreshing, colours, rights ------------------------------------- */

async function keyboard() {
	await check('all of it works with the keyboard', (equal) =>
		visit('keyboard', {}, async (page) => {
			const on_map = () => page.evaluate(() => document.activeElement
				.classList.contains('time-map'));

			for (let i = 0; i < 20 && !await on_map(); i++)
				await page.keyboard.press('Tab');
			equal(await on_map(), true, 'Tab comes to the heat map');
			await page.keyboard.press('ArrowUp');
			const live = () => page.textContent('.time-map + [role=status]');
			const first = await live();

			await page.keyboard.press('ArrowLeft');
			await page.keyboard.press('ArrowDown');
			equal(await live() === first, false, await live());
			await page.keyboard.press('Enter');
			equal(await choice(page) === 'none chosen', false, 'Enter');
			equal((await choice(page)).includes('(10 s)'), true, 'a cell');
			await page.keyboard.press('Shift+ArrowDown');
			await page.keyboard.press('Shift+ArrowLeft');
			equal((await choice(page)).includes('(60 s)') ||
			      (await choice(page)).includes('(1 min)'), true,
			await choice(page));
			await page.keyboard.press('Escape');
			equal(await choice(page), 'none chosen', 'Escape');
			await page.keyboard.press('Home');
			await page.keyboard.press('Enter');
			await page.keyboard.press('End');
			await page.keyboard.press('Shift+Enter');
			equal((await choice(page)).includes('(1 h)'), true,
			      await choice(page));
			const path_ = await page.getAttribute('.outline.choice', 'd');

			equal(path_.match(/M/g).length, 1, 'whole columns are one');
			await page.focus('text="Show the profile"');
			await page.keyboard.press('Enter');
			await page.frameLocator('iframe').locator('[role=tab]').first()
				.waitFor();
		}));
	await check('a time is written into fields', (equal) =>
		visit('fields', {}, async (page) => {
			await page.fill('[aria-label="Time: from (UTC)"]',
					'2026-01-02T03:04:05');
			await page.fill('[aria-label="Time: to (UTC)"]',
					'2026-01-02T03:05:05');
			await page.keyboard.press('Tab');
			equal((await choice(page)).startsWith('2026-01-02 03:04:05 to ' +
				'03:05:05 (1 min), 0 windows'), true,
			await choice(page));
		}));
}

async function refreshing() {
	await check('new windows come by themselves, and the choice stays', (equal) =>
		visit('refreshed', {}, async (page) => {
			const newest = async () => (await rows(page, 'Windows'))[0][0];

			await page.click('[aria-label=Windows] .space ' +
				'[aria-rowindex="2"]');
			const old = await newest(), chosen = await choice(page);

			execFileSync(process.env.SEND, [path.join(folder, 'collect'),
				'0', path.join(folder, 'one')]);
			await page.waitForFunction((text) => [...document
				.querySelectorAll('[aria-label=Windows] .space .row')]
				.some((r) => r.ariaRowIndex === '2' &&
					!r.textContent.startsWith(text)), old);
			equal(await choice(page), chosen, 'choice');
			equal(await page.getAttribute('[aria-label=Windows] ' +
				'[aria-selected=true]', 'aria-rowindex'), '3', 'row');
		}));
}

async function colours() {
	for (const colorScheme of ['light', 'dark'])
		await check(`${colorScheme}: text has a contrast of 4.5`, (equal) =>
			visit('contrast-' + colorScheme, { colorScheme },
			      async (page) => {
				equal(await contrast(page), [], 'page');
				await page.click('[aria-label=Windows] .space ' +
					'[aria-rowindex="2"]');
				equal(await contrast(await open(page)), [], 'profile');
			}));
	await check('all that can be focused has a name', (equal) =>
		visit('names', {}, async (page) => {
			await page.click('[aria-label=Windows] .space ' +
				'[aria-rowindex="2"]');
			await open(page);
			equal(await nameless(page), [], 'page');
		}));
	await check('a narrow window scrolls tables, not the page', (equal) =>
		visit('narrow', { viewport: { width: 420, height: 800 } },
		      async (page) => equal(await page.evaluate(() => document
			.documentElement.scrollWidth <= window.innerWidth), true,
		      'width')));
}

async function hostile() {
	await check('names are text, whatever they are', (equal) =>
		visit('hostile', {}, async (page) => {
			const names = (await rows(page, 'Builds')).map((r) => r[0]);

			equal(names.some((n) => n.startsWith('<img src=x onerror=') &&
				n.endsWith('>\\u{202e}')), true, names.join());
			equal(await page.locator('img').count(), 0, 'elements');
			equal(await page.evaluate(() => window.pwned), undefined, 'ran');
		}));
	await check('the policy lets no other script run, and no server be asked',
		async (equal) => {
			const page = await browser.newPage();
			const answer = await page.goto(origin + '/');
			const policy = answer.headers()['content-security-policy'];

			equal(/^default-src 'none'; /.test(policy), true, policy);
			equal(/unsafe|http|\*/.test(policy), false, policy);
			await page.evaluate(watch);
			await page.evaluate(() => {
				const script = document.createElement('script');

				script.textContent = 'window.pwned = "ran"';
				document.body.append(script);
				document.body.append(Object.assign(
					document.createElement('img'),
					{ src: 'http://127.0.0.2/' }));
				return fetch('http://127.0.0.2/').catch(() => 0);
			});
			await page.waitForFunction(() => window.refused.length === 3);
			equal(await page.evaluate(() => window.pwned), undefined, 'ran');
			await page.close();
		});
}

(async () => {
	browser = await chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		args: ['--no-sandbox'],
	});
	for (const part of [lint, windows, mouse, comparisons, ranges, values, keyboard,
			    refreshing, colours, hostile])
		await part();
	await browser.close();
	finish();
})();
