// The load of a cluster records what its callers were answered, so that the checker finds each fault of a service.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ClusterLoad, type LoadOptions } from '../support/cluster-load/cluster-load.ts';
import { type Fault, FaultyObjects } from '../support/cluster-load/faulty-objects.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { freePorts } from '../support/free-ports.ts';
import { SvcProcess } from '../support/host-process.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const REQUESTS = 1_000;
const RUNS_MAX = 10;
const FAULTS: readonly Fault[] = [
  'reads a former state',
  'loses a write',
  'executes a write twice',
  'executes a write that it refuses with 503',
  'executes a write again that was answered with 504',
  'forgets keys',
  'executes keys with another input',
  'forgets deletions',
];

async function serverWith(fault?: Fault): Promise<FaultyObjects> {
  const server = await FaultyObjects.start(new Random(SEED), fault);
  onTestFinished(() => server.close());
  return server;
}

async function loaded(nodes: LoadOptions['nodes'], options: Partial<LoadOptions> = {}) {
  const load = new ClusterLoad({
    nodes,
    seed: SEED,
    requestsMax: REQUESTS,
    callers: 6,
    shares: { reused: 10 },
    pauseMs: 1,
    ...options,
  });
  await load.ended;
  await load.end();
  return load;
}

test('failures that a service may have are no violation', async () => {
  const server = await serverWith();
  const load = await loaded({ a: server.url, b: server.url });
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
  expect([...load.counts.keys()]).toEqual(
    expect.arrayContaining(['200', '422', '503', '504', 'ECONNRESET']),
  );
  const history = [...load.registers, ...load.counters];
  expect(new Set(history.map(({ node }) => node))).toEqual(new Set(['a', 'b']));
  expect(history.every(({ startMs, endMs }) => startMs < endMs)).toBe(true);
  const entities = new Set(load.registers.map(({ entity }) => `register ${entity}`));
  for (const { entity } of load.counters) entities.add(`counter ${entity}`);
  expect(history).toHaveLength(REQUESTS + entities.size);
});

test.each(FAULTS)('a server that %s is found', async (fault) => {
  let problems: readonly string[] = [];
  // A fault that is rare may not happen in a thousand requests.
  for (let run = 0; problems.length === 0 && run < RUNS_MAX; run++) {
    // oxlint-disable-next-line no-await-in-loop -- only if the load before has found nothing
    const server = await serverWith(fault);
    // oxlint-disable-next-line no-await-in-loop -- likewise
    const load = await loaded({ a: server.url }, { seed: SEED + run });
    problems = load.problems();
  }
  expect(problems.length, `seed ${SEED}`).toBeGreaterThan(0);
});

test('a node without a server has done nothing, and one that does not answer may have', async () => {
  const [closed] = await freePorts(1);
  const server = await serverWith();
  const nodes = { up: server.url, down: `http://127.0.0.1:${closed}` };
  const load = await loaded(nodes, { requestsMax: 200 });
  const down = [...load.registers, ...load.counters].filter(({ node }) => node === 'down');
  expect(new Set(down.map(({ outcome }) => outcome.kind))).toEqual(new Set(['not-done']));
  expect(load.counts.get('ECONNREFUSED')).toBe(down.length);
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
});

test('a load that has ended says so to those who wait for it', async () => {
  const server = await serverWith();
  const load = await loaded({ a: server.url }, { requestsMax: 10 });
  await expect(load.answered(1)).rejects.toThrow('the load has ended');
});

test('the history of a service of one node is linearizable', async () => {
  const module = join(temporaryFolder(), 'objects.wasm');
  writeFileSync(module, await compileFixture('concurrent-objects'));
  const data = join(temporaryFolder(), 'data');
  const svc = new SvcProcess(['run', module, '--port', '0', '--shards', '2', '--data', data]);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const load = await loaded({ only: await svc.listening() });
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
  expect([...load.counts.keys()].toSorted()).toEqual(['200', '422']);
});
