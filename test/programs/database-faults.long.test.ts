// A deployed service goes on by itself after its PostgreSQL server was killed, stopped, or cut off.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { CARTS } from '../support/crash/cart-load.ts';
import { DatabaseUnderLoad } from '../support/crash/database-under-load.ts';
import { managementOf } from '../support/deployed-service.ts';
import type { SvcProcess } from '../support/host-process.ts';
import { urlFile } from '../support/postgres/fresh-database.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedDatabase } from '../support/postgres/served-database.ts';
import { TcpFaultProxy } from '../support/tcp-fault-proxy.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'shopping-cart.wasm');
const KILLS = 3;
const CUTS = 5;
/** Requests that are answered before a fault, and after it. */
const BEFORE = 60;
const AFTER = 40;
const SOON = { timeout: 60_000, interval: 20 };
let server: PostgresServer;
let served: ServedDatabase;
let proxy: TcpFaultProxy;
let svc: SvcProcess;
let url: string;
let management: string;
let load: DatabaseUnderLoad;

beforeAll(async () => {
  const component = await compileFixture('shopping-cart');
  writeFileSync(module, component);
  server = await PostgresServer.start('18');
});
afterAll(() => server.stop());

/** A service that is connected through the proxy, while the test looks into the database without it. */
beforeEach(async () => {
  proxy = await TcpFaultProxy.to(server.port);
  served = new ServedDatabase(await server.freshDatabase(), module, temporaryFolder());
  const through = new URL(served.database.url);
  through.port = String(proxy.port);
  const source = urlFile(server.folder, served.database.name, through.href);
  svc = served.start({ deployed: true, shards: 2, source });
  onTestFinished(async () => {
    await svc.end('SIGKILL');
    await proxy.close();
  });
  url = await svc.listening();
  management = await managementOf(svc);
  load = new DatabaseUnderLoad(served, 22);
});

async function isAlive(): Promise<void> {
  expect((await fetch(`${management}/alive`)).status).toBe(200);
}

async function statusOf(cart: string): Promise<number> {
  const answer = await fetch(`${url}/carts/${cart}`);
  await answer.arrayBuffer();
  return answer.status;
}

/** Lets the load go on during a fault, and until the service answers again. */
async function under(fault: () => Promise<void>): Promise<void> {
  const running = load.start(url);
  await running.answered(BEFORE);
  await fault();
  await isAlive();
  await running.answered(AFTER);
  await running.end();
}

/** Throws unless the service is the same as before, and the journal what it has answered. */
async function checkService(): Promise<void> {
  await load.check(url);
  await isAlive();
  expect(svc.child.exitCode).toBeNull();
  expect(load.counts.unanswered).toBe(0);
}

test('a server that is killed and started again under load loses nothing that was answered', async () => {
  for (let kill = 0; kill < KILLS; kill++)
    await under(async () => {
      await server.kill();
      await isAlive();
      await server.restart();
    });
  await checkService();
  expect((await fetch(`${management}/ready`)).status).toBe(200);
}, 180_000);

test('a server that stops answering for longer than the lease stops queries, and nothing is lost', async () => {
  await under(async () => {
    await server.pause();
    try {
      await expect.poll(() => statusOf(CARTS[0]!), SOON).toBe(503);
      expect(new Set(await Promise.all(CARTS.map(statusOf)))).toEqual(new Set([503]));
      await isAlive();
    } finally {
      server.resume();
    }
  });
  await expect.poll(() => statusOf(CARTS[0]!), SOON).toBe(200);
  await checkService();
}, 180_000);

test('connections that are cut, refused, or let no answer through lose nothing that was answered', async () => {
  for (let cut = 0; cut < CUTS; cut++)
    await under(async () => {
      proxy.reset();
    });
  await under(async () => {
    proxy.refuse();
    await expect.poll(() => statusOf(CARTS[0]!), SOON).toBe(503);
    proxy.accept();
  });
  await under(async () => {
    proxy.holdAnswers();
    await expect.poll(() => statusOf(CARTS[0]!), SOON).toBe(503);
    // What was sent is carried out, and no answer of it comes through.
    proxy.reset();
    proxy.letAnswersThrough();
  });
  await checkService();
}, 180_000);
