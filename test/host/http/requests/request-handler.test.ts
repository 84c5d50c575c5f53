// Between the HTTP server and a module's handler: when its answer leaves, that it is run again when what it
// was told has not come true, and what becomes of a failure that it passes on.
import { describe, expect, test } from 'vitest';
import type { GuestEndpoints, HostCalls } from '../../../../model/guest.ts';
import type { CallContext, Refusal, Reply } from '../../../../model/call.ts';
import type {
  AnswerWaiter,
  EndpointRequest,
  EndpointResponse,
} from '../../../../model/endpoint.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { requestHandler } from '../../../../host/http/requests/request-handler.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';
import { ByteBudget } from '../../../../model/byte-budget.ts';
import { KeptBytes } from '../../../../model/kept-bytes.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const request: EndpointRequest = {
  route: 0,
  parameters: [],
  query: '',
  headers: [],
  caller: 'local',
  body: { kind: 'none' },
};
const response: EndpointResponse = {
  kind: 'response',
  status: 200,
  headers: [],
  body: { kind: 'none' },
};
const other = (otherCode: string, message = 'm'): Refusal => ({
  kind: 'refusal',
  code: 'OTHER',
  otherCode,
  message,
});
const fault = new GuestFault('fuel', 'out of fuel');

/** A handler that makes one call and answers, with an engine whose calls end in `outcome`. */
async function handle(outcome: () => Reply | Promise<Reply>, answer: EndpointResponse | Refusal) {
  const endpoints: GuestEndpoints = {
    async handle(_context, _request, calls: HostCalls) {
      try {
        await calls.call({ component: 'c', id: 'i' }, 'n', '{}', [], undefined);
      } catch {
        // As a guest does: what failed becomes a value.
      }
      return answer;
    },
  };
  const handler = requestHandler({
    guest: { endpoints },
    engine: { call: outcome, ...WITHOUT_TIMERS, readEvents: async () => [] },
    clock: { nowMs: () => 1 },
    random: { next64: () => 2n },
  });
  return handler(request, []);
}

const failing: [string, () => Promise<Reply>][] = [
  ['a rejected call', () => Promise.reject(fault)],
  [
    'a call that throws',
    () => {
      throw fault;
    },
  ],
];

describe.each(failing)('after %s', (_name, call) => {
  test.each(['the component took too long', 'words of its own'])(
    'a handler that passes it on as "%s" fails with it',
    async (message) => {
      await expect(handle(call, other('INTERNAL', message))).rejects.toBe(fault);
    },
  );

  test('a handler that answers something else is believed', async () => {
    expect(await handle(call, response)).toBe(response);
    for (const word of ['NO_STOCK', 'UNAVAILABLE', 'TIMED_OUT'])
      expect(await handle(call, other(word))).toEqual(other(word));
  });
});

test('a handler whose calls went well and that says INTERNAL itself is refused with that', async () => {
  expect(await handle(() => ({ kind: 'reply', json: '1' }), other('INTERNAL'))).toEqual(
    other('INTERNAL'),
  );
});

/** A call as a handler sees it: its value, its code, or UNAVAILABLE. */
type Ask = (id: string, name: string, input?: unknown) => unknown;
/** `clock`: what a module's says. */
type Handler = (ask: Ask, clock: () => number) => Generator<unknown, EndpointResponse | Refusal>;

/** A handler's `yield` is where it waits, or is given up. */
class Service extends EngineUnderTest {
  /** Of each run of the handler, whether it could wait. */
  readonly runs: boolean[] = [];
  readonly #contexts: unknown[] = [];
  #answer: EndpointResponse | Refusal | undefined;

  async begin(): Promise<this> {
    for (const id of ['a', 'b']) await this.outcome(id, 'noop');
    this.journal.held = true;
    return this;
  }

