// SPDX-License-Identifier: GPL-2.0-only
/*
 * browser.js FOLDER: opens the pages of run in chromium, and compares what they
 * show with the JSON of hwprof report and replay. speedscope opens an export.
 * Prints TAP. Pictures of all pages are left in FOLDER.
 */
'use strict';

const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');
const { check, contrast, finish, nameless, rows } = require('./checks');

const folder = path.resolve(process.argv[2]);
const json = (name) => JSON.parse(fs.readFileSync(path.join(folder, name)));
const count = (number) => number === null ? '-' : number.toLocaleString('en-US');
const percent = (share) => (100 * share).toFixed(2) + '\u00a0%';
let browser;

/* ---- pages ---------------------------------------------------------------- */

/*
 * Opens a page, calls test with it, and takes a picture. Whatever the page says
 * on its console, and each request but the one for itself, is an error.
 */
async function visit(name, options, test) {
	const context = await browser.newContext({
		viewport: { width: 1300, height: 1000 }, ...options,
	});
	const page = await context.newPage();
	const said = [];

	page.on('console', (message) => said.push(message.text()));
	page.on('pageerror', (error) => said.push(String(error.stack)));
	page.on('request', (request) => {
		if (!request.isNavigationRequest())
			said.push('request of ' + request.url());
	});
	await page.goto('file://' + path.join(folder, name));
	await page.waitForSelector('[role=tab]');
	try {
		await test(page);
		await page.screenshot({ fullPage: true, path: path.join(folder,
			name.replace('.html', `-${options.colorScheme || 'light'}.png`)) });
		if (said.length)
			throw new Error(said.join('\n'));
	} finally {
		await context.close();
	}
}

/* The data that the page has, as its own function reads it. */
const data = (page, kind) => page.evaluate((id) => hwprof.unpack(
	document.getElementById('data-' + id).textContent), kind);

async function tab(page, kind) {
	await page.click('#tab-' + kind);
	await page.waitForSelector(`#panel-${kind} [role=status]`);
	await page.waitForSelector(`#panel-${kind} > p:text("Reading")`, {
		state: 'detached',
	});
}

const grid = (page, label) => page.locator(`[aria-label="${label}"]`);
const place = (code) => code.function ? code.function + (code.function_offset ?
	'+0x' + code.function_offset.toString(16) : '') : code.address;

/* ---- numbers ------------------------------------------------------------- */

/*
 * Branches that ran equally often have no order of their own, nor have sums of
 * floating-point numbers, of which intervals are made.
 */
function sorted(report) {
	const result = JSON.parse(JSON.stringify(report), (key, value) =>
		/_(low|high)$/.test(key) && value !== null ?
			Number(value.toFixed(6)) : value);
	const key = (branch) => branch.code.object + branch.code.address;

	if (result.branches)
		result.branches.sort((a, b) => key(a) < key(b) ? -1 : 1);
	return result;
}

const KINDS = ['loops', 'paths', 'edges', 'calls', 'ranges'];

async function same_data() {
	await check('a page has what --json writes, for each kind', (equal) =>
		visit('branches.html', {}, async (page) => {
			for (const kind of KINDS)
				equal(sorted((await data(page, kind)).report),
				      sorted(json(`branches.${kind}.json`)), kind);
		}));
}

async function loops() {
	const { loops: all } = json('loops.json');

	await check('loops: rows, histogram and facts are those of --json', (equal) =>
		visit('loops.html', {}, async (page) => {
			const shown = await rows(page, 'Loops');

			all.slice(0, 10).forEach((loop, i) => {
				equal([shown[i][0], shown[i][2], shown[i][3], shown[i][4]],
				      [loop.head, percent(loop.share), count(loop.entries),
				       count(loop.iterations)], `row ${i}`);
			});
			await page.click('.space .row:nth-child(6)');
			const label = await page.getAttribute('.histogram',
							      'aria-label');
			const loop = all.find((l) => l.head === shown[5][0]);

			equal(label.match(/[\d,]+(?= times)/g), loop.histogram.filter(
				(n) => n > 0).map(count), 'histogram');
			equal(await page.locator('.histogram rect').count(),
			      loop.histogram.filter((n) => n > 0).length, 'bars');
		}));
}

