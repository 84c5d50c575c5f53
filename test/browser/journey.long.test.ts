// The console as a user sees it: a real browser, a real console, a real service, and a bug in its module.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { BUG, dine, Restaurant, send } from './support/restaurant.ts';
import { press, settled, show, textOf } from './support/screen.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The console's page is not tried in a browser: ${noBrowser}.\n`);

const folder = temporaryFolderOfFile();
const WIDE = { width: 1200, height: 800 };
/** Time after which the page has polled again, in milliseconds. */
const POLL_MS = 3_000;
const NARROW = { width: 360, height: 700 };
/** Folder of the images in docs: SVC_DOC_IMAGES=1 takes new ones. */
const IMAGES = join(import.meta.dirname, '../../docs/images');
const takesPictures = process.env['SVC_DOC_IMAGES'] !== undefined;
const PICTURE = { width: 1100, height: 820 };

let browser: Browser;
let restaurant: Restaurant;
let serviceUrl: string;
/** The log line of the service on its terminal. */
let said: () => string;
let instanceId: string;
/** The trace of the request that met the bug. */
let failedTrace: string;
/** The page that tests share, unless they need a new one, another size or another theme. */
let shared: WatchedPage;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

async function open(options: BrowserContextOptions = {}, view?: string): Promise<WatchedPage> {
  const shown = { viewport: WIDE, ...options };
  const watched = await WatchedPage.open(browser, restaurant.url, shown, view);
  onTestFinished(async () => {
    await watched.close();
    expect(watched.problems).toEqual([]);
  });
  if (view !== undefined) await settled(watched.page);
  return watched;
}

/** Opens this view on the shared page, and moves the pointer away from the element of the previous test. */
async function look(view: string): Promise<WatchedPage> {
  onTestFinished(() => expect(shared.problems.splice(0)).toEqual([]));
  await shared.page.mouse.move(0, 0);
  await show(shared.page, view);
  return shared;
}

/** Screens by their addresses after '#'. */
function screens() {
  const service = `/s/${instanceId}`;
  return {
    services: '/',
    overview: service,
    routes: `${service}/routes`,
    form: `${service}/routes/POST/bills/{id}/dishes`,
    traces: `${service}/traces`,
    trace: `${service}/traces/${failedTrace}`,
    entities: `${service}/entities/bill`,
    past: `${service}/entities/bill/table-7`,
    now: `${service}/entities/bill/table-7?query=get`,
    faults: `${service}/faults`,
  };
}

describe.skipIf(noBrowser !== undefined)('the console in a browser', () => {
  beforeAll(async () => {
    restaurant = await Restaurant.open(folder);
    const light = { viewport: WIDE, colorScheme: 'light' } as const;
    const opened = async () => {
      browser = await launchBrowser();
      shared = await WatchedPage.open(browser, restaurant.url, light);
    };
    const [bill] = await Promise.all([restaurant.serve('bill'), opened()]);
    serviceUrl = bill.url;
    said = () => bill.process.stderr;
    await dine(serviceUrl);
    ({ instanceId, failedTrace } = await restaurant.failure('bill'));
  });
  afterAll(async () => {
    await Promise.all([browser?.close(), restaurant?.close()]);
  });

  test('a service appears without a reload, and one that ends is greyed', async () => {
    const { page } = await open();
    const card = page.locator('main article', { hasText: 'later' });
    await page.locator('main article', { hasText: 'bill' }).waitFor();
    expect(await card.count()).toBe(0);
    await page.evaluate('globalThis.isSamePage = true');
    const { process } = await restaurant.serve('later');
    await restaurant.instanceOf('later');
    await page.clock.fastForward(POLL_MS);
    await card.getByText('running').waitFor();
    await process.end('SIGTERM');
    await page.clock.fastForward(POLL_MS);
    await card.getByText('ended').first().waitFor();
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  });

  test('a form sends a request and shows answer, time and trace', async () => {
    const { page } = await look(screens().form);
    await page.getByLabel('id', { exact: true }).fill('table-1');
    await page.getByLabel('name', { exact: true }).fill('soup');
    const cents = page.getByRole('textbox', { name: 'cents', exact: true });
    await cents.fill('650');
    expect(await textOf(page.locator(`#${await cents.getAttribute('aria-describedby')}`))).toBe(
      'whole number',
    );
    await page.getByRole('button', { name: 'Send' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByRole('heading', { name: '204' }).waitFor();
    expect(await textOf(answer)).toMatch(/\d (?:µs|ms|s)/);
    const stored = await fetch(`${serviceUrl}/bills/table-1`);
    expect(await stored.json()).toMatchObject({ dishes: [{ name: 'soup', cents: 650 }] });
    await answer.getByRole('link', { name: 'Trace' }).click();
    await page.getByRole('heading', { name: 'POST /bills/{id}/dishes' }).waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(2);
    expect(await page.locator('.trace-origin').count()).toBe(0);
  });

  test('a call leads to the event that it stored', async () => {
    const traceId = '5cd2'.repeat(8);
    const dish = { name: 'bread', cents: 200 };
    for (const caller of [{ traceparent: `00-${traceId}-${'ab'.repeat(8)}-01` }, {}])
      await send(serviceUrl, 'POST', '/bills/table-2/dishes', dish, caller);
    const { page } = await look(`/s/${instanceId}/traces/${traceId}`);
    expect(await textOf(page.locator('.trace-origin'))).toContain('another service');
    await page.getByRole('treeitem', { name: 'bill.order' }).click();
    const panel = page.getByRole('complementary', { name: 'Chosen span' });
    await panel.locator('a[href$="/table-2?at=1"]').click();
    await page.locator('[aria-valuetext^="event 1 of 2"]').waitFor();
  });

  test('the console alone tells why a request failed inside of a guest', async () => {
    const { page } = await look('/');
    await page.locator('main').getByRole('link', { name: 'bill' }).click();
    await page.getByRole('link', { name: 'Routes' }).click();
    await page.locator('main a', { hasText: '/shares/' }).click();
    await page.getByLabel('id', { exact: true }).fill('table-7');
    await page.getByLabel('guests', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Send' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByRole('heading', { name: '500' }).waitFor();
    const why = page.getByRole('region', { name: 'Why' });
    await why.waitFor();
    expect(await textOf(why)).toContain('divide by zero');
    expect(await textOf(why)).toContain(BUG.place);
    // The user opens the details, which show the wrong line.
    expect(readFileSync(BUG.file, 'utf8').split('\n')[BUG.line - 1]).toContain('/ input.guests');
  });

  test("a guest fault shows the guest's file and line", async () => {
    const { page } = await look(screens().faults);
    const fault = page.getByRole('button', { name: 'bill.share' });
    await fault.waitFor();
    expect(await textOf(fault)).toContain(BUG.place);
    expect(await textOf(fault)).toContain('GET /bills/{id}/shares/{guests}');
    // The failed request is not listed as a fault of its own.
    expect(await page.locator('.fault-row').count()).toBe(1);
    await fault.click();
    const detail = page.locator('.fault-detail');
    expect(await textOf(detail)).toContain('in bill.share');
    expect(await textOf(detail)).toContain('error id');
    await page.locator('.fault-detail').getByRole('link', { name: 'Trace' }).click();
    await page.getByRole('tree').waitFor();
    await page.getByRole('treeitem', { name: 'bill.share' }).click();
    const panel = page.getByRole('complementary', { name: 'Chosen span' });
    expect(await textOf(panel)).toContain(BUG.place);
  });

  test('and the terminal shows it, too', async () => {
    await expect.poll(said).toMatch(/ an entity failed .*\n.* at \S+ \(bill\.share\)\n/);
    expect(said()).toContain(`at ${BUG.place}:`);
  });

  test('traces are filtered', async () => {
    const { page } = await look(screens().traces);
    const rows = page.locator('main table tbody tr');
    await rows.first().waitFor();
    const outcomes = async () =>
      new Set(await rows.locator('[data-label=Outcome]').allTextContents());
    expect((await outcomes()).size).toBeGreaterThan(1);
    await page
      .getByRole('group', { name: 'Outcome' })
      .getByRole('button', { name: 'Failed' })
      .click();
    await expect.poll(outcomes).toEqual(new Set(['✕Failed']));
    expect(page.url()).toContain('outcome=Failed');
    await page
      .getByRole('group', { name: 'Outcome' })
      .getByRole('button', { name: 'Failed' })
      .click();
    await page.getByRole('searchbox').fill('/pay');
    await expect
      .poll(async () => new Set(await rows.locator('a').allTextContents()))
      .toEqual(new Set(['POST /bills/{id}/pay']));
    await page.getByRole('searchbox').fill('no such trace');
    await page.getByText('No trace in the window matches.').waitFor();
  });

  test('new traces come by themselves, and do not move what is being read', async () => {
    const { page } = await open({}, screens().traces);
    const rows = page.locator('main table tbody tr');
    await rows.first().waitFor();
    const first = async () => textOf(rows.first().locator('[data-label=Time]'));
    const before = await first();
    await send(serviceUrl, 'GET', '/bills/table-9');
    await page.clock.fastForward(POLL_MS);
    await expect.poll(first, { timeout: 10_000 }).not.toBe(before);
    await rows.first().hover();
    const read = await first();
    await send(serviceUrl, 'GET', '/bills/table-9');
    await page.clock.fastForward(POLL_MS);
    await page.getByRole('button', { name: /\d new trace/ }).waitFor();
    expect(await first()).toBe(read);
  });

  test('a trace is a tree with a time axis', async () => {
    const { page } = await open({}, screens().trace);
    const tree = page.getByRole('tree', { name: 'Spans' });
    const items = tree.getByRole('treeitem');
    expect(await items.count()).toBe(2);
    expect(await items.nth(0).getAttribute('aria-level')).toBe('1');
    expect(await items.nth(1).getAttribute('aria-level')).toBe('2');
    expect(await textOf(items.nth(0))).toContain('GET /bills/{id}/shares/{guests}');
    expect(await textOf(items.nth(1))).toContain('bill.share');
    const ticks = await page.locator('.trace-axis span').allTextContents();
    expect(ticks).toHaveLength(5);
    const [outer, inner] = await Promise.all(
      [0, 1].map(async (at) => (await items.nth(at).locator('.bar-fill').boundingBox())!),
    );
    expect(inner!.x).toBeGreaterThanOrEqual(outer!.x);
    expect(inner!.x + inner!.width).toBeLessThanOrEqual(outer!.x + outer!.width + 2);
    // The failed span is already selected.
    await items.nth(1).focus();
    await press(page, 'ArrowLeft', 'ArrowLeft');
    expect(await items.count()).toBe(1);
    await press(page, 'ArrowRight');
    expect(await items.count()).toBe(2);
  });

  test('time travel steps back and shows what changed', async () => {
    const { page } = await look(screens().past);
    const slider = page.getByRole('slider');
    await slider.waitFor();
    const at = async () => slider.getAttribute('aria-valuetext');
    const state = page.getByRole('region', { name: 'State after it' });
    const changes = page.getByRole('region', { name: 'What changed' });
    await expect.poll(at).toContain('event 2 of 2');
    await expect.poll(async () => textOf(state)).toContain('pasta');
    await slider.focus();
    await press(page, 'ArrowLeft');
    await expect.poll(at).toContain('event 1 of 2');
    await expect.poll(async () => textOf(state)).not.toContain('pasta');
    expect(await textOf(state)).toContain('soup');
    expect(await textOf(changes)).toContain('totalCents');
    expect(await textOf(changes)).toContain('650');
    expect(page.url()).toContain('?at=1');
    await press(page, 'End');
    await expect.poll(at).toContain('event 2 of 2');
  });

  test('an entity answers by its own queries, and no command is offered', async () => {
    const { page } = await look(screens().now);
    const answer = page.locator('.query-answer');
    await expect.poll(async () => textOf(answer)).toContain('1900');
    await page.getByText('Commands go through the service’s routes').waitFor();
    const queries = page.getByRole('navigation', { name: 'Queries' }).getByRole('link');
    expect(await queries.allTextContents()).toEqual(['get', 'share']);
    await queries.getByText('share').click();
    await page.getByLabel('guests', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Ask' }).click();
    const why = page.getByRole('region', { name: 'Why' });
    await expect.poll(async () => textOf(why)).toContain(BUG.place);
    expect(await textOf(why)).toContain('in bill.share');
  });

  test('a person with a keyboard alone finds why a request failed', async () => {
    const { page } = await open();
    await page.locator('main article').first().waitFor();
    await press(page, 'j', 'Enter');
    await page.getByRole('heading', { name: 'bill', level: 1 }).waitFor();
    await press(page, 'g', 'r');
    await page.getByRole('heading', { name: 'Routes', level: 1 }).waitFor();
    await press(page, '/');
    await page.keyboard.type('shares');
    await press(page, 'Escape', 'j', 'Enter');
    await page.getByLabel('id', { exact: true }).waitFor();
    await page.getByLabel('id', { exact: true }).focus();
    await press(page, 'Control+a');
    await page.keyboard.type('table-7');
    await press(page, 'Tab', 'Control+a');
    await page.keyboard.type('0');
    await press(page, 'Control+Enter');
    const why = page.getByRole('region', { name: 'Why' });
    await why.waitFor();
    expect(await textOf(why)).toContain(BUG.place);
    await press(page, 'Escape', '?');
    await page.getByRole('dialog').waitFor();
    await press(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  test('wide and light, every screen is reached by keyboard and has no serious axe finding, and none asks anybody else', async () => {
    const watched = await look('/');
    for (const [screen, view] of Object.entries(screens())) {
      await show(watched.page, view);
      expect([screen, await watched.sidewaysScroll()]).toEqual([screen, 0]);
      expect([screen, await watched.notReachedByTab()]).toEqual([screen, []]);
      expect([screen, await watched.axeFindings()]).toEqual([screen, []]);
    }
    // No request to another machine, no error on the console, no violation of the policy: each would fail the checks
    // at the end of every test in this file.
    expect(watched.problems).toEqual([]);
    await watched.page.evaluate("void fetch('http://127.0.0.1:1/').catch(() => {})");
    await expect
      .poll(() => watched.problems.splice(0).join('\n'))
      .toContain('CSP violation: connect-src http://127.0.0.1:1/');
  });

  test('360 px wide and dark, every screen has no sideways scroll and no serious axe finding', async () => {
    const watched = await open({ colorScheme: 'dark', viewport: NARROW });
    for (const [screen, view] of Object.entries(screens())) {
      await show(watched.page, view);
      expect([screen, await watched.sidewaysScroll()]).toEqual([screen, 0]);
      for (const bar of await watched.page.getByRole('navigation').all()) {
        const current = bar.locator('[aria-current]').first();
        if ((await current.count()) === 0) continue;
        const { x, width } = (await current.boundingBox())!;
        expect([screen, x >= 0 && x + width <= NARROW.width]).toEqual([screen, true]);
      }
      expect([screen, await watched.axeFindings()]).toEqual([screen, []]);
    }
  });

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    test('the ground is of that theme, unless the person chose the other', async () => {
      const watched = await open({ colorScheme });
      const { page } = watched;
      const isDark = async () => (await watched.groundLightness()) < 128;
      expect(await isDark()).toBe(colorScheme === 'dark');
      const other = colorScheme === 'dark' ? 'light' : 'dark';
      const button = page.getByRole('button', { name: /^Colours/ });
      while (!(await button.getAttribute('aria-label'))!.includes(other)) await button.click();
      expect(await isDark()).toBe(other === 'dark');
      await page.reload();
      await settled(page);
      expect(await isDark()).toBe(other === 'dark');
    });
  });

  test.runIf(takesPictures)('its pictures are taken', async () => {
    mkdirSync(IMAGES, { recursive: true });
    const { page } = await open({ viewport: PICTURE });
    // Requests to be displayed in the plot.
    for (let turn = 0; turn < 60; turn++) {
      await send(serviceUrl, 'POST', `/bills/table-${turn % 5}/dishes`, {
        name: 'tea',
        cents: 300,
      });
      await send(serviceUrl, 'GET', `/bills/table-${turn % 7}`);
      await page.waitForTimeout(Math.random() * 300);
    }
    const names = ['overview', 'why', 'trace', 'entity'].map((name) => `console-${name}.png`);
    const take = async (at: number) => page.screenshot({ path: join(IMAGES, names[at]!) });
    await show(page, screens().overview);
    await take(0);
    await show(page, `/s/${instanceId}/routes/GET/bills/{id}/shares/{guests}`);
    await page.getByLabel('id', { exact: true }).fill('table-7');
    await page.getByLabel('guests', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('region', { name: 'Why' }).waitFor();
    await take(1);
    await show(page, screens().trace);
    await take(2);
    await show(page, `/s/${instanceId}/entities/bill/table-3?at=4`);
    await page.getByRole('region', { name: 'What changed' }).waitFor();
    await take(3);
    expect(readdirSync(IMAGES)).toEqual(expect.arrayContaining(names));
  });
});
