// What the inputs of calls may take in memory while their handlers wait, over real connections, with an engine that
// answers when the test lets it.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import type { HostCalls } from '../../../../model/guest.ts';
import { EventLoopBudget } from '../../../../host/http/requests/event-loop-budget.ts';
import type { CallableEngine } from '../../../../host/http/requests/callable-engine.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { requestHandler } from '../../../../host/http/requests/request-handler.ts';
import { ByteBudget } from '../../../../model/byte-budget.ts';
import type { Reply } from '../../../../model/call.ts';
import { callFailure } from '../../../../model/call-failure.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { KeptBytes } from '../../../../model/kept-bytes.ts';
import { requestBudgets } from '../../../../model/request-budgets.ts';
import { descriptorOf, gate, get, ok, type RawAnswer, RawClient, start } from '../http-harness.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const REPLY: Reply = { kind: 'reply', json: '1' };
const TARGET = { component: 'c', id: 'i' };
const MIB = 1024 * 1024;
const LATE = new GuestFault('time', 'too late', { limit: 'request-time' });
const clock = { nowMs: () => 1 };

/** A handler that makes one call with an input of `units`, and passes its failure on. */
function handlerOf(units: number, engine: Partial<CallableEngine>) {
  return requestHandler({
    guest: {
      endpoints: {
        async handle(_context, _request, calls: HostCalls) {
          try {
            await calls.call(TARGET, 'n', 'x'.repeat(units), [], undefined);
          } catch (error) {
            const { word, text } = callFailure(error)!;
            return { kind: 'refusal', code: 'OTHER', otherCode: word, message: text };
          }
          return ok('done');
        },
      },
    },
    engine: { call: () => REPLY, ...WITHOUT_TIMERS, readEvents: async () => [], ...engine },
    clock,
    random: { next64: () => 1n },
  });
}

const repeated = (count: number, status: number) => Array.from({ length: count }, () => status);

const budgetsOf = (unsentBytesMax: number) =>
  requestBudgets({ unsentBytesMax, responseBytesMax: MIB, bodyBytesTotalMax: MIB });

describe('inputs of calls of handlers that wait', () => {
  test('have a bound together with the responses: beyond it the call is not made, and its request is 503', async () => {
    const { passed, open } = gate();
    let made = 0;
    const budgets = budgetsOf(8 * MIB);
    const { port } = await start({
      descriptor: descriptorOf([['GET', '/']]),
      budgets,
      handle: handlerOf(MIB / 2, {
        call: () => {
          made++;
          return passed.then(() => REPLY);
        },
      }),
    });
    const answers: Promise<RawAnswer>[] = [];
    const turnedDown: RawAnswer[] = [];
    const fourteen = gate();
    for (let n = 0; n < 20; n++) {
      const answer = new RawClient(port).send(get('/')).answer();
      answers.push(answer);
      void answer.then((given) => {
        if (turnedDown.push(given) === 14) fourteen.open();
      });
    }
    // Six of 1 MiB and a little leave no room for one more and a response.
    await fourteen.passed;
    expect(turnedDown.map(({ status }) => status)).toEqual(repeated(14, 503));
    expect(turnedDown[0]!.headers).toHaveProperty('retry-after');
    expect(made).toBe(6);
    expect(budgets.unsent.total).toBeGreaterThan(6 * MIB);
    expect(budgets.unsent.total).toBeLessThan(7 * MIB);
    open();
    const statuses = (await Promise.all(answers))
      .map(({ status }) => status)
      .toSorted((a, b) => a - b);
    expect(statuses).toEqual([...repeated(6, 200), ...repeated(14, 503)]);
    expect((await new RawClient(port).send(get('/')).answer()).status).toBe(200);
    await vi.waitFor(() => expect(budgets.unsent.total).toBe(0));
  });

  test('take no more memory of a process than the bound, however many wait', async () => {
    const program = join(import.meta.dirname, 'many-inputs.program.ts');
    const arguments_ = ['--max-old-space-size=400', program];
    const { stdout } = await promisify(execFile)(process.execPath, arguments_, { timeout: 60_000 });
    const { done, turnedDown, rssMib } = JSON.parse(stdout) as Record<string, number>;
    expect([done, turnedDown]).toEqual([11, 109]);
    // All inputs together are 240 MiB, beside some 100 MiB of the program.
    expect(rssMib).toBeLessThan(260);
  });
});