async function contexts() {
	const { contexts: all } = json('calls.cct.json');

	await check('contexts: the flame graph and tables have their numbers', (equal) =>
		visit('calls.html', { colorScheme: 'dark' }, async (page) => {
			await page.waitForSelector('[role=treegrid]');
			const shown = await rows(page, 'Contexts, as a tree');

			all.slice(0, 10).forEach((c, i) => {
				equal([shown[i][0].trim(), shown[i][1], shown[i][2],
				       shown[i][3]],
				[c.function || c.comm, percent(c.share),
				 count(c.all_weight), count(c.weight)], `row ${i}`);
			});
			await page.focus('.flame');
			for (let i = 0; i < 5; i++)
				await page.keyboard.press('ArrowDown');
			const now = await page.textContent('.flame-now');

			equal(now.includes(all[4].function) &&
			      now.includes(count(all[4].all_weight)), true, now);
		}));
	await check('contexts of several programs: the flame graph has all of them', (equal) =>
		visit('hostile.html', {}, async (page) => {
			const sum = json('hostile.json').contexts.filter((c) =>
				c.kind === 'root').reduce((n, c) => n + c.all_branches, 0);

			await page.waitForSelector('[role=treegrid]');
			await page.focus('.flame');
			await page.keyboard.press('Home');
			const now = await page.textContent('.flame-now');

			equal(now.startsWith(`all: ${count(sum)} (`), true, now);
		}));
}

async function paths() {
	const { paths: all } = json('branches.paths.json');
	const path_ = all.find((p) => p.function === 'by_key');

	await check('paths: blocks with source and disassembly', (equal) =>
		visit('branches.html', {}, async (page) => {
			await tab(page, 'paths');
			await page.fill('#panel-paths input[type=search]', 'by_key');
			await page.click('#panel-paths .space .row');
			equal(await page.locator('.block').count(),
			      path_.blocks.length, 'blocks');
			const code = await page.textContent('.blocks');

			for (const word of ['a->kind > 7', 'cmp', 'ret', 'sorter.c:'])
				equal(code.includes(word), true, word);
			equal(await page.locator('.instruction').count(),
			      path_.blocks.reduce((n, b) => n + b.instructions, 0),
			      'instructions');
			const facts = await page.textContent('#panel-paths .details ' +
							     '.facts');

			equal(facts.includes(count(path_.count)), true, facts);
		}));
}

async function source() {
	await check('files that are no source are not in a page', (equal) =>
		visit('wrong-source.html', {}, async (page) => {
			const { code, source: files } = await data(page, 'paths');
			const names = new Set(code.map((i) => i.file));

			for (const name of ['/etc/passwd', path.join(folder, 'link.c')])
				equal([names.has(name), files.some((f) =>
					f.file === name)], [true, false], name);
		}));
}

async function edges() {
	const { branches } = json('edges.edges.json');

	await check('edges: graphs have the branches\' counts', (equal) =>
		visit('edges.html', { colorScheme: 'dark' }, async (page) => {
			const { graphs } = await data(page, 'edges');
			const graph = graphs.find((g) => g.function === 'by_key');
			const blocks = new Map(graph.blocks.map((b) => [b.last, b]));

			for (const b of branches.filter((x) => x.passed !== null &&
				x.code.function === 'by_key')) {
				const block = blocks.get(b.code.address);

				equal(block.count, b.taken + b.passed, b.code.address);
				const next = graph.edges.find((e) => e.kind === 'next' &&
					graph.blocks[e.from] === block);
				const taken = graph.edges.find((e) => e.kind === 'taken' &&
					graph.blocks[e.from] === block);

				equal(next ? next.count : 0, b.passed, 'passed');
				equal(taken ? taken.count : 0, b.taken, 'taken');
			}
			/* All that enters a block leaves it, in exact counts. */
			graph.blocks.forEach((block, i) => {
				const enter = graph.edges.filter((e) => e.to === i)
					.reduce((sum, e) => sum + e.count, 0);

				if (i)
					equal(enter, block.count, `block ${i}`);
			});
			await page.fill('#panel-edges input[type=search]', 'by_key');
			await page.click('#panel-edges .space .row');
			equal(await page.locator('.graph .node').count(),
			      graph.blocks.length, 'nodes');
			equal(await page.locator('.graph .edge').count(),
			      graph.edges.length, 'edges');
		}));
	await check('edges: rows of branches are those of --json', (equal) =>
		visit('edges.html', {}, async (page) => {
			const shown = await rows(page, 'Branches');

			branches.slice(0, 10).forEach((b, i) => {
				equal([shown[i][0], shown[i][3], shown[i][4],
				       shown[i][5]],
				[place(b.code), percent(b.share), count(b.taken),
				 count(b.passed)], `row ${i}`);
			});
		}));
}

