// The commands that read a journal, on a database on which a service runs: they show what they show of a copy in a folder.
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildOrders } from '../support/crash/followed-orders.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedDatabase } from '../support/postgres/served-database.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'orders.wasm');
/** It has another definition of the view. */
const next = join(folder, 'next.wasm');
const SOON = { timeout: 60_000 };
const DELAY_MS = 3_600_000;
let server: PostgresServer;

beforeAll(async () => {
  [server] = await Promise.all([
    PostgresServer.shared('18'),
    buildOrders(join(folder, 'orders', 'index.ts'), module),
    buildOrders(join(folder, 'next', 'index.ts'), next, '2'),
  ]);
});

/** Runs a command with its output on a pipe. Returns what it has printed. */
async function svc(...args: readonly string[]): Promise<string> {
  const env = { FORCE_COLOR: undefined, NO_COLOR: undefined };
  const { code, stdout, stderr } = await runSvc([...args], { env });
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

async function post(url: string, path: string, body: unknown = {}): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `${path}-key` },
    body: JSON.stringify(body),
  });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
}

test('the commands that read a journal work on a database beside its service', async () => {
  const served = new ServedDatabase(await server.freshDatabase(), module, temporaryFolder());
  const { source } = served.database;
  if (source.kind !== 'file') throw new Error('the URL is in a file');
  const running = served.start({ shards: 2 });
  onTestFinished(async () => void (await running.end('SIGKILL')));
  const url = await running.listening();
  for (const id of ['a', 'b', 'c']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await post(url, `/orders/${id}`, { number: 1, delayMs: DELAY_MS, isDoomed: false });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await post(url, `/orders/${id}/quiet`);
  }
  const mirrored = "SELECT count(*)::int FROM svc.journal WHERE component = 'mirror'";
  const orders = "SELECT count(*)::int FROM svc.journal WHERE component = 'order'";
  await expect
    .poll(async () => served.database.sql(`SELECT (${mirrored}) = (${orders}) AS same`), SOON)
    .toEqual([{ same: true }]);
  const here = `url-file:${source.path}`;
  await expect
    .poll(async () => JSON.parse(await svc('consumers', here, '-o', 'json')).consumers, SOON)
    .toEqual([expect.objectContaining({ consumer: 'copy', retrying: 0, parked: 0 })]);

  const there = join(temporaryFolder(), 'copy');
  await svc('journal', 'copy', here, there);
  const variable = await runSvc(['journal', 'url-variable:ORDERS_URL', '-o', 'names'], {
    env: { ORDERS_URL: served.database.url },
  });
  expect(variable.stdout).toBe('mirror\norder\n');
  for (const command of [
    ['journal', 'export'],
    ['journal', 'verify'],
    ['journal'],
    ['journal', '', 'order'],
    ['journal', '', 'order', 'a', '-o', 'json'],
    ['timers'],
    ['timers', '', '--owner', 'order/b', '-o', 'json'],
    ['consumers', '', 'copy'],
    ['entity', '', 'order', 'a', '--module', module, '--steps', '-o', 'json'],
    ['upgrade-check', module, '--from', module, '-o', 'json', '--data'],
    ['verify', module, '--data'],
  ]) {
    const on = (journal: string) =>
      command.includes('') ? command.map((word) => word || journal) : [...command, journal];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [shown, copied] = await Promise.all([svc(...on(here)), svc(...on(there))]);
    expect(shown.replaceAll(here, there)).toBe(copied);
  }

  const [view] = JSON.parse(await svc('views', here, '-o', 'json')).views;
  expect(view).toMatchObject({ view: 'orders', state: 'live', queries: ['all'] });
  const { rows } = JSON.parse(await svc('views', 'query', here, 'orders', 'all', '-o', 'json'));
  expect(rows).toEqual(['a', 'b', 'c'].map((id) => expect.objectContaining({ id, placed: 1 })));
  const prepare = (file: string) => svc('views', 'prepare', file, '--data', here);
  expect(await prepare(module)).toBe('orders: a running service keeps it up to date\n');
  expect(await prepare(next)).toBe('orders: built, 3 rows\n');
  expect(await prepare(next)).toBe('orders: brought up to date, 3 rows\n');

  const events = new SvcProcess(['journal', here, '--events', '-f', '--after', 'last']);
  onTestFinished(async () => void (await events.end('SIGKILL')));
  await expect
    .poll(async () => {
      await post(url, `/orders/${crypto.randomUUID()}`, {
        number: 2,
        delayMs: DELAY_MS,
        isDoomed: false,
      });
      return events.stdout;
    }, SOON)
    .toMatch(/^ *\d+\.\d+\.\d+ .* order \S+ 1 {2}order-event {2}\{"type":"placed"/m);
  expect(await events.end('SIGINT')).toMatchObject({ code: 0 });
  expect(await running.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(running.stderr).not.toMatch(/"level":"error"/);
}, 300_000);
