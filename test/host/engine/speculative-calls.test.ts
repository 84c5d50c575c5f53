// Calls whose caller uses a speculative result: when there is one, when it is confirmed, and what becomes of it
// when a write fails.
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../host/engine/entity/entity-call.ts';
import { COUNTER } from '../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../support/engine-under-test.ts';

/** A call as its caller sees it. */
interface Ahead {
  /** `at once` when there is nothing to foresee. */
  readonly speculative: unknown;
  /** How it has ended; undefined while it has not. */
  answered: unknown;
  /** That it was answered with the speculative result, and not with something like it. */
  isTheSame: boolean | undefined;
}

class Asked extends EngineUnderTest {
  /** Throws as the engine does. */
  ahead(id: string, name = 'total', input: unknown = null): Ahead {
    const ref = { component: COUNTER, id };
    const given = this.engine.speculate(ref, name, JSON.stringify(input), []);
    if ('kind' in given)
      return { speculative: 'at once', answered: valueOf(given), isTheSame: undefined };
    const { speculative } = given;
    const call: Ahead = {
      speculative: speculative && valueOf(speculative),
      answered: undefined,
      isTheSame: undefined,
    };
    given.answer.then(
      (outcome) => {
        call.answered = valueOf(outcome);
        call.isTheSame = outcome === speculative;
      },
      (failure: unknown) => {
        call.answered = `failed ${failureOf(failure)}`;
      },
    );
    return call;
  }
}

function valueOf(outcome: Outcome): unknown {
  return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
}

/** With an entity `a` in memory that has counted 3. */
async function withEntity(options: ConstructorParameters<typeof Asked>[0] = {}): Promise<Asked> {
  const it = new Asked(options);
  await it.outcome('a', 'add', 3);
  it.guest.calls.length = 0;
  it.journal.reads.length = 0;
  it.journal.appendCount = 0;
  return it;
}

describe('is answered at once', () => {
  test('a query of an entity that is in memory and idle', async () => {
    const it = await withEntity();
    expect(it.ahead('a')).toMatchObject({ speculative: 'at once', answered: 3 });
    const refusing = { kind: 'refusal', code: 'CONFLICT', message: '' };
    expect(it.ahead('a', 'answer', refusing)).toMatchObject({ answered: 'refused CONFLICT' });
  });

  test('a command that stores nothing, or refuses', async () => {
    const it = await withEntity();
    expect(it.ahead('a', 'noop')).toMatchObject({ speculative: 'at once', answered: 3 });
    expect(it.ahead('a', 'take', 9)).toMatchObject({ answered: 'refused CONFLICT' });
    expect(it.journal.appendCount).toBe(0);
  });

  test.each([
    ['of an id that cannot be', COUNTER, '', 'total', undefined, 'refused BAD_REQUEST'],
    ['of a component that there is not', 'Other', 'a', 'total', undefined, 'refused NOT_FOUND'],
    ['that there is not', COUNTER, 'a', 'nothing', undefined, 'refused NOT_FOUND'],
    ['with a name of every object', COUNTER, 'a', 'constructor', undefined, 'refused NOT_FOUND'],
    ['with a key that cannot be', COUNTER, 'a', 'add', 'no key', 'refused BAD_REQUEST'],
  ])('a refusal of what is asked %s', async (_what, component, id, name, key, expected) => {
    const it = await withEntity();
    const given = it.engine.speculate({ component, id }, name, '1', [], key);
    expect('kind' in given && valueOf(given)).toBe(expected);
    expect([it.guest.calls, it.journal.appendCount, it.guest.openCount]).toEqual([[], 0, 1]);
  });

  test('with time, chance and metadata as any other', async () => {
    const it = await withEntity();
    const { answered } = it.ahead('a', 'context');
    expect(answered).toMatchObject({ nowMs: it.nowMs, seed: String(it.seed) });
  });
});

describe('is speculated, and answered once it is on disk,', () => {
  test('the reply of a command', async () => {
    const it = await withEntity();
    it.journal.held = true;
    const call = it.ahead('a', 'add', 4);
    expect(call.speculative).toBe(7);
    await turns();
    expect([call.answered, it.journal.waitingCount]).toEqual([undefined, 1]);
    await it.journal.letAllThrough();
    await turns();
    expect(call).toEqual({ speculative: 7, answered: 7, isTheSame: true });
    expect(await it.records('a')).toHaveLength(2);
  });

  test('what is asked behind it: a query, a refusal, a further command, each in its turn', async () => {
    const it = await withEntity();
    it.journal.held = true;
    const calls = [
      it.ahead('a', 'add', 4),
      it.ahead('a'),
      it.ahead('a', 'take', 99),
      it.ahead('a', 'noop'),
      it.ahead('a', 'add', 1),
    ];
    const speculative = [7, 7, 'refused CONFLICT', 7, 8];
    expect(calls.map((call) => call.speculative)).toEqual(speculative);
    await turns();
    expect(calls.map((call) => call.answered)).toEqual(calls.map(() => undefined));
    await it.journal.letThrough();
    await turns();
    expect(calls.map((call) => call.answered)).toEqual([...speculative.slice(0, 4), undefined]);
    await it.journal.letAllThrough();
    await turns();
    expect(calls.map((call) => call.answered)).toEqual(speculative);
    expect(calls.map((call) => call.isTheSame)).toEqual(calls.map(() => true));
  });

  test('the reply of a command that deletes the entity', async () => {
    const it = await withEntity();
    it.journal.held = true;
    const call = it.ahead('a', 'remove', 0);
    expect(call.speculative).toBe(3);
    await turns();
    expect(call.answered).toBeUndefined();
    await it.journal.letAllThrough();
    await turns();
    expect(call.answered).toBe(3);
    expect(await it.outcome('a', 'total')).toBe(0);
  });
});

