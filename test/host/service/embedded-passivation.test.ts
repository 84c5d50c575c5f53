// An embedded service passivates idle entities, and reopens them from their snapshots.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineEntity } from '../../../host/embed.ts';
import { type TestingOptions, VirtualClock } from '../../../host/testing.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Count = Type.Object({ value: Type.Integer() });

/** A counter that counts its folds as well. */
function countedCounter() {
  const folds = { count: 0 };
  const counter = defineEntity({
    component: 'counter',
    state: { manifest: 'count', schema: Count },
    event: {
      manifest: 'counter-event',
      schema: Type.Union([Type.Object({ type: Type.Literal('added'), amount: Type.Integer() })]),
    },
    empty: () => ({ value: 0 }),
    apply({ value }, { amount }) {
      folds.count++;
      return { value: value + amount };
    },
    commands: {
      add: {
        input: Type.Object({ amount: Type.Integer() }),
        reply: Count,
        handle: ({ value }, { amount }, context) =>
          context.persist({ type: 'added', amount }).thenReply({ value: value + amount }),
      },
    },
    queries: { get: { reply: Count, handle: (state) => state } },
  });
  return { counter, folds };
}

async function start(
  { counter }: ReturnType<typeof countedCounter>,
  dataFolder: string,
  version?: string,
  testing?: TestingOptions,
) {
  const service = await createService({
    observability: { local: false },
    name: 'counters',
    entities: [counter],
    endpoints: [],
    dataFolder,
    ...(version === undefined ? {} : { version }),
    ...(testing === undefined ? {} : { testing }),
    settings: {
      'svc.engine.snapshot-interval-events': 4,
      'svc.engine.idle-timeout-ms': 1,
      'svc.engine.purity-refold-interval': 0,
    },
  });
  onTestFinished(async () => service.stop());
  return { service, counter: service.call(counter, 'a') };
}

test('an idle entity leaves memory, and its events are folded when it is asked for again', async () => {
  const counted = countedCounter();
  const clock = new VirtualClock();
  const { counter } = await start(counted, temporaryFolder(), undefined, { clock });
  for (let turn = 0; turn < 20; turn++) await counter.add({ amount: 1 });
  expect(counted.folds.count).toBe(20);
  // An entity is idle from the run after its last use, and the runs are a second apart.
  await clock.advance(1_000);
  await counter.get();
  await clock.advance(1_000);
  await counter.get();
  expect(counted.folds.count).toBe(20);
  await clock.advance(2_000);
  await counter.get();
  expect(counted.folds.count).toBe(40);
});

test('a program that says its version has snapshots, and another version ignores them', async () => {
  const dataFolder = temporaryFolder();
  const { service, counter } = await start(countedCounter(), dataFolder, '1');
  for (let turn = 0; turn < 20; turn++) await counter.add({ amount: 1 });
  await service.stop();

  const same = countedCounter();
  const again = await start(same, dataFolder, '1');
  expect(await again.counter.get()).toMatchObject({ value: { value: 20 } });
  expect(same.folds.count).toBeLessThan(20);
  await again.service.stop();

  const other = countedCounter();
  const changed = await start(other, dataFolder, '2');
  expect(await changed.counter.get()).toMatchObject({ value: { value: 20 } });
  expect(other.folds.count).toBe(20);
});
