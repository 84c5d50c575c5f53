// ClusterModules are the modules whose clusters are tested: registers and counters alone, whose requests nodes send each other as a whole; and the same
// beside orders with a view, a consumer and timers, where nodes send each other single calls.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildComponent } from '../../../guest-sdk/compiler/index.ts';
import { compileFixture } from '../compile-fixture.ts';
import { writeOrders } from '../crash/followed-orders.ts';

const OBJECTS = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'fixtures',
  'concurrent-objects',
  'assembly',
  'index.ts',
);

/** Builds a module into a folder, which is made if it is missing. Returns its file. */
export async function clusterModule(isFollowed: boolean, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const module = join(folder, 'module.wasm');
  writeFileSync(
    module,
    isFollowed ? await followedObjects(folder) : await compileFixture('concurrent-objects'),
  );
  return module;
}

async function followedObjects(folder: string): Promise<Uint8Array> {
  copyFileSync(OBJECTS, join(folder, 'objects.ts'));
  writeOrders(join(folder, 'orders.ts'));
  const entryFile = join(folder, 'index.ts');
  writeFileSync(entryFile, 'import "./objects";\nimport "./orders";\n');
  return (await buildComponent({ entryFile })).component;
}
