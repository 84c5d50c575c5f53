// A service on a database that is killed, or stopped for longer than its lease, while another one waits in standby.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { CartClient, itemsIn } from '../support/crash/cart-client.ts';
import { DatabaseUnderLoad } from '../support/crash/database-under-load.ts';
import type { SvcProcess } from '../support/host-process.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedDatabase, type ServiceOptions } from '../support/postgres/served-database.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'shopping-cart.wasm');
const KILLS = 10;
/** In these rounds the lease ends by itself, in the others by a statement of the test. */
const ROUNDS_WITH_LEASE = new Set([0, 5]);
let server: PostgresServer;

beforeAll(async () => {
  const [shared, component] = await Promise.all([
    PostgresServer.shared('18'),
    compileFixture('shopping-cart'),
  ]);
  server = shared;
  writeFileSync(module, component);
});

const freshDatabase = async () =>
  new ServedDatabase(await server.freshDatabase(), module, temporaryFolder());

/** Starts a deployed service that ends with the test. */
function started(served: ServedDatabase, options: ServiceOptions = {}): SvcProcess {
  const svc = served.start({ deployed: true, ...options });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

/** Adds an item to the cart `a`. */
const add = (client: CartClient, number: number) =>
  client.ask({ number, cart: 'a', lane: 0, kind: 'add', key: undefined });

test('a service that is killed again and again loses nothing that it has answered, and does nothing twice', async () => {
  const served = await freshDatabase();
  const load = new DatabaseUnderLoad(served, 22);
  let svc = started(served);
  for (let round = 0; round < KILLS; round++) {
    const url = await svc.listening();
    await load.check(url);
    const next = started(served, { standby: true, shards: 1 + ((round + 1) % 2) });
    const running = load.start(url);
    await running.answered(20 + ((round * 37) % 150));
    await svc.end('SIGKILL');
    await running.end();
    if (!ROUNDS_WITH_LEASE.has(round))
      await served.database.sql('UPDATE svc.node SET lease_until = clock_timestamp()');
    svc = next;
  }
  await load.check(await svc.listening());
  expect(load.counts.answered).toBeGreaterThan(500);
  expect(load.counts.unanswered).toBeGreaterThan(KILLS);
  expect(load.counts.repeated).toBeGreaterThan(5);
}, 300_000);

test('a service that was stopped for longer than its lease answers nothing stale, stores nothing, and serves again once nobody else does', async () => {
  const served = await freshDatabase();
  const first = started(served);
  const old = new CartClient(await first.listening());
  expect((await add(old, 1)).status).toBe(200);
  const second = started(served, { standby: true });
  await second.logged(/management listening/);
  first.child.kill('SIGSTOP');
  const next = new CartClient(await second.listening());
  expect((await add(next, 2)).status).toBe(200);

  // They are in the buffers of the stopped process. A query that is not answered with 200 rejects.
  const query = () => old.cart('a').catch(() => 'no answer');
  const asked = [query(), add(old, 3).then(({ status }) => status), query()] as const;
  first.child.kill('SIGCONT');
  const [before, command, after] = await Promise.all([
    asked[0],
    asked[1].catch(() => 503),
    asked[2],
  ]);
  expect([before, command, after]).toEqual(['no answer', 503, 'no answer']);
  expect(itemsIn(await next.cart('a'))).toEqual(['item-1', 'item-2']);
  expect(await served.owned()).toEqual({ nodes: 1, slices: 1_024 });
  next.close();
  expect(await second.end('SIGTERM')).toMatchObject({ code: 0 });
  await expect
    .poll(async () => itemsIn(await old.cart('a').catch(() => '')), { timeout: 60_000 })
    .toEqual(['item-1', 'item-2']);
  expect((await add(old, 3)).status).toBe(200);
  old.close();
});
