// What bounds one request in time: it lets the event loop turn while its handler makes calls, and once nobody
// waits for its answer its handler ends.
import { describe, expect, test } from 'vitest';
import type { GuestEndpoints } from '../../../../host/engine/needs/guest.ts';
import { LoopTurn } from '../../../../host/http/requests/loop-turn.ts';
import type { Awaitable, CallContext, Reply } from '../../../../host/model/call.ts';
import type {
  AnswerWaiter,
  EndpointRequest,
  EndpointResponse,
} from '../../../../host/model/endpoint.ts';
import { GuestFault } from '../../../../host/model/guest-fault.ts';
import { type CallableEngine, RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { requestHandler } from '../../../../host/http/requests/request-handler.ts';
import { amplyKept } from '../../../support/kept-bytes.ts';

const LATE = new GuestFault('time', 'too late', { limit: 'request-time' });
const REPLY: Reply = { kind: 'reply', json: '1' };
const REQUEST: EndpointRequest = {
  route: 0,
  parameters: [],
  query: '',
  headers: [],
  caller: 'local',
  body: { kind: 'none' },
};
const RESPONSE: EndpointResponse = {
  kind: 'response',
  status: 200,
  headers: [],
  body: { kind: 'none' },
};
const CALL = [{ component: 'c', id: 'i' }, 'n', 'null', [], undefined] as const;

/** A turn that is used up from its second question on, and turns when it is told to. */
class Busy {
  nowMs = 0;
  readonly #next: (() => void)[] = [];
  readonly turn = new LoopTurn({
    nowMs: () => (this.nowMs += 11),
    nextTurn: (callback) => this.#next.push(callback),
    afterPromises: (callback) => queueMicrotask(() => process.nextTick(callback)),
  });

  async turns(): Promise<void> {
    for (const callback of this.#next.splice(0)) callback();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** An engine that answers at once, and counts. */
function engine() {
  let asked = 0;
  const answer = () => {
    asked++;
    return REPLY;
  };
  const callable: CallableEngine = {
    call: answer,
    speculate: answer,
    readEvents: async () => {
      asked++;
      return [];
    },
  };
  return { ...callable, asked: () => asked };
}

const clock = { nowMs: () => 1 };

describe('a handler whose turn of the event loop is used up', () => {
  test('waits for a later turn with its next call, also when the answer is there', async () => {
    const { turn, turns } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, turn);
    turn.isUsedUp();
    expect(calls.call(...CALL)).toBe(REPLY);
    const second = calls.call(...CALL);
    expect([second instanceof Promise, to.asked()]).toEqual([true, 1]);
    await turns();
    expect(await second).toBe(REPLY);
    expect(to.asked()).toBe(2);
  });

  test('waits for it with reading the journal, too', async () => {
    const { turn, turns } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, turn);
    turn.isUsedUp();
    await calls.readEvents(CALL[0], 0, 1);
    const second = calls.readEvents(CALL[0], 0, 1);
    expect(to.asked()).toBe(1);
    await turns();
    expect(await second).toEqual([]);
  });

  test('is run again where it can wait, if it is where it cannot', () => {
    const { turn } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, turn);
    turn.isUsedUp();
    expect(calls.speculate?.(...CALL)).toBe(REPLY);
    expect(calls.speculate?.(...CALL)).toBeUndefined();
    expect(to.asked()).toBe(1);
  });

  test('begins in a later turn', async () => {
    const { turn, turns } = busy();
    let begun = 0;
    const handle = handler(() => {
      begun++;
      return RESPONSE;
    }, turn);
    expect(handle(REQUEST, [])).toBe(RESPONSE);
    const later = handle(REQUEST, []);
    expect(begun).toBe(1);
    await turns();
    expect(await later).toBe(RESPONSE);
  });
});

describe('what a handler has computed since a call of it ended is no more overlooked than the call:', () => {
  const LONG = 1_000_000;
  let nowMs: number;
  let turn: LoopTurn;
  /** A span of the call ends, and 11 ms go by in the handler. */
  const computes = (context: CallContext, fuel: number) => {
    turn.endMs();
    nowMs += 11;
    context.spent!.fuel += fuel;
    return RESPONSE;
  };
  const run = (handle: (context: CallContext) => Awaitable<EndpointResponse>) => {
    nowMs = 0;
    turn = new LoopTurn({ nowMs: () => nowMs, nextTurn: () => {}, afterPromises: () => {} });
    return handler(handle, turn)(REQUEST, [], { cancel: undefined, fuel: 0, kept: amplyKept() });
  };

  test('by one that answers at once', () => {
    expect(run((context) => computes(context, LONG))).toBe(RESPONSE);
    expect(turn.isUsedUp()).toBe(true);
  });

  test('by one that fails', () => {
    const fail = (context: CallContext) => {
      computes(context, 0);
      throw LATE;
    };
    expect(() => run(fail)).toThrow(LATE);
    expect(turn.isUsedUp()).toBe(true);
  });

  test('by one that has waited', async () => {
    await run(async (context) => {
      await Promise.resolve();
      return computes(context, 0);
    });
    expect(turn.isUsedUp()).toBe(true);
  });

  test('but where it used little fuel the clock is not read for it', () => {
    void run((context) => computes(context, 1));
    expect(turn.isUsedUp()).toBe(false);
  });

  test('nor by one that waits, when it makes its next call', () => {
    void run(() => RESPONSE);
    const calls = new RequestCalls(engine(), clock, turn);
    expect(calls.call(...CALL)).toBe(REPLY);
    turn.endMs();
    nowMs += 11;
    expect(calls.call(...CALL)).toBeInstanceOf(Promise);
  });
});

describe('a handler for whose answer nobody waits any more', () => {
  test('fails with what it waits for', async () => {
    const never: CallableEngine = { ...engine(), call: () => new Promise<Reply>(() => {}) };
    const calls = new RequestCalls(never, clock);
    const waited = calls.call(...CALL);
    calls.cancel(LATE);
    await expect(waited).rejects.toBe(LATE);
  });

  test('makes no call any more', () => {
    const to = engine();
    const calls = new RequestCalls(to, clock);
    calls.cancel(LATE);
    expect(() => calls.call(...CALL)).toThrow(LATE);
    expect(() => calls.readEvents(CALL[0], 0, 1)).toThrow(LATE);
    expect(to.asked()).toBe(0);
  });

  test('does not make the call for which it waits for a turn', async () => {
    const { turn, turns } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, turn);
    turn.isUsedUp();
    void calls.call(...CALL);
    const second = calls.call(...CALL) as Promise<Reply>;
    calls.cancel(LATE);
    await expect(second).rejects.toBe(LATE);
    await turns();
    expect(to.asked()).toBe(1);
  });

  test('does not begin', async () => {
    const { turn, turns } = busy();
    turn.isUsedUp();
    let begun = 0;
    const handle = handler(() => {
      begun++;
      return RESPONSE;
    }, turn);
    const waiter: AnswerWaiter = { cancel: undefined, fuel: 0, kept: amplyKept() };
    const answer = handle(REQUEST, [], waiter) as Promise<EndpointResponse>;
    waiter.cancel!(LATE);
    await Promise.all([expect(answer).rejects.toBe(LATE), turns()]);
    expect(begun).toBe(0);
  });

  test('is not run again when what it was told did not come true', async () => {
    const write = Promise.withResolvers<Reply>();
    let runs = 0;
    const handle = requestHandler({
      guest: {
        endpoints: {
          handle(_context, _request, calls) {
            runs++;
            calls.speculate?.(...CALL);
            return RESPONSE;
          },
        },
      },
      engine: { ...engine(), speculate: () => ({ speculative: REPLY, answer: write.promise }) },
      clock,
      random: { next64: () => 2n },
    });
    const waiter: AnswerWaiter = { cancel: undefined, fuel: 0, kept: amplyKept() };
    const answer = handle(REQUEST, [], waiter) as Promise<EndpointResponse>;
    waiter.cancel!(LATE);
    write.reject(new Error('the disk failed'));
    await expect(answer).rejects.toBe(LATE);
    expect(runs).toBe(1);
  });
});

function busy() {
  const loop = new Busy();
  return { turn: loop.turn, turns: () => loop.turns() };
}

function handler(
  handle: (...call: Parameters<GuestEndpoints['handle']>) => Awaitable<EndpointResponse>,
  turn: LoopTurn,
) {
  return requestHandler({
    guest: { endpoints: { handle } },
    engine: engine(),
    clock,
    random: { next64: () => 2n },
    turn,
  });
}
