// What bounds one request in time: it lets the event loop turn while its handler makes calls, and once nobody
// waits for its answer its handler ends.
import { describe, expect, test } from 'vitest';
import type { GuestEndpoints } from '../../../../model/guest.ts';
import { EventLoopBudget } from '../../../../host/http/requests/event-loop-budget.ts';
import type { Awaitable, CallContext, Reply } from '../../../../model/call.ts';
import type {
  AnswerWaiter,
  EndpointRequest,
  EndpointResponse,
} from '../../../../model/endpoint.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import type { CallableEngine } from '../../../../host/http/requests/callable-engine.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { requestHandler } from '../../../../host/http/requests/request-handler.ts';
import { amplyKept } from '../../../support/kept-bytes.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

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
  readonly eventLoop = new EventLoopBudget({
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
    ...WITHOUT_TIMERS,
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
    const { eventLoop, turns } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, eventLoop);
    eventLoop.isUsedUp();
    expect(calls.call(...CALL)).toBe(REPLY);
    const second = calls.call(...CALL);
    expect([second instanceof Promise, to.asked()]).toEqual([true, 1]);
    await turns();
    expect(await second).toBe(REPLY);
    expect(to.asked()).toBe(2);
  });

  test('waits for it with reading the journal, too', async () => {
    const { eventLoop, turns } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, eventLoop);
    eventLoop.isUsedUp();
    await calls.readEvents(CALL[0], 0, 1);
    // The first page has been handed on.
    await new Promise((resolve) => setImmediate(resolve));
    const second = calls.readEvents(CALL[0], 0, 1);
    expect(to.asked()).toBe(1);
    await turns();
    expect(await second).toEqual([]);
  });

  test('is run again where it can wait, if it is where it cannot', () => {
    const { eventLoop } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, eventLoop);
    eventLoop.isUsedUp();
    expect(calls.speculate?.(...CALL)).toBe(REPLY);
    expect(calls.speculate?.(...CALL)).toBeUndefined();
    expect(to.asked()).toBe(1);
  });

  test('begins in a later turn', async () => {
    const { eventLoop, turns } = busy();
    let begun = 0;
    const handle = handler(() => {
      begun++;
      return RESPONSE;
    }, eventLoop);
    expect(handle(REQUEST, [])).toBe(RESPONSE);
    const later = handle(REQUEST, []);
    expect(begun).toBe(1);
    await turns();
    expect(await later).toBe(RESPONSE);
  });
});

describe('the time in which a handler computes uses up the budget of the event loop:', () => {
  let nowMs: number;
  let eventLoop: EventLoopBudget;
  /** Computes for 11 ms. */
  const compute = () => {
    nowMs += 11;
    return RESPONSE;
  };
  const run = (handle: (context: CallContext) => Awaitable<EndpointResponse>) => {
    nowMs = 0;
    eventLoop = new EventLoopBudget({
      nowMs: () => nowMs,
      nextTurn: () => {},
      afterPromises: () => {},
    });
    const waiter = { cancel: undefined, fuel: 0, kept: amplyKept() };
    return handler(handle, eventLoop)(REQUEST, [], waiter);
  };

  test('when it answers at once', () => {
    expect(run(compute)).toBe(RESPONSE);
    expect(eventLoop.isUsedUp()).toBe(true);
  });

  test('when it fails', () => {
    const fail = () => {
      compute();
      throw LATE;
    };
    expect(() => run(fail)).toThrow(LATE);
    expect(eventLoop.isUsedUp()).toBe(true);
  });

  test('when it has waited before', async () => {
    await run(async () => {
      await Promise.resolve();
      return compute();
    });
    expect(eventLoop.isUsedUp()).toBe(true);
  });

  test('when it computes between two calls, the second of which yields', () => {
    void run(() => RESPONSE);
    const calls = new RequestCalls(engine(), clock, eventLoop);
    expect(calls.call(...CALL)).toBe(REPLY);
    compute();
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
    const { eventLoop, turns } = busy();
    const to = engine();
    const calls = new RequestCalls(to, clock, eventLoop);
    eventLoop.isUsedUp();
    void calls.call(...CALL);
    const second = calls.call(...CALL) as Promise<Reply>;
    calls.cancel(LATE);
    await expect(second).rejects.toBe(LATE);
    await turns();
    expect(to.asked()).toBe(1);
  });

  test('does not begin', async () => {
    const { eventLoop, turns } = busy();
    eventLoop.isUsedUp();
    let begun = 0;
    const handle = handler(() => {
      begun++;
      return RESPONSE;
    }, eventLoop);
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
  return { eventLoop: loop.eventLoop, turns: () => loop.turns() };
}

function handler(
  handle: (...call: Parameters<GuestEndpoints['handle']>) => Awaitable<EndpointResponse>,
  eventLoop: EventLoopBudget,
) {
  return requestHandler({
    guest: { endpoints: { handle } },
    engine: engine(),
    clock,
    random: { next64: () => 2n },
    eventLoop,
  });
}
