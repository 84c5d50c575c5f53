// A node that is stopped while its database does not answer: it ends before its orchestrator kills it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster } from '../support/postgres/served-cluster.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

/** What the guide says, in milliseconds. */
const END_MS = 25_000;
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
