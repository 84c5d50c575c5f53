// A service with three nodes is updated to another module while callers use it: one node after the other is replaced, and both modules
// write the same entities meanwhile.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { changedSources } from '../support/changed-sources.ts';
import { ClusterLoad } from '../support/cluster-load/cluster-load.ts';
import { compileFixture, compileSources, sourcesOf } from '../support/compile-fixture.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServedCluster } from '../support/postgres/served-cluster.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const SOON = { timeout: 120_000, interval: 100 };
/** Requests that are answered between two steps. */
const BETWEEN = 100;
const REST_MS = 20;
/** A fair share of three nodes is 341 slices. */
const SHARE_MIN = 250;
const COUNTER = `class Counter extends EventSourcedEntity<Value, CounterEvent> {
  empty(entityId: string): Value { return new Value(); }

  apply(state: Value, event: CounterEvent): Value {
    if (event instanceof Added) state.value += (event as Added).amount;
    return state;
  }

  @command("add")
  add(state: Value, input: Add): Effect<Value> {
    const added: Added = { amount: input.amount };
    return this.persist(added).thenReplyState();
  }

  @query("get")
  get(state: Value): Value { return state; }
}`;
/** The next version counts additions in its state, replies their number, and stores events with a field that the former one does not know. */
const NEXT_COUNTER = `class Counter extends EventSourcedEntity<Total, CounterEvent> {
  empty(entityId: string): Total { return new Total(); }

  apply(state: Total, event: CounterEvent): Total {
    if (event instanceof Added) {
      state.value += (event as Added).amount;
      state.additions++;
    }
    return state;
  }

  @command("add")
  add(state: Total, input: Add): Effect<Total> {
    const added: Added = { amount: input.amount, by: "the next version" };
    return this.persist(added).thenReplyState();
  }

  @query("get")
  get(state: Total): Total { return state; }
}`;
const CHANGES = [
  [COUNTER, NEXT_COUNTER],
  [
    'class Added extends CounterEvent { amount: i64 = 0; }',
    'class Added extends CounterEvent { amount: i64 = 0; @optional by: string = ""; }',
  ],
  [
    '@data class Add {',
    '@data class Total { value: i64 = 0; @optional additions: i64 = 0; }\n@data class Add {',
  ],
  [
    'get(id: string): Result<Value> { return new CounterClient',
    'get(id: string): Result<Total> { return new CounterClient',
  ],
  ['add(id: string, input: Add): Result<Value> {', 'add(id: string, input: Add): Result<Total> {'],
] as const;

let cluster: ServedCluster;

/** How many slices nodes with a module own, and how many one node owns. */
async function ownedBy(column: 'fingerprint' | 'number', value: unknown): Promise<number> {
  const [row] = await cluster.served.database.sql(
    `SELECT count(*)::int AS slices FROM svc.slice s JOIN svc.node n ON n.number = s.owner WHERE n.${column} = $1`,
    [value],
  );
  return row!['slices'] as number;
}

async function isFair(): Promise<boolean> {
  const shares = await cluster.shares();
  return shares.length === 3 && shares.every((share) => share >= SHARE_MIN);
}

test('nodes are replaced by nodes with another module, one after the other, and no request fails', async () => {
  const scratch = temporaryFolder();
  const [former, next] = [join(scratch, 'former.wasm'), join(scratch, 'next.wasm')];
  const component = await compileFixture('concurrent-objects');
  const fingerprint = createHash('sha256').update(component).digest('hex');
  writeFileSync(former, component);
  const changed = changedSources(await sourcesOf('concurrent-objects'), CHANGES);
  writeFileSync(next, await compileSources('concurrent-objects', changed));
  cluster = await ServedCluster.of(await PostgresServer.shared('18'), former, scratch);
  onTestFinished(() => cluster.close());
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)));
  await expect.poll(isFair, SOON).toBe(true);
  const load = new ClusterLoad({
    nodes: Object.fromEntries(nodes.map(({ name, url }) => [name, url])),
    seed: SEED,
    requestsMax: 200_000,
    callers: 12,
    // What is measured are the waits for nodes that change, and not for a processor.
    restMs: REST_MS,
  });
  onTestFinished(() => load.close());
  await load.answered(BETWEEN);

  for (const node of nodes) {
    const { name, svc } = node;
    const replacement = await cluster.start(`${name}-next`, [], next);
    load.setUrl(name, replacement.url);
    await load.answered(BETWEEN);
    const all = await ownedBy('fingerprint', fingerprint);
    const own = await ownedBy('number', await cluster.numberOf(node));
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
    // Its entities are with the next version, and those of the other nodes have stayed where they were.
    expect(await ownedBy('fingerprint', fingerprint)).toBe(all - own);
    await load.answered(BETWEEN);
  }
  await expect.poll(isFair, SOON).toBe(true);
  await load.end();
  console.log(
    `${load.answeredCount} requests while three nodes were replaced: p50 ${load.waitedMs(0.5).toFixed(0)} ms, ` +
      `p99 ${load.waitedMs(0.99).toFixed(0)} ms, at most ${load.waitedMs(1).toFixed(0)} ms`,
  );
  expect(load.failures, `seed ${SEED}`).toEqual([]);
  expect(load.problems(), `seed ${SEED}`).toEqual([]);
  await cluster.served.checkNumbers();
  const writers = await cluster.served.database.sql(
    'SELECT DISTINCT m.fingerprint FROM svc.journal j JOIN svc.module m ON m.number = j.module',
  );
  expect(writers).toHaveLength(2);
}, 600_000);
