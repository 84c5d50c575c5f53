// The console and the terminal during a session of svc dev, in which the module is broken in every possible way, and
// fixed.
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { BUG, type Developed, Restaurant, send } from './support/restaurant.ts';
import { textOf } from './support/screen.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const folder = temporaryFolderOfFile();
const noBrowser = whyNoBrowser();
/** Time after which the page has polled again, in milliseconds. */
const POLL_MS = 1_000;
const REGISTERED = 'register<BillEndpoint>();\n';
const NO_START = 'let tables = 0;\nif (tables == 0) throw new Error("no tables");\n';

let restaurant: Restaurant;
let kitchen: Developed;
let watched: WatchedPage;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const bar = () => watched.page.locator('.dev-bar');
/** Waits until the bar has polled again, and displays this line. */
const says = async (line: RegExp): Promise<void> => {
  const told = bar().locator('.dev-line').getByText(line);
  const isTold = async () => {
    await watched.page.clock.fastForward(POLL_MS);
    return told.count();
  };
  await expect.poll(isTold, { interval: 100 }).toBe(1);
};
/** Returns the details of the line, once it is the expected one. */
const shown = async (line: RegExp): Promise<string> => {
  await says(line);
  await bar().evaluate('document.querySelector("details.dev-bar").open = true');
  return textOf(bar());
};
const nothingIsLeft = async () => {
  await says(/^serving, built in [^:]*$/);
  await expect.poll(() => watched.page.locator('details.dev-bar').count()).toBe(0);
  expect(await textOf(bar())).not.toContain('finding');
};
/** Starts another program on the service's port, between two modules. */
const portTaken = async (): Promise<Server> => {
  const port = Number(new URL(kitchen.url).port);
  const timesServed = () => kitchen.said().split('● serving').length;
  for (let seen = 0, edits = 0; ;) {
    // The new module was faster; try again.
    if (seen !== timesServed()) kitchen.edit('import ', `// ${++edits}\nimport `);
    seen = timesServed();
    const server = createServer().listen(port, '127.0.0.1');
    const listens = once(server, 'listening').then(() => true);
    if (await listens.catch(() => false)) return server;
  }
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

  test('a module that does not start is shown with its source location, and the previous one continues to serve', async () => {
    kitchen.edit(REGISTERED, REGISTERED + NO_START);
    const why = 'The module failed while it started';
    await shown(new RegExp(`^refused: ${why}`));
    const line = kitchen.lineOf('throw new Error');
    await bar().getByText(`assembly/index.ts:${line}:`).waitFor();
    const text = await textOf(bar());
    expect(text).toContain('throw new Error("no tables");');
    expect(text).toContain('The previous module is still served.');
    // The findings belong to the served module.
    expect(text).toContain("stored events 'dish-ordered' are refused");
    await expect.poll(kitchen.said).toMatch(new RegExp(`✕ not served: ${why}.*goes on`));
    expect(kitchen.said()).toContain(`assembly/index.ts:${line}:`);
    // Its events cannot be folded, but the service still answers.
    expect(await isServed()).toBe(500);
    expect(await watched.axeFindings()).toEqual([]);
  });

  test('a compile error is shown with its source location', async () => {
    kitchen.edit('/ input.guests', '/ input.guest');
    expect(await shown(/^1 compile error$/)).toContain(BUG.place);
    await expect.poll(kitchen.said).toMatch(/✕ 1 problem · what was served before goes on/);
    expect(kitchen.said()).toContain(`${BUG.place}:`);
    expect(await watched.axeFindings()).toEqual([]);
  });

  test('mended, it is served, and nothing of it is left in the bar', async () => {
    kitchen.mend();
    await nothingIsLeft();
    expect(await isServed()).toBe(200);
  });

  test('one that finds its port taken is tried again, and once it serves nothing of that is left in the bar', async () => {
    const taken = await portTaken();
    const text = await shown(/^refused: .*\[SVC_PORT_IN_USE\]$/);
    expect(text).toContain('this one is started again until it serves');
    expect(text).not.toContain('is still served');
    await new Promise((resolve) => {
      taken.close(resolve);
    });
    await nothingIsLeft();
    expect(await isServed()).toBe(200);
    expect(kitchen.said()).toMatch(/✕ not served: .* · it is tried again\n(?:.*\n)*.*● serving · /);
    expect(watched.problems).toEqual([]);
  });
});
