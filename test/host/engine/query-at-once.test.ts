// A query that is answered without waiting: when it is, and that nothing has happened when it is not.
import { describe, expect, test } from 'vitest';
import { COUNTER } from '../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../support/engine-under-test.ts';

class Asked extends EngineUnderTest {
  /** The value of the reply, `refused CODE`, or undefined. Throws as the engine does. */
  atOnce(id: string, name = 'total', input: unknown = null): unknown {
    const ref = { component: COUNTER, id };
    const answer = this.engine.queryAtOnce(ref, name, JSON.stringify(input), []);
    if (answer === undefined) return undefined;
    return answer.kind === 'reply' ? JSON.parse(answer.json) : `refused ${answer.code}`;
  }
}

async function withEntity(options: ConstructorParameters<typeof Asked>[0] = {}): Promise<Asked> {
  const it = new Asked(options);
  await it.outcome('a', 'add', 3);
  it.guest.calls.length = 0;
  it.journal.reads.length = 0;
  return it;
}

describe('is answered', () => {
  test('of an entity that is in memory and idle', async () => {
    const it = await withEntity();
    expect(it.atOnce('a')).toBe(3);
    expect(it.atOnce('a', 'answer', { kind: 'refusal', code: 'CONFLICT', message: '' })).toBe(
      'refused CONFLICT',
    );
  });

  test('with time, chance and metadata as any other', async () => {
    const it = await withEntity();
    expect(it.atOnce('a', 'context')).toMatchObject({ nowMs: it.nowMs, seed: String(it.seed) });
  });
});

describe('is left undone, and nothing has happened,', () => {
  test.each([
    ['of an entity that is not in memory', 'b', 'total'],
    ['of one that cannot be', '', 'total'],
    ['that is a command', 'a', 'add'],
    ['that there is not', 'a', 'nothing'],
    ['with a name of every object', 'a', 'constructor'],
  ])('%s', async (_what, id, name) => {
    const it = await withEntity();
    expect(it.atOnce(id, name, 1)).toBeUndefined();
    expect([it.guest.calls, it.journal.reads, it.guest.openCount]).toEqual([[], [], 1]);
  });

  test('of a component that there is not', async () => {
    const it = await withEntity();
    const ref = { component: 'Other', id: 'a' };
    expect(it.engine.queryAtOnce(ref, 'total', 'null', [])).toBeUndefined();
  });

  test('while a state is not on disk, and then it sees it', async () => {
    const it = await withEntity();
    it.journal.held = true;
    const adding = it.outcome('a', 'add', 4);
    expect(it.atOnce('a')).toBeUndefined();
    expect(it.guest.calls).toEqual(['add', 'apply']);
    await it.journal.letAllThrough();
    expect(await adding).toBe(7);
    expect(it.atOnce('a')).toBe(7);
  });

  test('after a write that failed, until the entity is brought back', async () => {
    const it = await withEntity();
    it.journal.held = true;
    const adding = it.outcome('a', 'add', 4);
    await turns();
    await it.journal.fail();
    expect(await adding).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    expect(it.atOnce('a')).toBeUndefined();
    expect(await it.outcome('a', 'total')).toBe(3);
    expect(it.atOnce('a')).toBe(3);
  });

  test('of an entity whose instance another one has lost', async () => {
    const it = await withEntity({ perInstance: 2 });
    await it.outcome('b', 'add', 1);
    expect(await it.outcome('b', 'fault')).toBe('failed trap');
    it.guest.calls.length = 0;
    expect(it.atOnce('a')).toBeUndefined();
    expect(it.guest.calls).toEqual([]);
    expect(await it.outcome('a', 'total')).toBe(3);
  });

  test('once the engine is being closed', async () => {
    const it = await withEntity();
    const closing = it.engine.close();
    expect(it.atOnce('a')).toBeUndefined();
    await closing;
  });

  test('while the guest is at work on another call', async () => {
    const it = new Asked({ later: true });
    const first = it.outcome('a', 'add', 1);
    await turns();
    const second = it.outcome('a', 'add', 1);
    expect(it.atOnce('a')).toBeUndefined();
    expect(await Promise.all([first, second])).toEqual([1, 2]);
    expect(it.guest.calls.filter((name) => name === 'total')).toEqual([]);
  });
});

test('of a guest that answers later, it is asked for nobody, and the next call is served', async () => {
  const it = await withEntity({ later: true });
  expect(it.atOnce('a', 'faultyQuery')).toBeUndefined();
  expect(await it.outcome('a', 'total')).toBe(3);
  expect(it.faults.map(({ fault }) => failureOf(fault))).toEqual(['trap']);
  expect(it.guest.violations).toEqual([]);
});

test('a fault of it is thrown and logged, and the entity is brought back', async () => {
  const it = await withEntity();
  expect(() => it.atOnce('a', 'faultyQuery')).toThrow(
    expect.objectContaining({ faultCause: 'trap' }),
  );
  expect(it.faults).toMatchObject([{ handler: 'faultyQuery' }]);
  expect(it.atOnce('a')).toBeUndefined();
  expect(await it.outcome('a', 'total')).toBe(3);
  expect(it.atOnce('a')).toBe(3);
});

test('it counts as a use: another entity leaves memory first', async () => {
  const it = new Asked({ limits: { liveEntitiesMax: 2 } });
  for (const id of ['a', 'b']) await it.outcome(id, 'add', 1);
  expect(it.atOnce('a')).toBe(1);
  await it.outcome('c', 'add', 1);
  expect([it.atOnce('a'), it.atOnce('b')]).toEqual([1, undefined]);
});

test('it is checked for changing the state as any other', async () => {
  const it = await withEntity({ limits: { purityCheckInterval: 1 } });
  expect(it.atOnce('a')).toBe(3);
  expect(it.guest.calls).toEqual(['snapshot', 'total', 'snapshot']);
});
