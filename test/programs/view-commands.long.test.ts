// svc views: what it shows of a running and of a stopped service, and the changes that it makes.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../model/entity.ts';
import { append } from '../suites/journal-suite.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { viewModule } from '../support/view-module.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const orders = join(folder, 'orders.wasm');
const counters = join(folder, 'counters.wasm');
const running: SvcProcess[] = [];

beforeAll(async () => {
  writeFileSync(orders, await compileFixture('order-list'));
  writeFileSync(counters, await viewModule());
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.end('SIGKILL')));
});

async function serve(module: string, data: string) {
  const service = new SvcProcess(['run', module, '--port', '0', '--data', data, '--shards', '1']);
  running.push(service);
  return { url: await service.listening(), service };
}

interface Listed {
  readonly views: readonly {
    readonly view: string;
    readonly definition: string;
    readonly state: string;
    readonly lagRecords: number;
    readonly lagSeconds: number;
    readonly problem: { readonly code: string; readonly event: object } | null;
    readonly skipped: readonly { readonly reason: string }[];
    readonly queries: readonly string[];
  }[];
}

const viewsOf = async (data: string) =>
  (JSON.parse((await runCommand(['views', data, '-o', 'json'])).stdout) as Listed).views;
const query = (data: string, ...args: readonly string[]) =>
  runCommand(['views', 'query', data, ...args]);

function placed(cents: number): JournalRecord {
  const event = { manifest: 'order-event', json: `{"type":"placed","cents":${cents}}` };
  return { kind: 'event', seq: 1, timeMs: 1, event };
}

describe('the rows of a view', () => {
  const data = join(folder, 'orders');
  test('are listed and queried beside a host', async () => {
    await withJournal(data, async (journal) => {
      for (const [id, cents] of [
        ['o1', 1],
        ['o2', 2],
        ['o3', 3],
        ['o4', 4],
        ['o5', 5],
        ['\u001b[2J', 9],
      ] as const)
        // oxlint-disable-next-line no-await-in-loop -- in this order
        expect(await append(journal, { component: 'order', id }, placed(cents))).toBeUndefined();
    });
    const { service, url } = await serve(orders, data);
    expect((await fetch(`${url}/orders`)).status).toBe(200);
    expect(await viewsOf(data)).toMatchObject([
      {
        view: 'orders',
        state: 'live',
        lagRecords: 0,
        lagSeconds: 0,
        queries: ['of-status', 'all'],
      },
      { view: 'amounts', state: 'live' },
    ]);
    expect(JSON.parse((await query(data, 'orders', 'all', '-o', 'json')).stdout)).toMatchObject({
      rows: { length: 6 },
      next: null,
    });
    await service.end('SIGTERM');
  });

  test('are listed and queried without a host, a line for each', async () => {
    const list = await runSvc(['views', data]);
    expect(list.code).toBe(0);
    expect(list.stdout).toMatch(/^view +state +behind +since +definition +queries\n/);
    expect(list.stdout).toMatch(/\norders +live +0 +- +[0-9a-f]{12} +of-status, all\n/);
    const { code, stdout, stderr } = await query(data, 'orders', 'all');
    expect([code, stderr]).toEqual([0, '']);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject(Array.from({ length: 6 }, () => ({ status: 'placed', reminders: 0 })));
    // The rows of amounts have the ids of orders.
    const amounts = await query(data, 'orders', 'of-status', '--input', '{"status":"paid"}');
    expect(amounts).toMatchObject({ code: 0, stdout: '', stderr: 'There is no such row.\n' });
  });

  test('are found by their keys', async () => {
    const { code, stdout } = await query(data, 'orders', 'get', '--key', 'o5');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { cents: 5 }]);
    expect(await query(data, 'orders', 'get', '--key', 'o77')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'There is no such row.\n',
    });
  });

  test('come in pages', async () => {
    const seen = new Set<number>();
    let cursor: string | null = null;
    do {
      const args: readonly string[] = cursor === null ? [] : ['--cursor', cursor];
      // oxlint-disable-next-line no-await-in-loop -- a page names the next one
      const { stdout } = await query(data, 'orders', 'all', '--limit', '4', '-o', 'json', ...args);
      const page = JSON.parse(stdout) as {
        rows: readonly { cents: number }[];
        next: string | null;
      };
      for (const { cents } of page.rows) seen.add(cents);
      cursor = page.next;
    } while (cursor !== null);
    expect(seen).toEqual(new Set([1, 2, 3, 4, 5, 9]));
    const text = await query(data, 'orders', 'all', '--limit', '1');
    expect(text.stderr).toMatch(/^There is more: --cursor=\S+\n$/);
  });

  test.each([
    [['nothing', 'all'], 1, "no view 'nothing'", 'SVC_FIND_INVALID'],
    [['ordrs', 'all'], 1, "Did you mean 'orders'? The views are: orders,", 'SVC_FIND_INVALID'],
    [['orders', 'nothing'], 1, "no query 'nothing'", 'SVC_FIND_INVALID'],
    [['orders', 'of-sttus'], 1, "mean 'of-status'? The queries are: of-status, all.", 'SVC_FIND'],
    [
      ['orders', 'of-status', '--input', '{"sttus":"paid"}'],
      1,
      "no parameter 'sttus'. Did you mean 'status'? The parameters are: status.",
      'SVC_FIND_INVALID',
    ],
    [['orders', 'get'], 2, "'get --key KEY'", 'SVC_USAGE'],
    [['orders', 'all', '--key', 'o1'], 2, "with the query 'get' alone", 'SVC_USAGE'],
    [['orders', 'of-status', '--input', '{'], 1, 'they are not JSON', 'SVC_FIND_INVALID'],
    [['orders', 'of-status', '--input', '{"status":7}'], 1, 'do not fit', 'SVC_FIND_INVALID'],
    [['orders', 'all', '--cursor', 'forged'], 1, 'cursor', 'SVC_FIND_INVALID'],
    [['orders', '\u001b[2J'], 1, 'no query', 'SVC_FIND_INVALID'],
    [['orders', 'all', '--limit', '0'], 2, 'from 1 to 1000', 'SVC_USAGE'],
    [['orders', 'all', '--limit', '1001'], 2, 'from 1 to 1000', 'SVC_USAGE'],
  ])('are refused to %j', async (args, exit, why, errorCode) => {
    const { code, stdout, stderr } = await query(data, ...args);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(why);
    expect(stderr).toContain(errorCode);
    expect(stderr).not.toContain('\u001b[2J');
  });

  test('are built again by the next start after a rebuild without a host', async () => {
    const rebuilt = await runCommand(['views', 'rebuild', data, 'orders']);
    expect(rebuilt).toMatchObject({
      code: 0,
      stderr: "The rows of the view 'orders' are built again at the next start.\n",
    });
    const { stderr } = await query(data, 'orders', 'all');
    expect(stderr).toMatch(/Start the service: it builds them.*\[SVC_VIEW_REBUILDING\]/s);
    expect(stderr).not.toContain('is being built');
    expect(await viewsOf(data)).toMatchObject([
      { state: 'building', lagRecords: 6 },
      { state: 'live' },
    ]);
    const { url } = await serve(orders, data);
    expect(await (await fetch(`${url}/orders`)).json()).toMatchObject({ rows: { length: 6 } });
    const again = await runCommand(['views', 'rebuild', data, 'orders']);
    expect(again.stderr).toBe("The rows of the view 'orders' are built again.\n");
    await expect
      .poll(async () => (await query(data, 'orders', 'all')).stdout.split('\n').length)
      .toBe(7);
    const none = await runCommand(['views', 'rebuild', data, 'nothing']);
    expect(none.stderr).toMatch(/no view 'nothing'.*\[SVC_NOT_IN_JOURNAL\]\n$/);
  });
});

