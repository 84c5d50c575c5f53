// The history of a service is linearizable while its PostgreSQL server is killed, shut down, paused for longer than the lease, or cut off.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ClusterLoad } from '../support/cluster-load/cluster-load.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import type { SvcProcess } from '../support/host-process.ts';
import { urlFile } from '../support/postgres/fresh-database.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedDatabase } from '../support/postgres/served-database.ts';
import { TcpFaultProxy } from '../support/tcp-fault-proxy.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const module = join(temporaryFolderOfFile(), 'objects.wasm');
/** Ends a load whose faults never end. */
const REQUESTS_MAX = 100_000;
/** Requests that are answered between two faults. */
const BETWEEN = 100;
const SOON = { timeout: 60_000, interval: 50 };
let server: PostgresServer;
let served: ServedDatabase;
let proxy: TcpFaultProxy;
let svc: SvcProcess;
let load: ClusterLoad;

beforeAll(async () => {
  writeFileSync(module, await compileFixture('concurrent-objects'));
  server = await PostgresServer.start('18');
});
afterAll(() => server.stop());

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
  const url = await svc.listening();
  load = new ClusterLoad({ nodes: { only: url }, seed: SEED, requestsMax: REQUESTS_MAX });
  onTestFinished(() => load.close());
});

/** Resolves once so many further requests have got a status. */
async function seen(status: string, count: number): Promise<void> {
  const enough = (load.counts.get(status) ?? 0) + count;
  await expect.poll(() => load.counts.get(status) ?? 0, SOON).toBeGreaterThanOrEqual(enough);
}

/** Ends the load after some further requests. Returns what its history violates. */
async function problems(): Promise<readonly string[]> {
  await load.answered(BETWEEN);
  await load.end();
  await served.checkNumbers();
  expect(svc.child.exitCode).toBeNull();
  return load.problems();
}

test('a server is killed and shut down again and again', async () => {
  for (const end of ['kill', 'fast', 'immediate', 'kill'] as const) {
    await load.answered(BETWEEN);
    await (end === 'kill' ? server.kill() : server.shutDown(end));
    await seen('503', 20);
    await server.restart();
  }
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 300_000);

test('a server is paused for longer than the lease', async () => {
  await load.answered(BETWEEN);
  await server.pause();
  try {
    await seen('503', 20);
  } finally {
    server.resume();
  }
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 300_000);

test('connections are reset, some after they have let no answer through', async () => {
  for (let cut = 0; cut < 10; cut++) {
    await load.answered(BETWEEN);
    proxy.reset();
  }
  for (let cut = 0; cut < 2; cut++) {
    await load.answered(BETWEEN);
    proxy.holdAnswers();
    await seen('503', 20);
    // The server carries out what was sent, and no answer of it comes through.
    proxy.reset();
    proxy.letAnswersThrough();
  }
  expect(await problems(), `seed ${SEED}`).toEqual([]);
}, 300_000);
