// Views, timers and consumers in the console: a real browser, a real console, and services whose view has stopped, whose
// timer is dead, and whose consumer has parked an event.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Type } from 'typebox';
import type { ServiceList } from '@svc/contract';
import { buildStalePage } from '../../cli/console-page.ts';
import { type Console, startConsole } from '../../console/server/console.ts';
import { callOf, createService, defineEntity, Due } from '../../host/embed.ts';
import { journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { openTimerReader } from '../../host/storage/sqlite/timer-reader.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { end } from '../support/timer-writes.ts';
import { viewModule } from '../support/view-module.ts';
import { withJournal } from '../support/with-journal.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The console's page is not tried in a browser: ${noBrowser}.\n`);

const folder = temporaryFolderOfFile();
const runningFolder = join(folder, 'running');
const services: SvcProcess[] = [];
let browser: Browser;
let served: Console;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

async function serve(name: string, module: Uint8Array): Promise<string> {
  const file = join(folder, `${name}.wasm`);
  writeFileSync(file, module);
  const words = ['run', file, '--port', '0', '--name', name, '--data', join(folder, name)];
  const service = new SvcProcess(words, { env: { SVC_RUNNING_DIR: runningFolder } });
  services.push(service);
  return service.listening();
}

async function open(name: string, screen: string): Promise<WatchedPage> {
  const list = (await (await fetch(`${served.url}/api/services`)).json()) as ServiceList;
  const { instanceId } = list.services.find((service) => service.name === name)!;
  const shown = { viewport: { width: 1100, height: 700 } };
  const watched = await WatchedPage.open(browser, served.url, shown, `/s/${instanceId}/${screen}`);
  onTestFinished(async () => {
    await watched.close();
    expect(watched.problems).toEqual([]);
  });
  return watched;
}

const alarm = defineEntity({
  component: 'alarm',
  state: { manifest: 'alarm', schema: Type.Object({ rung: Type.Integer() }) },
  event: {
    manifest: 'alarm-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('rung') })]),
  },
  empty: () => ({ rung: 0 }),
  apply: ({ rung }) => ({ rung: rung + 1 }),
  commands: {
    ring: {
      input: Type.Integer(),
      handle: (_state, _times, { persist }) => persist({ type: 'rung' }).thenReply(),
    },
  },
  queries: { get: { reply: Type.Object({ rung: Type.Integer() }), handle: (state) => state } },
});

describe.skipIf(noBrowser !== undefined)('the console', () => {
  beforeAll(async () => {
    mkdirSync(runningFolder);
    buildStalePage(join(import.meta.dirname, '../..'));
    browser = await launchBrowser();
    served = await startConsole({ port: 0, runningFolder, failed: () => {} });
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.end('SIGTERM')));
    await served.close();
    await browser.close();
  });

  test('shows rows by a query, and lets a view continue that has stopped', async () => {
    const url = await serve('counters', await viewModule());
    await fetch(`${url}/counters/1/1`);
    await fetch(`${url}/counters/1/bad`);
    const { page } = await open('counters', 'views');
    await page.getByText('stopped', { exact: true }).waitFor();
    await page.getByText('counter/bad, event 1').waitFor();
    await page.getByRole('region', { name: 'rows of the view' }).waitFor();
    await page.getByRole('button', { name: 'Skip the event', exact: true }).click();
    await page.getByPlaceholder('Reason').fill('known');
    await page.getByRole('button', { name: 'Skip the event now' }).click();
    await page.getByText('live', { exact: true }).first().waitFor();
    await page.getByText('skips event 1 of counter/bad').waitFor();
    expect(await page.getByRole('button', { name: 'Skip the event' }).count()).toBe(0);
  });

  test('retries a dead timer', async () => {
    const module = await compileFixture('expiring-order');
    const url = await serve('orders', module);
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/orders/o1`, { method: 'PUT', headers, body: '{"cents":100}' });
    await services.at(-1)?.end('SIGTERM');
    const data = join(folder, 'orders');
    await withJournal(data, async (journal) => {
      const reader = openTimerReader(journalPath(data));
      const [timer] = reader.list({}, 0, 1).timers;
      reader.close();
      const order = { component: 'order', id: 'o1' };
      const dead = { kind: 'dead', fault: 'it trapped' } as const;
      expect(await end(journal, order, timer!, dead)).toBeUndefined();
    });
    await serve('orders', module);
    const { page } = await open('orders', 'timers');
    await page.getByText('it trapped').waitFor();
    await page.getByRole('link', { name: 'pending' }).click();
    await page.getByText('There is no timer.').waitFor();
    await page.getByRole('link', { name: 'dead' }).click();
    await page.getByRole('link', { name: 'order/o1' }).first().click();
    await page.getByText('1 timer', { exact: true }).click();
    await page.getByText('it trapped').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('button', { name: 'Retry now' }).click();
    await page.getByText('No timer is dead').waitFor();
    const traces = await open('orders', 'traces');
    await traces.page.getByRole('link', { name: 'order.expire' }).click();
    await traces.page.getByRole('treeitem').getByText('timer', { exact: true }).waitFor();
  });

  test('only shows the timers of a service that a program embeds', async () => {
    const service = await createService({
      name: 'embedded',
      dataFolder: join(folder, 'embedded'),
      entities: [alarm],
      schedules: [{ id: 'daily', due: Due.every(86_400_000), call: callOf(alarm, 'a').ring(1) }],
      http: false,
      log: 'none',
      observability: { runningFolder },
    });
    onTestFinished(() => service.stop(0));
    const { page } = await open('embedded', 'timers');
    await page.getByText('daily').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  test('shows the reason of a parked event, and skips it', async () => {
    const url = await serve('books', await compileFixture('order-bookkeeping'));
    await fetch(`${url}/orders/o1`, { method: 'PUT' });
    await fetch(`${url}/orders/o1`, { method: 'DELETE' });
    const { page } = await open('books', 'consumers');
    await page.getByText('no order expires here').waitFor();
    await page.getByRole('button', { name: 'Skip', exact: true }).click();
    await page.getByPlaceholder('Reason').fill('booked by hand');
    await page.getByRole('button', { name: 'Skip now' }).click();
    await page.getByText('No events wait.').waitFor();
    expect(await page.getByRole('button', { name: 'Skip', exact: true }).count()).toBe(0);
    const traces = await open('books', 'traces');
    await traces.page.getByRole('link', { name: 'DELETE /orders/{' }).click();
    const span = traces.page.getByRole('treeitem', { name: 'bookkeeping.order' });
    await span.getByText('consumer', { exact: true }).waitFor();
    await span.click();
    await traces.page.getByRole('link', { name: 'o1', exact: true }).waitFor();
  });
});