describe('when the write fails', () => {
  test('the command whose result was speculative fails, and nothing of it stays', async () => {
    const it = await withEntity();
    it.journal.held = true;
    const [first, second] = [it.ahead('a', 'add', 4), it.ahead('a', 'add', 5)];
    expect([first.speculative, second.speculative]).toEqual([7, 12]);
    await it.journal.fail();
    await it.journal.letAllThrough();
    await turns();
    const failed = 'failed SVC_JOURNAL_UNAVAILABLE';
    expect([first.answered, second.answered]).toEqual([failed, failed]);
    expect(await it.outcome('a', 'history')).toEqual([3]);
  });

  test('a query behind it is answered anew, and not with the speculative result', async () => {
    const it = await withEntity();
    it.journal.held = true;
    it.ahead('a', 'add', 4);
    const query = it.ahead('a');
    const refused = it.ahead('a', 'take', 99);
    expect([query.speculative, refused.speculative]).toEqual([7, 'refused CONFLICT']);
    await it.journal.fail();
    await turns();
    expect(query).toEqual({ speculative: 7, answered: 3, isTheSame: false });
    expect(refused.answered).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  });

  test('nothing is speculated of what follows until the entity is brought back', async () => {
    const it = await withEntity();
    it.journal.held = true;
    it.ahead('a', 'add', 4);
    await it.journal.fail();
    const query = it.ahead('a');
    expect([query.speculative, query.answered]).toEqual([undefined, undefined]);
    await turns();
    expect(query.answered).toBe(3);
    expect(it.ahead('a')).toMatchObject({ speculative: 'at once', answered: 3 });
  });
});

describe('nothing is speculated, and it is answered later,', () => {
  test.each([
    ['add', 5],
    ['total', 0],
  ])('of an entity that is not in memory: %s', async (name, expected) => {
    const it = await withEntity();
    const call = it.ahead('b', name, 5);
    expect([call.speculative, call.answered]).toEqual([undefined, undefined]);
    await turns();
    expect(call.answered).toBe(expected);
  });

  test('while the guest is at work, which answers later', async () => {
    const it = await withEntity({ later: true });
    const calls = [it.ahead('a', 'add', 1), it.ahead('a'), it.ahead('a', 'add', 1)];
    expect(calls.map((call) => call.speculative)).toEqual(calls.map(() => undefined));
    await turns();
    expect(calls.map((call) => call.answered)).toEqual([4, 4, 5]);
    expect(it.guest.violations).toEqual([]);
  });

  test('of an entity whose instance another one has lost', async () => {
    const it = await withEntity({ perInstance: 2 });
    await it.outcome('b', 'add', 1);
    expect(await it.outcome('b', 'fault')).toBe('failed trap');
    const call = it.ahead('a');
    expect(call.speculative).toBeUndefined();
    await turns();
    expect(call.answered).toBe(3);
  });
});

describe('is thrown', () => {
  test.each(['faultyQuery', 'fault', 'poison'])(
    'the fault of %s, which is logged, and the entity is brought back',
    async (name) => {
      const it = await withEntity();
      expect(() => it.ahead('a', name)).toThrow(expect.objectContaining({ faultCause: 'trap' }));
      expect(it.faults).toMatchObject([{ handler: name }]);
      expect(it.ahead('a').speculative).toBeUndefined();
      expect(await it.outcome('a', 'total')).toBe(3);
      expect(it.ahead('a')).toMatchObject({ speculative: 'at once', answered: 3 });
    },
  );

  test('what the engine fails with: too much is waiting, or it is being closed', async () => {
    const it = await withEntity({ limits: { callsPerEntityMax: 1 } });
    it.journal.held = true;
    const first = it.ahead('a', 'add', 4);
    expect(() => it.ahead('a')).toThrow(expect.objectContaining({ code: 'SVC_OVERLOADED' }));
    const closing = it.engine.close();
    expect(() => it.ahead('a')).toThrow(expect.objectContaining({ code: 'SVC_STOPPING' }));
    await it.journal.letAllThrough();
    await closing;
    expect(first.answered).toBe(7);
    expect(it.guest.calls).toEqual(['add', 'apply']);
  });
});

test('a fault leaves at once, before the speculative result is on disk', async () => {
  const it = await withEntity();
  it.journal.held = true;
  const command = it.ahead('a', 'add', 4);
  expect(() => it.ahead('a', 'faultyQuery')).toThrow(
    expect.objectContaining({ faultCause: 'trap' }),
  );
  await it.journal.letAllThrough();
  await turns();
  expect(command).toEqual({ speculative: 7, answered: 7, isTheSame: true });
  expect(await it.outcome('a', 'history')).toEqual([3, 4]);
});

test('it counts as a use: another entity leaves memory first', async () => {
  const it = new Asked({ limits: { liveEntitiesMax: 2 } });
  for (const id of ['a', 'b']) await it.outcome(id, 'add', 1);
  expect(it.ahead('a').answered).toBe(1);
  await it.outcome('c', 'add', 1);
  expect([it.ahead('a').speculative, it.ahead('b').speculative]).toEqual(['at once', undefined]);
  await turns();
});

test('it is checked for changing the state as any other', async () => {
  const it = await withEntity({ limits: { purityCheckInterval: 1 } });
  expect(it.ahead('a').answered).toBe(3);
  expect(it.guest.calls).toEqual(['snapshot', 'total', 'snapshot']);
});