describe('the input of a call', () => {
  const bytes = 200_000;
  const call = [TARGET, 'n', 'x'.repeat(bytes / 2), [], undefined] as const;
  const never = new Promise<Reply>(() => {});

  test('counts while the call waits for a turn of the event loop, and is given back when it is not made', async () => {
    const budget = new ByteBudget(10 * bytes);
    const waiting: (() => void)[] = [];
    const eventLoop = new EventLoopBudget({
      nowMs: (() => {
        let nowMs = 0;
        return () => (nowMs += 11);
      })(),
      nextTurn: (callback) => waiting.push(callback),
      afterPromises: (callback) => setImmediate(callback),
    });
    const engine = { call: () => REPLY, ...WITHOUT_TIMERS, readEvents: async () => [] };
    const calls = new RequestCalls(engine, clock, eventLoop, undefined, new KeptBytes(budget));
    eventLoop.isUsedUp();
    expect(calls.call(...call)).toBe(REPLY);
    expect(budget.total).toBe(0);
    const answer = calls.call(...call) as Promise<Reply>;
    expect(budget.total).toBeGreaterThan(bytes);
    calls.cancel(LATE);
    await expect(answer).rejects.toBe(LATE);
    for (const turned of waiting) turned();
    await vi.waitFor(() => expect(budget.total).toBe(0));
  });

  test('counts until its entity has done it, also when its handler was cancelled and its request has ended', async () => {
    const budget = new ByteBudget(10 * bytes);
    for (const isSpeculative of [false, true]) {
      const { promise, resolve } = Promise.withResolvers<Reply>();
      const kept = new KeptBytes(budget);
      const engine = {
        call: () => promise,
        speculate: () => ({ speculative: undefined, answer: promise }),
        ...WITHOUT_TIMERS,
        readEvents: async () => [],
      };
      const calls = new RequestCalls(engine, clock, undefined, undefined, kept);
      const answer = isSpeculative ? calls.speculate!(...call) : calls.call(...call);
      Promise.resolve(answer).catch(() => {});
      calls.cancel(LATE);
      kept.free();
      expect(budget.total, `ahead: ${isSpeculative}`).toBeGreaterThan(bytes);
      resolve(REPLY);
      await vi.waitFor(() => expect(budget.total).toBe(0));
    }
  });

  test('that finds no room where the handler cannot wait either is told the same again, and is not made', () => {
    const budget = new ByteBudget(bytes / 2);
    const kept = new KeptBytes(budget);
    let made = 0;
    const make = () => {
      made++;
      return never;
    };
    const engine = {
      call: make,
      speculate: () => ({ speculative: undefined, answer: make() }),
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
    };
    const calls = new RequestCalls(engine, clock, undefined, undefined, kept);
    const overloaded = expect.objectContaining({ code: 'SVC_OVERLOADED' }) as Error;
    expect(() => calls.speculate!(...call)).toThrow(overloaded);
    expect(calls.beginReplay()).toBe(true);
    expect(() => calls.call(...call)).toThrow(overloaded);
    expect([made, budget.total]).toEqual([0, 0]);
  });

  test('of up to 16 KiB always has room', () => {
    const budget = new ByteBudget(100);
    budget.add(100);
    const engine = { call: () => REPLY, ...WITHOUT_TIMERS, readEvents: async () => [] };
    const calls = new RequestCalls(engine, clock, undefined, undefined, new KeptBytes(budget));
    expect(calls.call(TARGET, 'n', 'x'.repeat(8_000), [], undefined)).toBe(REPLY);
  });
});
