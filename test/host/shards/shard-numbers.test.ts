// ShardNumbers: what a shard shares with the main thread, across restarts of its thread and other modules.
import { describe, expect, test } from 'vitest';
import { NumberSamples } from '../../../host/shards/number-samples.ts';
import { SpanRing } from '../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../host/shards/shard-numbers.ts';
import { handlersDescriptor } from '../introspection/observability/support/handlers-descriptor.ts';

const call = {
  handlerIndex: 0,
  startMs: 1,
  trace: undefined,
  parentId: undefined,
  traceState: undefined,
  fuel: 1,
  entityId: 'a',
  eventsPersisted: 0,
};

/** Numbers that a thread samples; a test changes them. */
function sampled() {
  return {
    engine: {
      numbers: {
        liveEntities: 2,
        activations: { empty: 3, snapshot: 4, folded: 5 },
        passivations: 6,
      },
    },
    guest: { numbers: { endpointInstances: 7, entityInstances: 8, memoryBytes: 9 } },
    server: { inFlight: 10 },
    budgets: { unsent: { held: 11 }, bodies: { held: 12 } },
  };
}

const valuesOf = ({ sampled: series }: ShardNumbers) =>
  series.names.map((name) => series.get(name));

describe('what is sampled', () => {
  test('is what there is, and of what is counted, how much it has grown', () => {
    const numbers = new ShardNumbers(handlersDescriptor(), 10);
    const of = sampled();
    const samples = new NumberSamples(numbers, of);
    samples.take();
    samples.take();
    expect(valuesOf(numbers)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    of.engine.numbers = {
      liveEntities: 1,
      activations: { empty: 4, snapshot: 4, folded: 5 },
      passivations: 8,
    };
    of.server.inFlight = 0;
    samples.take();
    expect(valuesOf(numbers)).toEqual([1, 4, 4, 5, 8, 7, 8, 9, 0, 11, 12]);
  });

  test('is 0 once the thread has ended, except for counts, which the next one continues', () => {
    const numbers = new ShardNumbers(handlersDescriptor(), 10);
    new NumberSamples(numbers, sampled()).take();
    numbers.threadEnded();
    expect(valuesOf(numbers)).toEqual([0, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0]);
    new NumberSamples(numbers, sampled()).take();
    expect(valuesOf(numbers)).toEqual([2, 6, 8, 10, 12, 7, 8, 9, 10, 11, 12]);
  });
});

test('a module that replaces another continues the counts since the process started', () => {
  const before = new ShardNumbers(handlersDescriptor(), 10);
  const ring = new SpanRing(before, 0);
  for (let n = 0; n < 3; n++) ring.called(call, 2, 0, undefined);
  new NumberSamples(before, sampled()).take();
  before.http.answered(-1, 200, 1);
  const after = before.next({ ...handlersDescriptor(), entities: [] });
  expect(after.handlerTable.handlers).toHaveLength(2);
  expect(after.window.recorded).toBe(3);
  expect(after.window.counted().map(({ counts }) => counts)).toEqual([
    [0, 0, 0, 0],
    [0, 0, 0, 0],
  ]);
  expect(after.totals.read()[1]!.counts).toEqual([3, 0, 0, 0]);
  expect(valuesOf(after)).toEqual(valuesOf(before));
  expect(after.http.seconds).toEqual(before.http.seconds);
  // Counts of routes that do not exist any more.
  expect(after.http.answers()).toEqual([]);
});