async function others() {
	await check('calls: pairs and procedures', (equal) =>
		visit('branches.html', {}, async (page) => {
			const { pairs, methods } = json('branches.calls.json');

			await tab(page, 'calls');
			const one = await rows(page, 'Call pairs');
			const two = await rows(page, 'Procedures that were called');

			pairs.slice(0, 8).forEach((p, i) => equal([one[i][0], one[i][2],
				one[i][5]], [place(p.site), place(p.callee),
					     count(p.least)], `pair ${i}`));
			methods.slice(0, 8).forEach((m, i) => equal([two[i][0],
				two[i][4]], [place(m.entry), count(m.least)],
			`procedure ${i}`));
		}));
	for (const [name, ranges] of [['branches', json('branches.ranges.json').ranges],
				      ['pairs', json('pairs.json').ranges]])
		await check(`ranges: the heat map of ${name}`, (equal) =>
			visit(name + '.html', { colorScheme: 'dark' }, async (page) => {
				await tab(page, 'ranges');
				equal(await page.locator('.range').count(), ranges.length,
				      'boxes');
				const last = ranges[ranges.length - 1];

				await page.focus('.range:last-of-type');
				const now = await page.textContent('.flame-now');

				equal([now.includes(last.low), now.includes(percent(
					last.share))], [true, true], now);
			}));
	await check('values: classes and values', (equal) =>
		visit('values.html', {}, async (page) => {
			const { loads } = json('values.json');
			const shown = await rows(page, 'Loads');

			loads.forEach((l, i) => equal([shown[i][0], shown[i][3],
				shown[i][6]], [l.address, count(l.executions),
				percent(l.values[0].invariance)], `load ${i}`));
			equal((await page.locator('.grid .chip').allTextContents()),
			      loads.map((l) => l.class), 'classes');
		}));
}

/* ---- differences ----------------------------------------------------------- */

async function differences() {
	await check('a comparison of two runs of one program shows no change',
		(equal) => visit('same.html', {}, async (page) => {
			for (const kind of ['loops', 'edges', 'calls']) {
				await tab(page, kind);
				const { changes } = (await data(page, kind)).diff;
				const beyond = changes.filter((c) =>
					c.share_change_low > 0 || c.share_change_high < 0);

				equal(await page.locator(`#panel-${kind} .change.more, ` +
					`#panel-${kind} .change.less`).count(),
				beyond.length, kind);
				equal(beyond.length <= changes.length / 20, true,
				      `${kind}: ${beyond.length} of ${changes.length}`);
			}
			await tab(page, 'loops');
			const { changes } = json('same.loops.json');

			await page.check('#panel-loops input[type=checkbox]');
			equal(await page.locator('#panel-loops .status').first()
				.textContent(), `${count(changes.length)} rows`, 'all');
		}));
	await check('a comparison of two programs shows changes, with intervals',
		(equal) => visit('other.html', { colorScheme: 'dark' },
			async (page) => {
				const { changes } = json('other.loops.json');
				const beyond = changes.filter((c) => c.share_change &&
					(c.share_change_low > 0 ||
					 c.share_change_high < 0));

				await tab(page, 'loops');
				const shown = await rows(page, 'Changes');

				equal(beyond.length > 0, true, 'changes');
				equal(shown.length, Math.min(beyond.length, 23), 'rows');
				equal(shown[0][4].slice(1), (100 * Math.abs(
					beyond[0].share_change)).toFixed(2), 'points');
				equal(shown[0][5].startsWith('['), true, 'interval');
			}));
	await check('contexts of exact recordings need no intervals', (equal) =>
		visit('exact.html', { colorScheme: 'dark' }, async (page) => {
			const { nodes } = await data(page, 'cct');
			const verdicts = await page.evaluate((all) => all.map(
				hwprof.verdict), nodes);

			equal(verdicts.filter((v) => v === 'more').length, 2, 'more');
			equal(verdicts.filter((v) => v === 'less').length >= 2, true,
			      'less');
			equal(verdicts.includes('unknown'), false, 'unknown');
		}));
	await check('contexts of two runs: a flame graph without colours of changes',
		(equal) => visit('same-calls.html', {}, async (page) => {
			await page.waitForSelector('[aria-label=Changes]');
			const { diff, nodes, report } = await data(page, 'cct');

			equal(nodes.length <= report.contexts.length, true, 'nodes');
			equal(diff.changes.filter((c) => c.share_change_low === null)
				.length, 0, 'changes without interval');
			equal((await page.textContent('.legend')).includes('noise'),
			      true, 'legend');
		}));
}

/* ---- keys, colours, rights ------------------------------------------------- */

