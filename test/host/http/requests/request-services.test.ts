// Requests that a handler makes to other services: how often they are made, their trace, and what ends them.
import { describe, expect, test } from 'vitest';
import { eventHandler } from '../../../../host/http/requests/event-handler.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import type { Metadata } from '../../../../model/call.ts';
import { callFailure } from '../../../../model/call-failure.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import type {
  CalledServices,
  ServiceRequest,
  ServiceResponse,
} from '../../../../model/service-call.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { TimersUnderTest, ref } from '../../../support/timers-under-test.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';

const TRACE: Metadata = [['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]];
const REQUEST: ServiceRequest = {
  service: 'billing',
  method: 'GET',
  path: '/',
  headers: [],
  body: new Uint8Array(),
};
const RESPONSE: ServiceResponse = { status: 200, headers: [], body: new Uint8Array() };

class Services implements CalledServices {
  readonly perHandlerMax: number;
  readonly traces: Metadata[] = [];
  readonly signals: AbortSignal[] = [];
  answer: () => Promise<ServiceResponse> = async () => RESPONSE;

  constructor(perHandlerMax = 3) {
    this.perHandlerMax = perHandlerMax;
  }

  request(_request: ServiceRequest, metadata: Metadata, signal: AbortSignal) {
    this.traces.push(metadata);
    this.signals.push(signal);
    return this.answer();
  }
}

function handling(services: CalledServices | undefined) {
  const it = new TimersUnderTest();
  const calls = new RequestCalls(it.engine, { nowMs: () => it.nowMs }, unlimitedEventLoop());
  calls.metadata = TRACE;
  calls.services = services;
  return { it, calls };
}

const failure = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    return error;
  }
};

test('a request carries the trace of its handler', async () => {
  const services = new Services();
  const { calls } = handling(services);
  expect(await calls.request(REQUEST)).toBe(RESPONSE);
  expect(services.traces).toEqual([TRACE]);
});

test('a handler that is run again repeats the calls before, and sends its request once', async () => {
  const services = new Services();
  const { it, calls } = handling(services);
  await it.outcome('a', 'add', 3);
  const call = [ref('a'), 'add', '4', [], undefined] as const;
  expect(calls.speculate!(...call)).toMatchObject({ json: '7' });
  // It has to wait for the request, so it is run again where it can.
  expect(calls.beginReplay()).toBe(true);
  expect(await calls.call(...call)).toMatchObject({ json: '7' });
  await calls.request(REQUEST);
  expect(await calls.call(ref('a'), 'add', '5', [], undefined)).toMatchObject({ json: '12' });
  expect(services.traces).toHaveLength(1);
  expect(await it.outcome('a', 'history')).toEqual([3, 4, 5]);
});

test('a handler makes no more requests than the most, and is told why', async () => {
  const services = new Services(2);
  const { calls } = handling(services);
  await calls.request(REQUEST);
  await calls.request(REQUEST);
  const denied = await failure(() => calls.request(REQUEST));
  expect(callFailure(denied)).toEqual({
    word: 'DENIED',
    text: expect.stringContaining('has made 2 of them') as string,
  });
  expect(services.traces).toHaveLength(2);
});

test('a service that cannot call others denies each request', async () => {
  const { calls } = handling(undefined);
  expect(await failure(() => calls.request(REQUEST))).toMatchObject({
    code: 'SVC_SERVICE_CALL_DENIED',
  });
});

test('a request of a cancelled handler is cancelled, and the handler makes no other', async () => {
  const services = new Services();
  services.answer = () => new Promise(() => {});
  const { calls } = handling(services);
  const waiting = failure(() => calls.request(REQUEST));
  const reason = new GuestFault('time', 'too late', { limit: 'request-time' });
  calls.cancel(reason);
  expect(await waiting).toBe(reason);
  expect(services.signals[0]!.reason).toBe(reason);
  expect(await failure(() => calls.request(REQUEST))).toBe(reason);
  expect(services.traces).toHaveLength(1);
});

test('an overloaded caller is unavailable to the handler, which can pass that on', async () => {
  const services = new Services();
  const overloaded = new SvcError('SVC_OVERLOADED', 'too many in flight');
  services.answer = () => Promise.reject(overloaded);
  const { calls } = handling(services);
  expect(await failure(() => calls.request(REQUEST))).toBe(overloaded);
  const { word, text } = callFailure(overloaded)!;
  const answer = { kind: 'refusal', code: 'OTHER', otherCode: word, message: text } as const;
  expect(calls.failurePassedOnBy(answer)).toBe(overloaded);
});

const attempt = (services: CalledServices, trace = 'c'.repeat(32)) => {
  const it = new TimersUnderTest();
  const given: Metadata[] = [];
  const handle = eventHandler({
    guest: {
      consumers: {
        handle: async (context, _consumer, _event, calls) => {
          given.push(context.metadata);
          await calls.request(REQUEST);
          return { kind: 'done' };
        },
      },
    },
    engine: it.engine,
    services,
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs: 60_000,
  })!;
  const event = { manifest: 'order-event', json: '{}' };
  const about = { entity: ref('o'), seq: 1, timeMs: it.nowMs, event, seed: 1n, trace };
  return { verdict: handle('ledger', about, 0), given };
};

describe('a consumer', () => {
  test('sends a request at each attempt, in the trace of the event and as a child of the attempt', async () => {
    const services = new Services();
    const first = attempt(services);
    expect(await first.verdict).toEqual({ kind: 'done' });
    await attempt(services).verdict;
    expect(services.traces).toHaveLength(2);
    const [[, sent] = []] = services.traces[0]!;
    expect(sent).toMatch(new RegExp(`^00-${'c'.repeat(32)}-[0-9a-f]{16}-01$`));
    expect(sent).not.toBe(first.given[0]![0]![1]);
  });

  test('whose request could not be made for the load is tried again', async () => {
    const services = new Services();
    services.answer = () => Promise.reject(new SvcError('SVC_OVERLOADED', 'too many in flight'));
    await expect(attempt(services).verdict).rejects.toMatchObject({
      cause: { code: 'SVC_OVERLOADED' },
    });
  });
});
