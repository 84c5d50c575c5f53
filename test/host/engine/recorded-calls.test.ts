// What the engine tells a recorder of its calls, with a ring that keeps it.
import { describe, expect, test } from 'vitest';
import { SpanRing } from '../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../host/shards/shard-numbers.ts';
import { summedTotals } from '../../../host/shards/recorder/invocation-totals.ts';
import { COMMAND_FUEL, CounterGuest, FOLD_FUEL } from '../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../support/engine-under-test.ts';

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

function recorded(options: ConstructorParameters<typeof EngineUnderTest>[0] = {}) {
  const numbers = new ShardNumbers(new CounterGuest().descriptor, 100);
  const ring = new SpanRing(numbers, 0);
  const it = new EngineUnderTest({ ...options, recorder: ring });
  const told = () =>
    ring
      .after(0, 100)
      .map(({ handler, outcome, events, fault }) => [handler, outcome, events, fault?.code]);
  return { it, ring, numbers, told };
}

test('a command persists what its append has stored, a refused one and a query nothing', async () => {
  const { it, told } = recorded();
  await it.outcome('a', 'add', 3);
  await it.outcome('a', 'take', 100);
  await it.outcome('a', 'noop');
  await it.outcome('a', 'total');
  expect(told()).toEqual([
    ['add', 'Ok', 1, undefined],
    ['take', 'Refused', 0, 'CONFLICT'],
    ['noop', 'Ok', 0, undefined],
    ['total', 'Ok', 0, undefined],
  ]);
});

test.each([
  ['by nobody', 0, 0],
  ['for a changed state', 1, 0],
  ['when they leave memory', 0, 1],
  ['in both ways', 1, 1],
])(
  'a command has used what its own fold used, also where entities are checked %s',
  async (_how, purityCheckInterval, purityRefoldInterval) => {
    for (const later of [false, true]) {
      const limits = { purityCheckInterval, purityRefoldInterval };
      const { it, ring, numbers } = recorded({ limits, later });
      await it.outcome('a', 'add', 3);
      await it.outcome('a', 'noop');
      expect(ring.after(0, 100).map(({ fuel }) => fuel)).toEqual([
        COMMAND_FUEL + FOLD_FUEL,
        COMMAND_FUEL,
      ]);
      const commands = summedTotals([numbers.totals]).find(({ kind }) => kind === 'command');
      expect(commands!.fuel).toBe(2 * COMMAND_FUEL + FOLD_FUEL);
    }
  },
);

test('a span ends when its answer is given, not when it was decided', async () => {
  const { it, told } = recorded();
  it.journal.held = true;
  const answer = it.outcome('a', 'add', 3);
  await turns();
  expect(told()).toEqual([]);
  await it.journal.letThrough();
  expect(await answer).toBe(3);
  expect(told()).toEqual([['add', 'Ok', 1, undefined]]);
});

test('where the journal takes nothing a command has failed and persisted nothing; a query that saw it runs again and is one span', async () => {
  const { it, told } = recorded();
  await it.outcome('a', 'total');
  it.journal.held = true;
  const command = it.outcome('a', 'add', 3);
  const query = it.outcome('a', 'total');
  await turns();
  await it.journal.fail();
  expect(await command).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  expect(await query).toBe(0);
  expect(it.guest.calls).toEqual(['total', 'add', 'apply', 'total', 'total']);
  expect(told()).toEqual([
    ['total', 'Ok', 0, undefined],
    ['add', 'Failed', 0, 'SVC_JOURNAL_UNAVAILABLE'],
    ['total', 'Ok', 0, undefined],
  ]);
});

test('a call that is turned down has failed', async () => {
  const { it, told } = recorded({ limits: { callsPerEntityMax: 1 } });
  it.journal.held = true;
  const first = it.outcome('a', 'add', 1);
  await turns();
  expect(await it.outcome('a', 'add', 1)).toBe('failed SVC_OVERLOADED');
  await it.journal.letThrough();
  await first;
  expect(told()).toEqual([
    ['add', 'Failed', 0, 'SVC_OVERLOADED'],
    ['add', 'Ok', 1, undefined],
  ]);
});

test('what the module does not declare is recorded nowhere', async () => {
  const { it, told } = recorded();
  expect(await it.outcome('a', 'nothing-of-the-kind')).toBe('refused NOT_FOUND');
  expect(await it.outcome('', 'add', 1)).toBe('refused BAD_REQUEST');
  expect(it.engine.call({ component: 'no-one', id: 'a' }, 'add', '1', [])).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(told()).toEqual([]);
});

describe('of its trace', () => {
  test('a call that passes metadata on is a child', async () => {
    const { it, ring } = recorded();
    await it.call('a', 'add', 1, [['traceparent', TRACEPARENT]]);
    const [span] = ring.after(0, 1);
    expect(span).toMatchObject({ traceId: 'a'.repeat(32), parentId: 'b'.repeat(16) });
    expect(span!.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(span!.spanId).not.toBe('b'.repeat(16));
  });

  test('a call without metadata is a trace of its own', async () => {
    const { it, ring } = recorded();
    await it.outcome('a', 'add', 1);
    await it.outcome('a', 'add', 1);
    const spans = ring.after(0, 2);
    for (const { traceId, spanId, parentId } of spans) {
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(parentId).toBeUndefined();
    }
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2);
    // They are the same whoever asks, and other than those of another ring.
    expect(ring.after(0, 2)).toEqual(spans);
    const other = recorded();
    await other.it.outcome('a', 'add', 1);
    expect(other.ring.after(0, 1)[0]!.traceId).not.toBe(spans[0]!.traceId);
  });

  test.each([
    ['a forged one', [['traceparent', 'forged']]],
    [
      'two',
      [
        ['traceparent', TRACEPARENT],
        ['traceparent', TRACEPARENT],
      ],
    ],
  ] as const)('metadata with %s leads to none', async (_how, metadata) => {
    const { it, ring } = recorded();
    await it.call('a', 'add', 1, metadata);
    const [span] = ring.after(0, 1);
    expect(span!.traceId).not.toBe('a'.repeat(32));
    expect(span!.parentId).toBeUndefined();
  });
});

test('the numbers of the engine count live entities, activations and passivations', async () => {
  const { it } = recorded({ limits: { idleTimeoutMs: 1_000 } });
  await it.outcome('a', 'add', 1);
  await it.outcome('b', 'total');
  expect(it.engine.numbers).toEqual({
    liveEntities: 2,
    activations: { empty: 2, snapshot: 0, folded: 0 },
    passivations: 0,
  });
  await it.engine.passivate();
  it.nowMs += 1_000;
  await it.engine.passivate();
  expect(it.engine.numbers).toMatchObject({ liveEntities: 0, passivations: 2 });
  await it.outcome('a', 'total');
  expect(it.engine.numbers).toMatchObject({
    liveEntities: 1,
    activations: { empty: 2, snapshot: 0, folded: 1 },
  });
});
