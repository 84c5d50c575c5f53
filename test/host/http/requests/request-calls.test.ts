// What a handler is told of its calls, and told again when it is run again: over an engine with a journal
// that is held, and fails.
import { describe, expect, test } from 'vitest';
import type { Refusal, Reply } from '../../../../host/model/call.ts';
import { GuestFault } from '../../../../host/model/guest-fault.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../../support/engine-under-test.ts';

type Outcome = Reply | Refusal;

/** An engine with an entity `a` in memory that has counted 3, and a handler's calls of it. */
class Asking extends EngineUnderTest {
  readonly calls = new RequestCalls(
    this.engine,
    { nowMs: () => ++this.nowMs },
    unlimitedEventLoop(),
  );

  async begin(): Promise<this> {
    await this.outcome('a', 'add', 3);
    await this.outcome('b', 'noop');
    this.guest.calls.length = 0;
    this.journal.held = true;
    return this;
  }

  /** Where the handler cannot wait. Undefined: it is given up. Throws as the engine does. */
  ahead(name: string, input: unknown = null, id = 'a'): unknown {
    const ref = { component: COUNTER, id };
    const outcome = this.calls.speculate!(ref, name, JSON.stringify(input), [], undefined);
    return outcome && valueOf(outcome);
  }

  /** Where it can. */
  async again(name: string, input: unknown = null, id = 'a'): Promise<unknown> {
    const ref = { component: COUNTER, id };
    try {
      return valueOf(await this.calls.call(ref, name, JSON.stringify(input), [], undefined));
    } catch (error) {
      return `failed ${failureOf(error)}`;
    }
  }

  /** The failure that a handler passes on by refusing so. */
  passedOn(otherCode: string, message: string): unknown {
    return this.calls.failurePassedOnBy({ kind: 'refusal', code: 'OTHER', otherCode, message });
  }

  /** Names of the commands and queries that have reached entities. */
  get asked(): readonly string[] {
    return this.guest.calls.filter((name) => name !== 'apply');
  }
}

function valueOf(outcome: Outcome): unknown {
  return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
}

const asking = async () => new Asking().begin();

