// A node that is stopped while its database does not answer: it ends before its orchestrator kills it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { urlFile } from '../support/postgres/fresh-database.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster } from '../support/postgres/served-cluster.ts';
import { TcpFaultProxy } from '../support/tcp-fault-proxy.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

/** What the guide says, in milliseconds. */
const END_MS = 25_000;
/** How long the database has not answered when a stop begins, in milliseconds. */
const HUNG_MS = 6_000;
const module = join(temporaryFolderOfFile(), 'bookkeeping.wasm');
let server: PostgresServer;

beforeAll(async () => {
  const [started, component] = await Promise.all([
    PostgresServer.shared('18'),
    compileFixture('order-bookkeeping'),
  ]);
  server = started;
  writeFileSync(module, component);
});

test('a node whose database does not answer ends within its bounds', async () => {
  const cluster = await ServedCluster.of(server, module, temporaryFolder());
  onTestFinished(() => cluster.close());
  const { url, svc, database } = await cluster.start('first');
  expect((await fetch(`${url}/orders/o1`, { method: 'PUT' })).ok).toBe(true);
  database.holdRequests();
  database.holdAnswers();
  // A command is under way whose outcome nobody learns.
  const answer = fetch(`${url}/orders/o2`, { method: 'PUT' }).then(
    ({ status }) => status,
    () => 'cut',
  );
  const startedMs = performance.now();
  const { code } = await svc.end('SIGTERM');
  expect(performance.now() - startedMs).toBeLessThan(END_MS);
  expect(code).toBe(0);
  expect([503, 504, 'cut']).toContain(await answer);
}, 60_000);

test('a node that settles events ends within its bounds, although none of the two hosts of its database has answered for a while', async () => {
  const scratch = temporaryFolder();
  const cluster = await ServedCluster.of(server, module, scratch);
  onTestFinished(() => cluster.close());
  const hosts = await Promise.all([TcpFaultProxy.to(server.port), TcpFaultProxy.to(server.port)]);
  onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.close()))));
  const direct = new URL(cluster.served.database.url);
  const named = hosts.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const through = direct.href.replace(direct.host, named);
  const file = urlFile(scratch, 'two-hosts', through) as { readonly path: string };
  const { url, svc } = await cluster.start('first', [`svc.database.url-file=${file.path}`]);
  const hung = new AbortController();
  let events = 0;
  const callers = Array.from({ length: 4 }, async (_, caller) => {
    for (let order = 0; !hung.signal.aborted; order++)
      // oxlint-disable-next-line no-await-in-loop -- a call follows the other
      await fetch(`${url}/orders/c${caller}-${order}`, { method: 'PUT' }).then(
        ({ ok }) => (events += Number(ok)),
        () => undefined,
      );
  });
  // The consumer has settled events, and settles others.
  await expect.poll(() => events, { timeout: 10_000 }).toBeGreaterThan(200);
  hung.abort();
  for (const host of hosts) {
    host.holdRequests();
    host.holdAnswers();
  }
  await pause(HUNG_MS);
  const startedMs = performance.now();
  const { code } = await svc.end('SIGTERM');
  expect(performance.now() - startedMs).toBeLessThan(END_MS);
  expect(code).toBe(0);
  await Promise.all(callers);
}, 90_000);
