// The console with more than one page of items, and forms with every kind of field, in a real browser with a real
// console and service.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { Restaurant, send } from './support/restaurant.ts';
import { settled, show, textOf } from './support/screen.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The console's pages are not tried in a browser: ${noBrowser}.\n`);

const WIDE = { width: 1200, height: 800 };
const NARROW = { width: 360, height: 700 };
/** Time after which the page has polled again, in milliseconds. */
const POLL_MS = 3_000;
const TABLES = 120;
const TRACES = 401;

const folder = temporaryFolderOfFile();
let browser: Browser;
let restaurant: Restaurant;
let serviceUrl: string;
let service: string;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

async function open(view: string, viewport = WIDE): Promise<WatchedPage> {
  const watched = await WatchedPage.open(browser, restaurant.url, { viewport }, view);
  onTestFinished(async () => {
    await watched.close();
    expect(watched.problems).toEqual([]);
  });
  await settled(watched.page);
  return watched;
}

/** Bodies of the requests that the page has sent to the service. */
function sentBodies(page: Page): (string | null)[] {
  const bodies: (string | null)[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/call')) return;
    bodies.push((JSON.parse(request.postData()!) as { readonly body: string | null }).body);
  });
  return bodies;
}

async function inBatches(count: number, request: (at: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, count - first) }, async (_, at) => request(first + at)),
    );
}

const storedBill = async (id: string) => (await fetch(`${serviceUrl}/bills/${id}`)).json();
const rows = (page: Page) => page.locator('main table tbody tr');
const foot = (page: Page) => page.locator('.list-foot');
const answerOf = (page: Page) => page.getByRole('region', { name: 'Answer' });
const firstTime = async (page: Page) => textOf(rows(page).first().locator('[data-label=Time]'));
const pageLink = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });
const sendButton = (page: Page) => page.getByRole('button', { name: /^Send/ });

describe.skipIf(noBrowser !== undefined)('the console with 401 traces and 121 entities', () => {
  beforeAll(async () => {
    restaurant = await Restaurant.open(folder);
    const [bill, launched] = await Promise.all([restaurant.serve('bill'), launchBrowser()]);
    browser = launched;
    serviceUrl = bill.url;
    const dish = { name: 'soup', cents: 650 };
    await send(serviceUrl, 'POST', '/bills/needle/dishes', dish);
    await inBatches(TABLES, async (at) =>
      send(serviceUrl, 'POST', `/bills/table-${String(at).padStart(3, '0')}/dishes`, dish),
    );
    await inBatches(TRACES - TABLES - 1, async (at) => send(serviceUrl, 'GET', `/bills/g-${at}`));
    service = `/s/${await restaurant.instanceOf('bill')}`;
  });
  afterAll(async () => {
    await Promise.all([browser?.close(), restaurant?.close()]);
  });

  test('a text finds the oldest trace, and a live refresh keeps it', async () => {
    const { page } = await open(`${service}/traces`);
    await rows(page).first().waitFor();
    await page.getByRole('searchbox').fill('NEEDLE');
    await expect.poll(async () => rows(page).count()).toBe(1);
    expect(await textOf(rows(page))).toContain('POST /bills/{id}/dishes');
    expect(await textOf(foot(page))).toContain('1 trace');
    await page.clock.fastForward(POLL_MS);
    await page.waitForResponse((response) => response.url().includes('text=NEEDLE'));
    expect(await rows(page).count()).toBe(1);
  });

  test('"Older" leads to the oldest trace; a refresh, a reload and a look at a trace keep the place', async () => {
    const { page } = await open(`${service}/traces`);
    await rows(page).first().waitFor();
    for (const first of [101, 201, 301]) {
      await pageLink(page, 'Older').click();
      await expect
        .poll(async () => textOf(foot(page)))
        .toMatch(new RegExp(`^NewerOlder${first}–${first + 99} of 4\\d\\d traces`));
    }
    const time = await firstTime(page);
    await send(serviceUrl, 'GET', '/bills/newcomer');
    await page.clock.fastForward(POLL_MS);
    // A trace has come before it: the page has moved on in number, not in place.
    await expect.poll(async () => textOf(foot(page))).toContain('302–401 of');
    expect(await firstTime(page)).toBe(time);
    await page.reload();
    await settled(page);
    expect(await firstTime(page)).toBe(time);
    await rows(page).first().getByRole('link').click();
    await page.getByRole('tree').waitFor();
    await page.getByRole('link', { name: 'All traces' }).click();
    await expect.poll(async () => firstTime(page)).toBe(time);
    await pageLink(page, 'Older').click();
    await expect.poll(async () => textOf(rows(page).last())).toContain('needle');
    expect(await pageLink(page, 'Older').count()).toBe(0);
    await pageLink(page, 'Newer').click();
    await expect.poll(async () => firstTime(page)).toBe(time);
  });

  test('entities are counted, had page by page, and found by how their id begins', async () => {
    const { page } = await open(`${service}/entities/bill`);
    const list = page.getByRole('region', { name: 'Stored entities' });
    const ids = async () => list.locator('.id').allTextContents();
    const next = list.getByRole('button', { name: 'Next' });
    await expect.poll(async () => textOf(list)).toContain('1–50 of 121 entities');
    const seen = await ids();
    for (const [range, count] of [
      ['51–100', 50],
      ['101–121', 21],
    ] as const) {
      await next.click();
      await expect.poll(async () => textOf(list)).toContain(`${range} of 121 entities`);
      // The list still shows the former page for a moment.
      const fresh = async () => (await ids()).filter((id) => !seen.includes(id));
      await expect.poll(async () => (await fresh()).length).toBe(count);
      seen.push(...(await ids()));
    }
    expect(new Set(seen).size).toBe(121);
    expect(await next.isDisabled()).toBe(true);
    await page.clock.fastForward(POLL_MS);
    expect(await textOf(list)).toContain('101–121 of 121 entities');
    await list.getByRole('searchbox').fill('table-11');
    await expect.poll(async () => textOf(list)).toContain('10 entities');
    expect(await ids()).toHaveLength(10);
    // An id is found by itself, too.
    await list.getByRole('searchbox').fill('needle');
    await expect.poll(ids).toEqual(['needle']);
    await list.getByRole('searchbox').fill('nobody');
    await page.getByText('No stored id begins with nobody.').waitFor();
  });

  test('a PATCH changes what a person includes, and tells left out, null and a value apart', async () => {
    const { page } = await open(`${service}/routes/PATCH/bills/{id}`);
    const sent = sentBodies(page);
    await page.getByLabel('id', { exact: true }).fill('table-001');
    const sendIt = async () => {
      const before = sent.length;
      await sendButton(page).click();
      await expect.poll(() => sent.length).toBe(before + 1);
      await sendButton(page).and(page.locator(':enabled')).waitFor();
      return sent.at(-1);
    };
    expect(await sendIt()).toBe('{}');
    await page.getByRole('button', { name: 'note: value' }).click();
    const note = page.getByLabel('note', { exact: true });
    // What was just included can be typed into at once.
    await note.and(page.locator(':focus')).waitFor();
    await note.fill('by the window');
    expect(await sendIt()).toBe('{"note":"by the window"}');
    expect(await storedBill('table-001')).toMatchObject({ note: 'by the window' });
    await page.getByRole('button', { name: 'note: null' }).click();
    expect(await sendIt()).toBe('{"note":null}');
    expect(await storedBill('table-001')).toMatchObject({ note: null });
    await page.getByRole('button', { name: 'note: left out' }).click();
    await page.getByRole('button', { name: 'preferredSeat: value' }).click();
    await page.getByLabel('preferredSeat', { exact: true }).selectOption('WindowSeat');
    expect(await sendIt()).toBe('{"preferredSeat":"WindowSeat"}');
  });

  test.each([WIDE, NARROW])('the label of an enum stays whole, $width px wide', async (size) => {
    const watched = await open(`${service}/routes/PATCH/bills/{id}`, size);
    const { page } = watched;
    const lines = async () =>
      page.evaluate<number>(`(() => {
        const labels = [...document.querySelectorAll('.field-label, .field label')];
        const range = document.createRange();
        range.selectNodeContents(labels.findLast(({ textContent }) => textContent === 'preferredSeat'));
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
      })()`);
    expect(await lines()).toBe(1);
    await page.getByRole('button', { name: 'preferredSeat: value' }).click();
    await page.getByLabel('preferredSeat', { exact: true }).waitFor();
    expect(await lines()).toBe(1);
    expect(await watched.sidewaysScroll()).toBe(0);
    expect(await watched.axeFindings()).toEqual([]);
  });

  test('a form begins empty; what is not filled in is named before anything is sent', async () => {
    const { page } = await open(`${service}/routes/POST/bills/{id}/dishes`);
    const sent = sentBodies(page);
    const id = page.getByLabel('id', { exact: true });
    const cents = page.getByRole('textbox', { name: 'cents', exact: true });
    for (const field of [id, cents, page.getByLabel('name', { exact: true })])
      expect(await field.inputValue()).toBe('');
    expect(await page.locator('.field-problem').count()).toBe(0);
    await sendButton(page).click();
    await id.and(page.locator(':focus')).waitFor();
    expect(await page.locator('.field-problem').allTextContents()).toEqual([
      'must not be empty',
      'is not filled in',
    ]);
    expect(sent).toEqual([]);
    await id.fill('table-002');
    await page.getByRole('button', { name: 'Send anyway' }).click();
    await answerOf(page).getByRole('heading', { name: '400' }).waitFor();
    expect(sent).toEqual(['{"name":"","cents":null}']);
    await page.getByRole('button', { name: 'Reset' }).click();
    expect(await page.locator('.field-problem').count()).toBe(0);
  });

  test('a query parameter is left out at first, and its default shown', async () => {
    await send(serviceUrl, 'POST', '/bills/table-006/pay');
    const watched = await open(`${service}/routes/GET/bills/{id}/receipt`);
    const { page } = watched;
    const query = page.getByRole('group', { name: 'Query', exact: true });
    expect(await query.locator('.hint-text').allTextContents()).toEqual([
      'default: en',
      'default: 1',
      'default: true',
    ]);
    await page.getByLabel('id', { exact: true }).fill('table-006');
    await sendButton(page).click();
    await answerOf(page).getByText('paid (en, stamped)').waitFor();
    await page.getByRole('button', { name: 'copies: value' }).click();
    const copies = page.getByLabel('copies', { exact: true });
    expect(await copies.inputValue()).toBe('');
    expect(await copies.getAttribute('placeholder')).toBe('1');
    await copies.fill('2');
    await sendButton(page).click();
    await answerOf(page).getByText('paid (en, stamped) paid (en, stamped)').waitFor();
    expect(await watched.axeFindings()).toEqual([]);
  });

  describe('an answer is explained by its trace', () => {
    test('when a handler answered 404 on purpose', async () => {
      const { page } = await open(`${service}/routes/GET/bills/{id}/receipt`);
      await page.getByLabel('id', { exact: true }).fill('table-003');
      await sendButton(page).click();
      const answer = answerOf(page);
      await answer.getByText('BillEndpoint.receipt answered 404 on purpose.').waitFor();
      expect(await textOf(answer)).not.toContain('No route');
      await answer.getByRole('link', { name: 'Trace' }).click();
      const panel = page.getByRole('complementary', { name: 'Chosen span' });
      await panel.getByText('answered 404 on purpose').waitFor();
    });

    test('when an entity refused', async () => {
      await send(serviceUrl, 'POST', '/bills/table-004/pay');
      const { page } = await open(`${service}/routes/POST/bills/{id}/dishes`);
      await page.getByLabel('id', { exact: true }).fill('table-004');
      await page.getByLabel('name', { exact: true }).fill('tea');
      await page.getByRole('textbox', { name: 'cents', exact: true }).fill('300');
      await sendButton(page).click();
      const answer = answerOf(page);
      await answer.getByText('bill.order refused it: Conflict.').waitFor();
      expect(await textOf(answer)).toContain('the bill is paid');
      expect(await textOf(answer)).toContain('BillEndpoint.order passed the refusal on.');
    });

    test('when no handler ran', async () => {
      const { page } = await open(`${service}/routes/POST/bills/{id}/dishes`);
      await page.getByLabel('id', { exact: true }).fill('table-005');
      await page.getByRole('textbox', { name: 'cents', exact: true }).fill('1');
      await page.getByText('Query and headers').click();
      await page.getByRole('button', { name: 'Header' }).click();
      await page.getByLabel('Header', { exact: true }).fill('content-type');
      await page.getByLabel('Value', { exact: true }).fill('text/plain');
      await sendButton(page).click();
      const answer = answerOf(page);
      await answer.getByRole('heading', { name: '415' }).waitFor();
      // The page looks for the trace for a while.
      await page.clock.fastForward(POLL_MS);
      await expect
        .poll(async () => textOf(answer))
        .toContain('Either no handler ran (the body has another media type');
    });

    test('and goes on being explained when its trace has left the window', async () => {
      const form = `${service}/routes/GET/bills/{id}/receipt`;
      const { page } = await open(form);
      const answer = answerOf(page);
      const sendIt = async () => {
        await page.getByLabel('id', { exact: true }).fill('table-003');
        await sendButton(page).click();
      };
      await sendIt();
      const onPurpose = answer.getByText('BillEndpoint.receipt answered 404 on purpose.');
      await onPurpose.waitFor();
      await page.route('**/observability/traces/*', async (route) =>
        route.fulfill({ status: 404, json: { error: { code: 'NOT_FOUND', message: 'gone' } } }),
      );
      await show(page, `${service}/traces`);
      await show(page, form);
      await onPurpose.waitFor();
      // One whose trace was never seen: a route has its path, so it is not said that none does.
      await sendIt();
      await expect.poll(async () => textOf(answer)).toContain('Looking for the reason');
      await page.clock.fastForward(POLL_MS);
      await expect
        .poll(async () => textOf(answer))
        .toContain('The trace of this request is not in the window');
    });
  });

  test('a trace that a service does not have says why there may be none', async () => {
    const { page } = await open(`${service}/faults`);
    await show(page, `${service}/traces/${'ab'.repeat(16)}`);
    expect(await textOf(page.locator('main'))).toContain(
      'A request that no handler ran for has no trace',
    );
  });
});
