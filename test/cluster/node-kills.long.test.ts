// The history of a service is linearizable while its process is killed and started again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ClusterLoad } from '../support/cluster-load/cluster-load.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const KILLS = 5;
const REQUESTS_MAX = 100_000;
/** Requests that are answered between two kills. */
const BETWEEN = 300;

test('a process is killed again and again', async () => {
  const folder = temporaryFolder();
  const module = join(folder, 'objects.wasm');
  writeFileSync(module, await compileFixture('concurrent-objects'));
  const start = (): SvcProcess => {
    const words = ['run', module, '--port', '0', '--data', join(folder, 'data')];
    const svc = new SvcProcess(words);
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    return svc;
  };
  let svc = start();
  const nodes = { only: await svc.listening() };
  const load = new ClusterLoad({ nodes, seed: SEED, requestsMax: REQUESTS_MAX });
  onTestFinished(() => load.close());
  for (let kill = 0; kill < KILLS; kill++) {
    await load.answered(BETWEEN);
    await svc.end('SIGKILL');
    svc = start();
    load.setUrl('only', await svc.listening());
  }
  await load.answered(BETWEEN);
  await load.end();
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
  expect(load.counts.get('ECONNRESET')).toBeGreaterThan(0);
}, 300_000);