describe('where it cannot wait, a handler', () => {
  test('is told what is answered at once, as often as it asks', async () => {
    const it = await asking();
    expect([it.ahead('total'), it.ahead('noop', null, 'b'), it.ahead('take', 9)]).toEqual([
      3,
      0,
      'refused CONFLICT',
    ]);
    expect(it.calls.isSpeculative).toBe(false);
  });

  test('is told once what is not on disk, and given up when it asks for more', async () => {
    const it = await asking();
    expect(it.ahead('add', 4)).toBe(7);
    expect(it.calls.isSpeculative).toBe(true);
    expect([it.ahead('total'), it.ahead('noop', null, 'b'), it.ahead('nothing')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(it.asked).toEqual(['add']);
  });

  test('is given up when of questions and answers too much would have to be kept', async () => {
    const it = await asking();
    // More than a mebi unit together.
    const large = { kind: 'reply', json: `"${'x'.repeat(600 * 1024)}"` };
    expect(it.ahead('answer', large)).toHaveLength(600 * 1024);
    expect(it.ahead('total')).toBeUndefined();
    expect(it.calls.beginReplay()).toBe(true);
    expect(await it.again('answer', large)).toHaveLength(600 * 1024);
    expect(await it.again('total')).toBe(3);
    expect(it.asked).toEqual(['answer', 'total']);
  });

  test('is given up when an entity runs out of the stack, which it has for itself where it can', () => {
    const engine = {
      call: () => ({ kind: 'reply', json: '1' }) as const,
      speculate: () => {
        throw new GuestFault('stack', 'all gone', { limit: 'stack' });
      },
      readEvents: async () => [],
    };
    const calls = new RequestCalls(engine, { nowMs: () => 1 }, unlimitedEventLoop());
    const call = [{ component: COUNTER, id: 'a' }, 'total', 'null', [], undefined] as const;
    expect(calls.speculate!(...call)).toBeUndefined();
    expect(calls.beginReplay()).toBe(false);
    expect(calls.call(...call)).toEqual({ kind: 'reply', json: '1' });
  });

  test('is given up when nothing is speculated, and has made the call', async () => {
    const it = await asking();
    expect(it.ahead('total', null, 'new')).toBeUndefined();
    expect(it.calls.isSpeculative).toBe(false);
    expect(it.calls.beginReplay()).toBe(true);
    expect(await it.again('total', null, 'new')).toBe(0);
    expect(it.asked).toEqual(['total']);
  });
});

describe('what it was told', () => {
  test('has come true once it is on disk, and not before', async () => {
    const it = await asking();
    it.ahead('add', 4);
    let came: boolean | undefined;
    const coming = it.calls.isConfirmed().then((true_) => (came = true_));
    await turns();
    expect(came).toBeUndefined();
    await it.journal.letAllThrough();
    expect(await coming).toBe(true);
  });

  test('has not when the write fails', async () => {
    const it = await asking();
    it.ahead('add', 4);
    const coming = it.calls.isConfirmed();
    await it.journal.fail();
    expect(await coming).toBe(false);
  });

  test('has not when a query behind a failed write is answered otherwise', async () => {
    const it = await asking();
    void it.outcome('a', 'add', 4);
    expect(it.ahead('total')).toBe(7);
    const coming = it.calls.isConfirmed();
    await it.journal.fail();
    expect(await coming).toBe(false);
    it.calls.beginReplay();
    expect(await it.again('total')).toBe(3);
  });

  test('is nobody’s failure when nobody asks for it', async () => {
    const it = await asking();
    it.ahead('add', 4);
    await it.journal.fail();
    // A rejection that nobody handles would fail the run.
    await turns();
    expect(it.passedOn('UNAVAILABLE', 'the journal is unavailable')).toBeUndefined();
  });
});

describe('run again, a handler', () => {
  test('is told the same in the same order, nothing is done twice, and it goes on from there', async () => {
    const it = await asking();
    it.ahead('total');
    it.ahead('take', 9);
    it.ahead('add', 4);
    expect(it.ahead('add', 5, 'b')).toBeUndefined();
    expect(it.calls.beginReplay()).toBe(true);
    expect(it.calls.speculate).toBeUndefined();
    await it.journal.letAllThrough();
    expect(await it.again('total')).toBe(3);
    expect(await it.again('take', 9)).toBe('refused CONFLICT');
    expect(await it.again('add', 4)).toBe(7);
    expect(await it.again('add', 5, 'b')).toBe(5);
    expect(it.asked).toEqual(['total', 'take', 'add', 'add']);
    expect([(await it.records('a')).length, (await it.records('b')).length]).toEqual([2, 1]);
  });

  test('waits for the disk before it is told what it was told ahead', async () => {
    const it = await asking();
    it.ahead('add', 4);
    it.calls.beginReplay();
    expect(it.calls.isSpeculative).toBe(false);
    let told: unknown;
    const again = it.again('add', 4).then((value) => (told = value));
    await turns();
    expect(told).toBeUndefined();
    await it.journal.letAllThrough();
    await again;
    expect(told).toBe(7);
  });

  test('sees the failure that it was not told of, and its further calls are made', async () => {
    const it = await asking();
    it.ahead('add', 4);
    await it.journal.fail();
    expect(await it.calls.isConfirmed()).toBe(false);
    it.calls.beginReplay();
    expect(await it.again('add', 4)).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    expect(it.passedOn('UNAVAILABLE', 'the journal is unavailable')).toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
    });
    expect(await it.again('total')).toBe(3);
    expect(it.asked).toEqual(['add', 'total']);
  });

  test('sees a fault that it has seen, the same one, and it is not made twice', async () => {
    const it = await asking();
    expect(() => it.ahead('fault')).toThrow(GuestFault);
    const failed = it.passedOn('INTERNAL', 'the component failed');
    expect(failed).toBeInstanceOf(GuestFault);
    it.calls.beginReplay();
    expect(it.passedOn('INTERNAL', 'the component failed')).toBeUndefined();
    expect(await it.again('fault')).toBe('failed trap');
    expect(it.passedOn('INTERNAL', 'the component failed')).toBe(failed);
    expect(it.faults).toHaveLength(1);
  });

  test('is told once more from the beginning, when it is run a third time', async () => {
    const it = await asking();
    it.ahead('total');
    it.ahead('add', 4);
    await it.journal.letAllThrough();
    for (let run = 0; run < 2; run++) {
      it.calls.beginReplay();
      expect([await it.again('total'), await it.again('add', 4)]).toEqual([3, 7]);
    }
    expect(it.asked).toEqual(['total', 'add']);
  });

  test.each([
    ['command', 'noop', 4, 'a'],
    ['input', 'add', 5, 'a'],
    ['entity', 'add', 4, 'b'],
  ])('that asks with another %s is a fault of its own', async (_what, name, input, id) => {
    const it = await asking();
    it.ahead('add', 4);
    it.calls.beginReplay();
    const ref = { component: COUNTER, id };
    const another = () => it.calls.call(ref, name, JSON.stringify(input), [], undefined);
    expect(another).toThrow(GuestFault);
    expect(another).toThrow('a handler that was run again made another call');
    expect(() =>
      it.calls.call({ component: COUNTER, id: 'a' }, 'add', '4', [['m', '1']], 'key'),
    ).toThrow('made another call');
    await it.journal.letAllThrough();
    expect(it.asked).toEqual(['add']);
  });

  test('that has made no call yet may be turned down, and makes its calls', async () => {
    const it = await asking();
    expect(it.calls.beginReplay()).toBe(false);
    expect(await it.again('total')).toBe(3);
    expect(it.asked).toEqual(['total']);
  });
});