  /** The first run's contexts were all the same. */
  get contextCount(): number {
    return new Set(this.#contexts).size;
  }

  get answer(): EndpointResponse | Refusal | undefined {
    return this.#answer;
  }

  send(handler: Handler, waiter?: AnswerWaiter): Promise<EndpointResponse | Refusal> {
    const serve = requestHandler({
      guest: { endpoints: { handle: (...given) => this.#run(handler, ...given) } },
      engine: this.engine,
      clock: { nowMs: () => ++this.nowMs },
      random: { next64: () => ++this.seed },
      eventLoop: unlimitedEventLoop(),
    });
    const sent = (async () => serve(request, [], waiter))();
    sent.then(
      (answer) => (this.#answer = answer),
      () => {},
    );
    return sent;
  }

  #run(handler: Handler, ...[context, , calls]: Parameters<GuestEndpoints['handle']>) {
    this.#contexts.push(context);
    if (calls.speculate !== undefined) {
      this.runs.push(false);
      const answer = this.#runAhead(handler, context, calls);
      if (answer !== undefined) return answer;
      calls.beginReplay?.();
      this.#contexts.push(context);
    }
    this.runs.push(true);
    return runAndWait(handler, context, calls);
  }

  #runAhead(handler: Handler, { nowMs }: CallContext, calls: HostCalls) {
    const ask: Ask = (id, name, input = null) => {
      const outcome = told(() =>
        calls.speculate!({ component: COUNTER, id }, name, JSON.stringify(input), [], undefined),
      );
      return outcome;
    };
    const running = handler(ask, () => nowMs);
    let step = running.next();
    while (step.done !== true) {
      if (step.value === undefined) return undefined;
      step = running.next(step.value);
    }
    return step.value;
  }
}

async function runAndWait(handler: Handler, context: CallContext, calls: HostCalls) {
  let { nowMs } = context;
  const ask: Ask = async (id, name, input = null) => {
    try {
      const ref = { component: COUNTER, id };
      return value(await calls.call(ref, name, JSON.stringify(input), [], undefined));
    } catch {
      return 'UNAVAILABLE';
    } finally {
      nowMs = calls.nowMs();
    }
  };
  const running = handler(ask, () => nowMs);
  let step = running.next();
  while (step.done !== true) step = running.next(await step.value);
  return step.value;
}

function told(call: () => Reply | Refusal | undefined): unknown {
  try {
    const outcome = call();
    return outcome && value(outcome);
  } catch {
    return 'UNAVAILABLE';
  }
}

function value(outcome: Reply | Refusal): unknown {
  return outcome.kind === 'reply' ? JSON.parse(outcome.json) : outcome.code;
}

const text = (...values: unknown[]): EndpointResponse => ({
  ...response,
  body: { kind: 'text', text: values.join(' ') },
});
const accepted: EndpointResponse = { ...response, status: 202 };

const add: Handler = function* (ask) {
  const total = yield ask('a', 'add', 4);
  return total === 'UNAVAILABLE' ? other('UNAVAILABLE') : text(total);
};

describe('the answer of a handler that was told what is not on disk', () => {
  test('leaves once it is, and the handler was run once', async () => {
    const it = await new Service().begin();
    const sent = it.send(add);
    await turns();
    expect([it.answer, it.runs, it.journal.waitingCount]).toEqual([undefined, [false], 1]);
    await it.journal.letAllThrough();
    expect(await sent).toEqual(text(4));
    expect(it.runs).toEqual([false]);
  });

  test('counts as kept until it leaves, with what the handler was told', async () => {
    const budget = new ByteBudget(1_000_000);
    const it = await new Service().begin();
    const sent = it.send(
      function* (ask) {
        yield ask('a', 'add', 4);
        return text('x'.repeat(100_000));
      },
      { cancel: undefined, fuel: 0, kept: new KeptBytes(budget) },
    );
    await turns();
    expect(budget.total).toBeGreaterThan(100_000);
    expect(budget.total).toBeLessThan(100_500);
    await it.journal.letAllThrough();
    expect(await sent).toEqual(text('x'.repeat(100_000)));
  });

  test('is thrown away where there is no room to keep it, and that is the failure', async () => {
    const budget = new ByteBudget(100_000);
    const it = await new Service().begin();
    const sent = it.send(
      function* (ask) {
        yield ask('a', 'add', 4);
        return text('x'.repeat(100_000));
      },
      { cancel: undefined, fuel: 0, kept: new KeptBytes(budget) },
    );
    sent.catch(() => {});
    await it.journal.letAllThrough();
    await expect(sent).rejects.toMatchObject({ code: 'SVC_RESPONSE_DROPPED' });
    expect(budget.total).toBe(0);
    // What was asked for was done.
    expect(await it.records('a')).toHaveLength(1);
  });

  test('is none while callers do not take what there is: no handler runs', async () => {
    const budget = new ByteBudget(100_000);
    budget.add(100_000);
    const it = await new Service().begin();
    const sent = it.send(add, { cancel: undefined, fuel: 0, kept: new KeptBytes(budget) });
    await expect(sent).rejects.toMatchObject({ code: 'SVC_OVERLOADED' });
    expect(it.runs).toEqual([]);
  });

  test('is what it answers to the failure, when the write fails', async () => {
    const it = await new Service().begin();
    const sent = it.send(function* (ask) {
      const total = yield ask('a', 'add', 4);
      return total === 'UNAVAILABLE' ? accepted : text(total);
    });
    await it.journal.fail();
    expect(await sent).toEqual(accepted);
    expect([it.runs, it.contextCount]).toEqual([[false, true], 1]);
    expect(await it.records('a')).toEqual([]);
  });

  test('is the failure, when the write fails and it passes that on', async () => {
    const it = await new Service().begin();
    const sent = it.send(add);
    sent.catch(() => {});
    await it.journal.fail();
    await expect(sent).rejects.toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    expect(it.guest.calls.filter((name) => name === 'add')).toHaveLength(1);
  });

  test('is made of what a query says that is asked anew, when the write before it fails', async () => {
    const it = await new Service().begin();
    const lost = it.outcome('a', 'add', 9);
    const sent = it.send(function* (ask) {
      return text(yield ask('a', 'total'));
    });
    await it.journal.fail();
    expect(await sent).toEqual(text(0));
    expect(await lost).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  });

  test('leaves at once when it is a fault', async () => {
    const it = await new Service().begin();
    const sent = it.send(function* (ask) {
      yield ask('a', 'add', 4);
      throw fault;
    });
    await expect(sent).rejects.toBe(fault);
    expect(it.journal.waitingCount).toBe(1);
    await it.journal.letAllThrough();
    expect(await it.records('a')).toHaveLength(1);
  });
});

const both: Handler = function* (ask, clock) {
  const before = clock();
  const total = yield ask('a', 'add', 4);
  const between = clock();
  const second = yield ask('b', 'add', total);
  return text(before, total, between > before, second);
};

describe('a handler of several calls', () => {
  test('is run again where it can wait, each call is made once, and the next after the disk', async () => {
    const it = await new Service().begin();
    const begun = it.nowMs;
    const sent = it.send(both);
    await turns();
    expect(it.runs).toEqual([false, true]);
    // The second is not decided on what is not on disk.
    expect(it.guest.calls.filter((name) => name === 'add')).toHaveLength(1);
    await it.journal.letAllThrough();
    expect(await sent).toEqual(text(begun + 1, 4, true, 4));
    expect([(await it.records('a')).length, (await it.records('b')).length]).toEqual([1, 1]);
    expect([it.runs.length, it.contextCount]).toEqual([2, 1]);
  });

  test('sees the first one fail, and asks the second of nothing that is not there', async () => {
    const it = await new Service().begin();
    const sent = it.send(both);
    await turns();
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect(await sent).toMatchObject({ body: { text: expect.stringContaining('UNAVAILABLE') } });
    expect(await it.records('a')).toEqual([]);
  });

  test('is not led to other calls by its clock when it is run again', async () => {
    const it = await new Service().begin();
    const sent = it.send(function* (ask, clock) {
      const before = clock();
      yield ask('a', 'total');
      const added = yield ask('a', 'add', clock() === before ? 4 : 5);
      return text(added, yield ask('b', 'add', clock() === before ? 6 : 7));
    });
    await turns();
    await it.journal.letAllThrough();
    expect([await sent, it.runs]).toEqual([text(4, 7), [false, true]]);
  });

  test('that are answered at once is run once, and answers at once', async () => {
    const it = await new Service().begin();
    void it.send(function* (ask) {
      return text(yield ask('a', 'total'), yield ask('b', 'noop'), yield ask('a', 'take', 1));
    });
    await turns();
    expect([it.answer, it.runs]).toEqual([text(0, 0, 'CONFLICT'), [false]]);
  });

  test('of which the first is not in memory is run again, and nothing is done twice', async () => {
    const it = await new Service().begin();
    it.journal.held = false;
    const answer = await it.send(function* (ask) {
      return text(yield ask('new', 'add', 1), yield ask('new', 'add', 2));
    });
    expect([answer, it.runs]).toEqual([text(1, 3), [false, true]]);
    expect(await it.records('new')).toHaveLength(2);
  });
});

test('a call that failed before a replay fails again in the replay, and its failure is that of the request', async () => {
  const it = await new Service().begin();
  it.journal.held = false;
  const sent = it.send(function* (ask) {
    yield ask('a', 'fault');
    yield ask('b', 'add', 1);
    yield ask('b', 'total');
    return other('INTERNAL', 'the component failed');
  });
  await expect(sent).rejects.toMatchObject({ faultCause: 'trap' });
  expect(it.runs).toEqual([false, true]);
  expect(it.faults).toHaveLength(1);
});