async function keyboard() {
	await check('tabs, tables and graphs work with the keyboard', (equal) =>
		visit('branches.html', {}, async (page) => {
			const focus = () => page.evaluate(() =>
				document.activeElement.id ||
				document.activeElement.getAttribute('aria-label'));

			await page.keyboard.press('Tab');
			equal(await focus(), 'tab-loops', 'first tab');
			await page.keyboard.press('End');
			equal(await focus(), 'tab-ranges', 'last tab');
			await page.keyboard.press('ArrowRight');
			equal(await focus(), 'tab-loops', 'around');
			await page.keyboard.press('ArrowRight');
			await page.waitForSelector('#panel-paths .block');
			equal(await page.isVisible('#panel-loops'), false, 'panel');
			await grid(page, 'Paths').focus();
			await page.keyboard.press('ArrowDown');
			await page.keyboard.press('ArrowDown');
			equal(await page.getAttribute('#panel-paths ' +
				'[aria-selected=true]', 'aria-rowindex'), '4', 'row');
			await page.keyboard.press('End');
			equal(await page.getAttribute('#panel-paths ' +
				'[aria-selected=true]', 'aria-rowindex'), await grid(page,
				'Paths').getAttribute('aria-rowcount'), 'last row');
			await page.keyboard.press('Home');
			await tab(page, 'edges');
			await page.focus('.node');
			await page.keyboard.press('Enter');
			equal(await page.textContent('.side h4'), 'Block 1', 'block');
			/* Sorting is a button in the head of the column. */
			await page.focus('#panel-edges .head button:text("taken")');
			await page.keyboard.press('Enter');
			equal(await page.locator('#panel-edges ' +
				'[aria-sort=descending]').textContent(), 'taken', 'sort');
		}));
	await check('the flame graph zooms in and out', (equal) =>
		visit('calls.html', {}, async (page) => {
			const now = () => page.textContent('.flame-now');

			await page.focus('.flame');
			const all = await now();

			for (let i = 0; i < 4; i++)
				await page.keyboard.press('ArrowDown');
			await page.keyboard.press('Enter');
			const inner = await now();

			equal(inner === all, false, inner);
			await page.keyboard.press('Escape');
			equal(await now() === inner, false, 'zoomed out');
			await page.keyboard.press('Home');
			equal(await now(), all, 'home');
			await page.fill('.tools input[type=search] >> nth=0', 'by_key');
			equal((await page.textContent('.tools .status')).endsWith(
				'found'), true, 'found');
		}));
}

async function colours() {
	for (const colorScheme of ['light', 'dark'])
		await check(`${colorScheme}: text has a contrast of 4.5`, (equal) =>
			visit('branches.html', { colorScheme }, async (page) => {
				const grounds = { light: 'rgb(255, 255, 255)',
						  dark: 'rgb(20, 23, 27)' };

				equal(await page.evaluate(() => getComputedStyle(
					document.body).backgroundColor),
				grounds[colorScheme], 'ground');
				for (const kind of KINDS) {
					await tab(page, kind);
					equal(await contrast(page), [], kind);
				}
			}));
	await check('all that can be focused has a name', (equal) =>
		visit('branches.html', {}, async (page) => {
			for (const kind of KINDS) {
				await tab(page, kind);
				equal(await nameless(page), [], kind);
			}
		}));
	await check('a narrow window scrolls tables, not the page', (equal) =>
		visit('branches.html', { viewport: { width: 420, height: 800 } },
		      async (page) => {
			for (const kind of KINDS) {
				await tab(page, kind);
				equal(await page.evaluate(() => document
					.documentElement.scrollWidth <= window.innerWidth),
				true, kind);
			}
		}));
}

