// IdentifiedClusters are clusters of the service `cart` of concurrent objects, for the tests of a file: they share a database server and a module.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, onTestFinished } from 'vitest';
import { compileFixture } from '../compile-fixture.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { ServedCluster } from '../postgres/served-cluster.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../temporary-folder.ts';

/** Time in which the nodes of a cluster have shared the entities. */
export const SOON = { timeout: 30_000, interval: 50 };

/** Call it once in a file, outside of tests. Returns a function that makes the cluster of a test, without nodes. */
export function identifiedClusters(): () => Promise<ServedCluster> {
  const module = join(temporaryFolderOfFile(), 'objects.wasm');
  let server: PostgresServer;
  beforeAll(async () => {
    const [started, component] = await Promise.all([
      PostgresServer.shared('18'),
      compileFixture('concurrent-objects'),
    ]);
    server = started;
    writeFileSync(module, component);
  });
  return async () => {
    const cluster = await ServedCluster.of(server, module, temporaryFolder());
    onTestFinished(() => cluster.close());
    return cluster;
  };
}
