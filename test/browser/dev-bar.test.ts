// What the console and the terminal show of a service while somebody works on it: one real session of svc dev, in which
// the module is broken in each way that there is, and mended.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { BUG, type Developed, Restaurant, send } from './support/restaurant.ts';
import { textOf } from './support/screen.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const folder = temporaryFolderOfFile();
const noBrowser = whyNoBrowser();
const REGISTERED = 'register<BillEndpoint>();\n';
const NO_START = 'let tables = 0;\nif (tables == 0) throw new Error("no tables");\n';

let restaurant: Restaurant;
let kitchen: Developed;
let watched: WatchedPage;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const bar = () => watched.page.locator('.dev-bar');
/** The bar's line, once it is of the kind; what there is to it is open then. */
const shown = async (line: RegExp): Promise<string> => {
  await bar().locator('.dev-line').getByText(line).waitFor();
  await bar().evaluate('document.querySelector("details.dev-bar").open = true');
  return textOf(bar());
};
const isServed = async () => (await fetch(`${kitchen.url}/bills/table-1/shares/2`)).status;

describe.skipIf(noBrowser !== undefined)('while a module is worked on', () => {
  beforeAll(async () => {
    restaurant = await Restaurant.open(folder);
    const [browser, developed] = await Promise.all([
      launchBrowser(),
      restaurant.develop('kitchen'),
    ]);
    kitchen = developed;
    await send(kitchen.url, 'POST', '/bills/table-1/dishes', { name: 'soup', cents: 650 });
    const service = await restaurant.instanceOf('kitchen');
    watched = await WatchedPage.open(browser, restaurant.url, {}, `/s/${service}`);
    await bar().getByText('serving').waitFor();
  });
  afterAll(async () => {
    await watched?.page.context().browser()?.close();
    await restaurant?.close();
  });

  test('stored events that no longer fold are a warning', async () => {
    kitchen.edit('@variant("dish-ordered")', '@variant("dish-served")');
    const finding = "bill: stored events 'dish-ordered' are refused (table-1, event 1)";
    expect(await shown(/^serving; stored events no longer fold: 1 finding$/)).toContain(finding);
    await expect.poll(kitchen.said).toContain('◆ stored events no longer fold');
    expect(kitchen.said()).toContain(finding);
    expect(await watched.axeFindings()).toEqual([]);
  });

  test('a module that does not start is told of with its place, and the one before serves on', async () => {
    kitchen.edit(REGISTERED, REGISTERED + NO_START);
    const why = 'The module failed while it started';
    await shown(new RegExp(`^refused: ${why}`));
    const line = kitchen.lineOf('throw new Error');
    await bar().getByText(`assembly/index.ts:${line}:`).waitFor();
    const text = await textOf(bar());
    expect(text).toContain('throw new Error("no tables");');
    expect(text).toContain('The module before this one is served on.');
    // Of the one that is served.
    expect(text).toContain("stored events 'dish-ordered' are refused");
    await expect.poll(kitchen.said).toMatch(new RegExp(`✕ not served: ${why}.*goes on`));
    expect(kitchen.said()).toContain(`assembly/index.ts:${line}:`);
    // Its events do not fold, which is no answer of one that is away.
    expect(await isServed()).toBe(500);
    expect(await watched.axeFindings()).toEqual([]);
  });

  test('a compile error is told of with its place', async () => {
    kitchen.edit('/ input.guests', '/ input.guest');
    expect(await shown(/^1 compile error$/)).toContain(BUG.place);
    await expect.poll(kitchen.said).toMatch(/✕ 1 problem · what was served before goes on/);
    expect(kitchen.said()).toContain(`${BUG.place}:`);
    expect(await watched.axeFindings()).toEqual([]);
  });

  test('mended, it is served, and nothing of it is left in the bar', async () => {
    kitchen.mend();
    await bar()
      .locator('.dev-line')
      .getByText(/^serving, built in [^:]*$/)
      .waitFor();
    await expect.poll(() => watched.page.locator('details.dev-bar').count()).toBe(0);
    expect(await textOf(bar())).not.toContain('finding');
    expect(await isServed()).toBe(200);
    expect(watched.problems).toEqual([]);
  });
});