async function hostile() {
	await check('names are text, whatever they are', (equal) =>
		visit('hostile.html', {}, async (page) => {
			const { contexts: all } = json('hostile.json');
			const { report } = await data(page, 'cct');

			await page.waitForSelector('[role=treegrid]');
			equal(report.contexts, all, 'data');
			equal(await page.evaluate(() => window.pwned), undefined, 'ran');
			equal(await page.locator('#page img, #page b b, #page script')
				.count(), 0, 'elements');
			equal(await page.evaluate(() => new RegExp('[\\u0000-\\u0008' +
				'\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-' +
				'\\u2069]').test(document.getElementById('page')
				.innerText)), false, 'unseen characters');
			const texts = (await rows(page, 'Procedures')).map((r) => r[0]);

			equal(texts.some((t) => t.includes('<img src=x onerror=')),
			      true, 'markup is shown');
			equal(texts.every((t) => t.length <= 320), true, 'long names');
			equal(await page.title(), 'hwprof: </title><b>.data', 'title');
		}));
	await check('the policy lets no other script run, and nothing be fetched',
		(equal) => visit('loops.html', {}, async (page) => {
			const policy = await page.getAttribute('meta[http-equiv=' +
				'"Content-Security-Policy"]', 'content');

			equal(/^default-src 'none'; /.test(policy), true, policy);
			equal(/unsafe|http|\*/.test(policy), false, policy);
			const ran = await page.evaluate(() => new Promise((resolve) => {
				const script = document.createElement('script');

				document.addEventListener('securitypolicyviolation',
					() => resolve(window.pwned || 'refused'));
				script.textContent = 'window.pwned = "ran"';
				document.body.append(script);
			}));

			equal(ran, 'refused', 'a script');
		}).catch((error) => {
			/* The browser says on the console that it refused. */
			if (!/violates the following Content Security/.test(error))
				throw error;
		}));
}

/* Says what a page costs until it is drawn, and what its tables cost. */
async function report_time(page) {
	const { size } = fs.statSync(path.join(folder, 'many.html'));
	const session = await page.context().newCDPSession(page);

	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	await page.reload();
	await page.waitForSelector('[role=treegrid]');
	const { metrics } = await session.send('Performance.getMetrics');
	const time = metrics.find((m) => m.name === 'TaskDuration').value;

	console.log(`# 100,000 contexts: ${(size / 1e6).toFixed(1)} MB, ` +
		    `${time.toFixed(2)} s of the page's thread`);
}

async function many() {
	await check('100,000 contexts: all can be reached, few are elements', (equal) =>
		visit('many.html', {}, async (page) => {
			await page.waitForSelector('[role=treegrid]');
			await report_time(page);
			const table = grid(page, 'Contexts, as a tree');

			equal(await table.getAttribute('aria-rowcount'), '100001',
			      'rows');
			await table.focus();
			await page.keyboard.press('End');
			const last = page.locator('[role=treegrid] ' +
				'[aria-rowindex="100001"]');

			equal(await last.isVisible(), true, 'last row');
			const all = json('many.last.json');

			equal((await last.textContent()).includes(all.address), true,
			      'its address');
			equal(await page.evaluate(() => document
				.querySelectorAll('*').length < 3000), true, 'elements');
			await table.evaluate((e) => {
				e.scrollTop = 1300000;
			});
			await page.waitForSelector('[role=treegrid] ' +
				'[aria-rowindex="50020"]');
		}));
}

/* ---- speedscope ------------------------------------------------------------ */

/* Opens an export as speedscope's own command does. Returns its page. */
async function open_speedscope(name) {
	const package_ = path.dirname(require.resolve('speedscope/package.json'));
	const script = path.join(folder, name + '.js');
	const content = fs.readFileSync(path.join(folder, name));
	const page = await browser.newPage();

	fs.writeFileSync(script, `speedscope.loadFileFromBase64('${name}', ` +
		`'${content.toString('base64')}')`);
	await page.goto(`file://${package_}/dist/release/index.html` +
			`#localProfilePath=${script}`);
	return page;
}

async function speedscope() {
	const name = 'calls.speedscope.json';
	const { shared, profiles: [profile] } = json(name);
	const own = new Map();
	let sum = 0;

	profile.samples.forEach((stack, i) => {
		const { name: leaf } = shared.frames[stack[stack.length - 1]];

		own.set(leaf, (own.get(leaf) || 0) + profile.weights[i]);
		sum += profile.weights[i];
	});
	const [hottest, weight] = [...own].sort((a, b) => b[1] - a[1])[0];
	const share = Math.round(100 * weight / sum);

	await check('speedscope has the functions, and the hottest one\'s share',
		async (equal) => {
			const page = await open_speedscope(name);

			await page.getByText('Sandwich').click();
			await page.waitForSelector('tr');
			const text = await page.locator('tr', { hasText: hottest })
				.first().textContent();

			await page.screenshot({ path: path.join(folder,
				'speedscope.png') });
			await page.close();
			equal(weight > 0, true, 'weight');
			equal(text.includes(`(${share}%)`), true, text);
		});
}

const lint = () => check('eslint finds nothing', (equal) =>
	equal(process.env.LINT, '0', 'its status'));

(async () => {
	browser = await chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		args: ['--no-sandbox'],
	});
	for (const part of [lint, same_data, loops, contexts, paths, source, edges, others,
			    differences, keyboard, colours, hostile, many,
			    speedscope])
		await part();
	await browser.close();
	finish();
})();
