// The results that a handler's calls get, and get again in a replay. The engine's journal can be held, and can fail.
import assert from 'node:assert';
import { describe, expect, test } from 'vitest';
import type { Refusal, Reply } from '../../../../model/call.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../../support/engine-under-test.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

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

  /** Makes a call where the handler cannot suspend. Undefined: it has to be replayed. Throws as the engine does. */
  speculated(name: string, input: unknown = null, id = 'a'): unknown {
    const ref = { component: COUNTER, id };
    const outcome = this.calls.speculate!(ref, name, JSON.stringify(input), [], undefined);
    return outcome && valueOf(outcome);
  }

  /** Makes or replays a call where the handler can suspend. */
  async again(name: string, input: unknown = null, id = 'a'): Promise<unknown> {
    const ref = { component: COUNTER, id };
    try {
      return valueOf(await this.calls.call(ref, name, JSON.stringify(input), [], undefined));
    } catch (error) {
      return `failed ${failureOf(error)}`;
    }
  }

  /** Returns the failure that a handler passes on with this refusal. */
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

describe('a handler that cannot suspend', () => {
  test('gets every result that is there at once', async () => {
    const it = await asking();
    expect([
      it.speculated('total'),
      it.speculated('noop', null, 'b'),
      it.speculated('take', 9),
    ]).toEqual([3, 0, 'refused CONFLICT']);
    expect(it.calls.isSpeculative).toBe(false);
  });

  test('gets one speculative result, and has to be replayed when it calls again', async () => {
    const it = await asking();
    expect(it.speculated('add', 4)).toBe(7);
    expect(it.calls.isSpeculative).toBe(true);
    expect([
      it.speculated('total'),
      it.speculated('noop', null, 'b'),
      it.speculated('nothing'),
    ]).toEqual([undefined, undefined, undefined]);
    expect(it.asked).toEqual(['add']);
  });

  test('has to be replayed when its calls and results exceed what is recorded', async () => {
    const it = await asking();
    // More than a mebi unit together.
    const large = { kind: 'reply', json: `"${'x'.repeat(600 * 1024)}"` };
    expect(it.speculated('answer', large)).toHaveLength(600 * 1024);
    expect(it.speculated('total')).toBeUndefined();
    expect(it.calls.beginReplay()).toBe(true);
    expect(await it.again('answer', large)).toHaveLength(600 * 1024);
    expect(await it.again('total')).toBe(3);
    expect(it.asked).toEqual(['answer', 'total']);
  });

  test('has to be replayed when an entity runs out of the stack, which the entity has for itself in the replay', () => {
    const engine = {
      call: () => ({ kind: 'reply', json: '1' }) as const,
      speculate: () => {
        throw new GuestFault('stack', 'all gone', { limit: 'stack' });
      },
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
    };
    const calls = new RequestCalls(engine, { nowMs: () => 1 }, unlimitedEventLoop());
    const call = [{ component: COUNTER, id: 'a' }, 'total', 'null', [], undefined] as const;
    expect(calls.speculate!(...call)).toBeUndefined();
    expect(calls.beginReplay()).toBe(false);
    expect(calls.call(...call)).toEqual({ kind: 'reply', json: '1' });
  });

  test('has to be replayed when there is no speculative result, and has made the call', async () => {
    const it = await asking();
    expect(it.speculated('total', null, 'new')).toBeUndefined();
    expect(it.calls.isSpeculative).toBe(false);
    expect(it.calls.beginReplay()).toBe(true);
    expect(await it.again('total', null, 'new')).toBe(0);
    expect(it.asked).toEqual(['total']);
  });
});