test('a view that has stopped names the event, and continues without it', async () => {
  const data = join(temporaryFolder(), 'data');
  const { url, service } = await serve(counters, data);
  await fetch(`${url}/counters/1/1`);
  expect((await fetch(`${url}/counters/1/bad`)).status).toBeGreaterThan(500);
  const stopped = {
    state: 'stopped',
    problem: { code: 'SVC_VIEW_STOPPED', event: { component: 'counter', id: 'bad', seq: 1 } },
  };
  expect(await viewsOf(data)).toMatchObject([stopped]);
  expect((await runCommand(['views', data])).stdout).toMatch(
    /^counters: stopped at event 1 of counter\/bad: .*\[SVC_VIEW_STOPPED\]$/m,
  );
  // What is there is shown all the same.
  expect((await query(data, 'counters', 'all')).stdout).toBe('{}\n');

  const skip = (entity: string, event: string, ...reason: readonly string[]) =>
    runCommand(['views', 'skip', data, 'counters', entity, event, ...reason]);
  expect((await skip('counter/bad', '1')).stderr).toContain('--reason');
  expect((await skip('counter/bad', '0', '--reason', 'x')).code).toBe(2);
  const elsewhere = await skip('counter/1', '1', '--reason', 'x');
  expect(elsewhere.stderr).toMatch(
    /has not stopped at event 1 of counter\/1.*\[SVC_NOT_IN_JOURNAL\]/,
  );
  const done = await skip('counter/bad', '1', '--reason', 'known: \u001b[2J');
  expect(done).toMatchObject({
    code: 0,
    stderr: "The view 'counters' continues without event 1 of counter/bad.\n",
  });
  await expect.poll(async () => (await viewsOf(data))[0]!.state).toBe('live');
  expect(await viewsOf(data)).toMatchObject([
    { lagRecords: 0, problem: null, skipped: [{ component: 'counter', id: 'bad', seq: 1 }] },
  ]);
  const list = await runCommand(['views', data]);
  expect(list.stdout).toContain('skips event 1 of counter/bad');
  expect(list.stdout).not.toContain('\u001b[2J');
  const { skipped } = (await viewsOf(data))[0]!;
  await service.end('SIGTERM');
  expect((await viewsOf(data))[0]!.skipped).toEqual(skipped);
  expect((await runCommand(['views', data])).stdout).toContain('skips event 1 of counter/bad');
  const offline = await skip('counter/bad', '1', '--reason', 'x');
  expect(offline.stderr).toContain('Start the service');
});

test('a view whose file is torn or missing after a kill needs the service', async () => {
  const data = join(temporaryFolder(), 'data');
  const { service } = await serve(counters, data);
  await expect.poll(async () => (await viewsOf(data))[0]?.state).toBe('live');
  const views = await viewsOf(data);
  await service.end('SIGKILL');
  const file = join(data, 'views', `${views[0]!.definition}.sqlite`);
  const asked = async () => (await query(data, 'counters', 'all')).stderr;
  writeFileSync(file, 'torn');
  expect(await asked()).toMatch(/Start the service: it builds them.*\[SVC_VIEW_REBUILDING\]/s);
  rmSync(file);
  expect(await asked()).toMatch(/Start the service: it builds them.*\[SVC_VIEW_REBUILDING\]/s);
});