describe('the time', () => {
  test('is that of the request until the last call is told again, and then goes on', async () => {
    const it = await asking();
    const { calls } = it;
    it.nowMs += 10;
    it.ahead('total');
    it.ahead('add', 4);
    for (let run = 0; run < 2; run++) {
      calls.beginReplay();
      await it.again('total');
      expect([calls.nowMs(), calls.nowMs()]).toEqual([calls.requestMs, calls.requestMs]);
      void it.again('add', 4);
      expect(calls.nowMs()).toBe(it.nowMs);
      expect(it.nowMs).toBeGreaterThan(calls.requestMs + 10);
    }
    await it.journal.letAllThrough();
  });

  test('is the clock’s when no call was made before', async () => {
    const it = await asking();
    it.calls.beginReplay();
    const first = it.calls.nowMs();
    expect(it.calls.nowMs()).toBe(first + 1);
  });
});

test('where the engine answers no call ahead, a handler waits from the beginning', async () => {
  const it = await asking();
  const { engine } = it;
  const calls = new RequestCalls(
    {
      call: (...call) => engine.call(...call),
      readEvents: (...range) => engine.readEvents(...range),
    },
    { nowMs: () => 1 },
  );
  expect(calls.speculate).toBeUndefined();
  const reply = await calls.call({ component: COUNTER, id: 'a' }, 'total', 'null', [], undefined);
  expect(valueOf(reply)).toBe(3);
});

test('events that are read are those on disk, and one that cannot read them fails', async () => {
  const it = await asking();
  it.ahead('add', 4);
  it.calls.beginReplay();
  const ref = { component: COUNTER, id: 'a' };
  expect(await it.calls.readEvents(ref, 0, 10)).toHaveLength(1);
  await it.journal.letAllThrough();
  expect(await it.calls.readEvents(ref, 0, 10)).toHaveLength(2);
  await it.engine.close();
  await it.journal.close();
  await expect(it.calls.readEvents(ref, 0, 10)).rejects.toMatchObject({ code: 'SVC_STOPPING' });
});