describe('a speculative result', () => {
  test('is confirmed once it is on disk, and not before', async () => {
    const it = await asking();
    it.speculated('add', 4);
    let came: boolean | undefined;
    const coming = it.calls.isConfirmed().then((true_) => (came = true_));
    await turns();
    expect(came).toBeUndefined();
    await it.journal.letAllThrough();
    expect(await coming).toBe(true);
  });

  test('is not confirmed when the write fails', async () => {
    const it = await asking();
    it.speculated('add', 4);
    const coming = it.calls.isConfirmed();
    await it.journal.fail();
    expect(await coming).toBe(false);
  });

  test('is not confirmed when a query after a failed write has another answer', async () => {
    const it = await asking();
    void it.outcome('a', 'add', 4);
    expect(it.speculated('total')).toBe(7);
    const coming = it.calls.isConfirmed();
    await it.journal.fail();
    expect(await coming).toBe(false);
    it.calls.beginReplay();
    expect(await it.again('total')).toBe(3);
  });

  test('that fails causes no unhandled rejection when nobody awaits it', async () => {
    const it = await asking();
    it.speculated('add', 4);
    await it.journal.fail();
    // A rejection that nobody handles would fail the run.
    await turns();
    expect(it.passedOn('UNAVAILABLE', 'the journal is unavailable')).toBeUndefined();
  });
});

describe('a replayed handler', () => {
  test('gets the same results in the same order, repeats no call, and continues from there', async () => {
    const it = await asking();
    it.speculated('total');
    it.speculated('take', 9);
    it.speculated('add', 4);
    expect(it.speculated('add', 5, 'b')).toBeUndefined();
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

  test('waits for the disk before it gets the result that was speculative', async () => {
    const it = await asking();
    it.speculated('add', 4);
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

  test('gets the failure of a call whose result was speculative, and makes its further calls', async () => {
    const it = await asking();
    it.speculated('add', 4);
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

  test('gets the same fault again, and does not repeat the call', async () => {
    const it = await asking();
    expect(() => it.speculated('fault')).toThrow(GuestFault);
    const failed = it.passedOn('INTERNAL', 'the component failed');
    expect(failed).toBeInstanceOf(GuestFault);
    it.calls.beginReplay();
    expect(it.passedOn('INTERNAL', 'the component failed')).toBeUndefined();
    expect(await it.again('fault')).toBe('failed trap');
    expect(it.passedOn('INTERNAL', 'the component failed')).toBe(failed);
    expect(it.faults).toHaveLength(1);
  });

  test('gets all results again when it is replayed a second time', async () => {
    const it = await asking();
    it.speculated('total');
    it.speculated('add', 4);
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
  ])('that calls with another %s is a fault of the handler', async (_what, name, input, id) => {
    const it = await asking();
    it.speculated('add', 4);
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
  test('is that of the request until the last call is replayed, and advances after it', async () => {
    const it = await asking();
    const { calls } = it;
    it.nowMs += 10;
    it.speculated('total');
    it.speculated('add', 4);
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

test('where the engine does not speculate, a handler waits from the first call', async () => {
  const it = await asking();
  const { engine } = it;
  const calls = new RequestCalls(
    {
      call: (...call) => engine.call(...call),
      ...WITHOUT_TIMERS,
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
  it.speculated('add', 4);
  it.calls.beginReplay();
  const ref = { component: COUNTER, id: 'a' };
  expect(await it.calls.readEvents(ref, 0, 10)).toHaveLength(1);
  await it.journal.letAllThrough();
  expect(await it.calls.readEvents(ref, 0, 10)).toHaveLength(2);
  await it.engine.close();
  await it.journal.close();
  await expect(it.calls.readEvents(ref, 0, 10)).rejects.toMatchObject({ code: 'SVC_STOPPING' });
});

test('a read that waits for another one is not made once its request is cancelled', async () => {
  const ref = { component: COUNTER, id: 'a' };
  const held = Promise.withResolvers<readonly []>();
  let reads = 0;
  const engine = {
    call: () => assert.fail('no call is made'),
    ...WITHOUT_TIMERS,
    readEvents: () => {
      reads++;
      return held.promise;
    },
  };
  const eventLoop = unlimitedEventLoop();
  const [first, second, third] = Array.from(
    { length: 3 },
    () => new RequestCalls(engine, { nowMs: () => 1 }, eventLoop),
  );
  const page = first!.readEvents(ref, 0, 10);
  const cancelled = second!.readEvents(ref, 0, 10);
  const next = third!.readEvents(ref, 0, 10);
  const late = new GuestFault('time', 'too late');
  second!.cancel(late);
  await expect(cancelled).rejects.toBe(late);
  held.resolve([]);
  expect(await Promise.all([page, next])).toEqual([[], []]);
  expect(reads).toBe(2);
});
