// A service whose journal is in PostgreSQL, as its callers and its operator see it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, type TestContext } from 'vitest';
import { buildOrders, storedOrder } from '../support/crash/followed-orders.ts';
import { OWN_PLACES, runSvc, type SvcProcess } from '../support/host-process.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedDatabase, type ServiceOptions } from '../support/postgres/served-database.ts';
import { temporaryFoldersOfFile } from '../support/temporary-folder.ts';

const newFolder = temporaryFoldersOfFile();
const folder = newFolder();
const module = join(folder, 'orders.wasm');
const ORDERS = ['a', 'b', 'c', 'd', 'e', 'f'];
const SOON = { timeout: 30_000 };
const PASSWORD = 'never-printed';
let server: PostgresServer;

beforeAll(async () => {
  [server] = await Promise.all([
    PostgresServer.shared('18'),
    buildOrders(join(folder, 'orders', 'index.ts'), module),
  ]);
});

const newJournal = async () =>
  new ServedDatabase(await server.freshDatabase(), module, newFolder());

/** Starts a service that ends with the test. */
function started(
  { onTestFinished }: TestContext,
  journal: ServedDatabase,
  options?: ServiceOptions,
): SvcProcess {
  const svc = journal.start(options);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

/** Resolves with the URL of a service, whose view answers from then on. */
async function urlOf(svc: SvcProcess): Promise<string> {
  const url = await svc.listening();
  expect((await fetch(`${url}/orders/rows`)).status).toBe(200);
  return url;
}

/** Places an order with an idempotency key, and returns the position in the journal. */
async function place(url: string, id: string, number: number, delayMs = 10): Promise<string> {
  const answer = await fetch(`${url}/orders/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `${id}-${number}` },
    body: JSON.stringify({ number, delayMs, isDoomed: false }),
  });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  return answer.headers.get('svc-position')!;
}

/** Cancels the recurring timer of an order. */
async function quiet(url: string, id: string): Promise<void> {
  const answer = await fetch(`${url}/orders/${id}/quiet`, { method: 'POST' });
  expect(answer.status).toBe(204);
}

interface Row {
  readonly id: string;
  readonly placed: number;
  readonly expired: number;
}

/** Returns the row of an order, with everything that is before a position. */
async function rowOf(url: string, id: string, after: string): Promise<Row | undefined> {
  const answer = await fetch(`${url}/orders/rows`, { headers: { 'svc-after': after } });
  const text = await answer.text();
  expect({ status: answer.status, text }).toMatchObject({ status: 200 });
  return (JSON.parse(text) as { rows: Row[] }).rows.find((row) => row.id === id);
}

async function stored(journal: ServedDatabase, id: string) {
  // The mirror first: it notes events while the order is read.
  const mirror = await journal.records({ component: 'mirror', id });
  return storedOrder(id, await journal.records({ component: 'order', id }), mirror);
}

/** Resolves once so many deadlines of an order have fired, and the consumer has noted all events. */
async function followed(
  context: TestContext,
  journal: ServedDatabase,
  id: string,
  expired: number,
): Promise<void> {
  await context.expect
    .poll(async () => {
      const { counts, unnoted } = await stored(journal, id);
      return { expired: counts.expired, unnoted };
    }, SOON)
    .toEqual({ expired, unnoted: 0 });
}

test.concurrent.for<[shards: number, url: string, options: Pick<ServiceOptions, 'source'>]>([
  [1, 'a file', {}],
  [2, 'a variable', { source: { kind: 'environment', variable: 'ORDERS_URL' } }],
])(
  'commands, timers, a view and a consumer work with %i shards and the URL in %s, and go on after a stop',
  async ([shards, _url, options], context) => {
    const journal = await newJournal();
    const first = started(context, journal, { ...options, shards });
    const url = await urlOf(first);
    await Promise.all(
      ORDERS.map(async (id) => {
        await place(url, id, 1);
        await place(url, id, 1);
        const position = await place(url, id, 2);
        // The header names the slice of this order alone.
        expect(position).toMatch(/^p1-[0-9a-z]+:[0-9a-z]+$/);
        expect(await rowOf(url, id, position)).toMatchObject({ placed: 2 });
        await quiet(url, id);
      }),
    );
    for (const id of ORDERS) await followed(context, journal, id, 2);
    // This deadline fires in the next process.
    await Promise.all(ORDERS.map((id) => place(url, id, 3, 3_000)));
    expect(await journal.owned()).toEqual({ nodes: 1, slices: 1_024 });
    expect(await first.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(await journal.owned()).toEqual({ nodes: 0, slices: 0 });
    for (const id of ORDERS) expect((await stored(journal, id)).open).toEqual(new Set([3]));

    // If the first process had left a lease, this one would be refused. It has another number of shards.
    const again = await urlOf(started(context, journal, { ...options, shards: 3 - shards }));
    await Promise.all(
      ORDERS.map(async (id) => {
        await place(again, id, 2);
        expect(await rowOf(again, id, await place(again, id, 4))).toMatchObject({ placed: 4 });
      }),
    );
    for (const id of ORDERS) await followed(context, journal, id, 4);
    await journal.checkNumbers();
  },
);

test.concurrent('a standby takes over once the first runtime has stopped', async (context) => {
  const journal = await newJournal();
  const first = started(context, journal, { deployed: true });
  const url = await urlOf(first);
  await place(url, 'a', 1, 60_000);
  const standby = started(context, journal, { standby: true, deployed: true });
  await standby.logged(/"message":"management listening"/);
  await place(url, 'a', 2, 60_000);
  expect((await first.end('SIGTERM')).code).toBe(0);
  // It serves before its view has opened the rows.
  const next = await standby.listening();
  await context.expect
    .poll(async () => (await fetch(`${next}/orders/rows`)).status, SOON)
    .toBe(200);
  await place(next, 'a', 2, 60_000);
  expect(await rowOf(next, 'a', await place(next, 'a', 3, 60_000))).toMatchObject({ placed: 3 });
  const ended = await standby.end('SIGTERM');
  expect(ended.code).toBe(0);
  // It has tried to take over many times.
  expect(ended.stderr.match(/has no synchronous standby/g)).toHaveLength(1);
});

test.concurrent.for<[name: string, code: string, arrange: () => Record<string, string>]>([
  [
    'a file and a variable',
    'SVC_SETTING_INVALID',
    () => ({
      SVC_DATABASE_URL_FILE: urlIn(`postgresql://u:${PASSWORD}@127.0.0.1/d`),
      SVC_DATABASE_URL_VARIABLE: 'DB',
    }),
  ],
  [
    'a file that is missing',
    'SVC_DATABASE_URL_INVALID',
    () => ({ SVC_DATABASE_URL_FILE: join(folder, 'missing') }),
  ],
  [
    'a URL that cannot be parsed',
    'SVC_DATABASE_URL_INVALID',
    () => ({ SVC_DATABASE_URL_FILE: urlIn(`postgresql://u:${PASSWORD}@@127.0.0.1:1/d`) }),
  ],
  [
    'a password that is wrong',
    'SVC_DATABASE_UNUSABLE',
    () => ({ SVC_DATABASE_URL_FILE: urlIn(server.url('postgres', 'svc_test', PASSWORD)) }),
  ],
  [
    'a database that does not exist',
    'SVC_DATABASE_UNUSABLE',
    () => ({ SVC_DATABASE_URL_FILE: urlIn(server.url('missing')) }),
  ],
])('a service with %s does not start, and prints no password', async ([, code, arrange]) => {
  const words = ['run', module, '--port', '0', '--data', join(newFolder(), 'data')];
  const env = { ...OWN_PLACES, ...arrange() };
  const ended = await runSvc(words, { env });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(`[${code}]`);
  for (const secret of [PASSWORD, new URL(server.url('d')).password])
    expect(ended.stderr + ended.stdout).not.toContain(secret);
});

/** Writes a URL into a file of its own. */
function urlIn(url: string): string {
  const file = join(newFolder(), 'url');
  writeFileSync(file, url);
  return file;
}
