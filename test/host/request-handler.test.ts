import { describe, expect, test } from 'vitest';
import type { GuestEndpoints, HostCalls } from '../../host/engine/needs/guest.ts';
import type { Refusal, Reply } from '../../host/model/call.ts';
import type { EndpointRequest, EndpointResponse } from '../../host/model/endpoint.ts';
import { GuestFault } from '../../host/model/guest-fault.ts';
import { requestHandler } from '../../host/request-handler.ts';

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
const other = (otherCode: string): Refusal => ({
  kind: 'refusal',
  code: 'OTHER',
  otherCode,
  message: 'm',
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
    engine: { call: outcome, queryAtOnce: () => undefined, readEvents: async () => [] },
    clock: { nowMs: () => 1 },
    chance: { seed: () => 2n },
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
  test.each(['UNAVAILABLE', 'TIMED_OUT', 'INTERNAL'])(
    'a handler that passes it on as %s fails with it',
    async (word) => {
      await expect(handle(call, other(word))).rejects.toBe(fault);
    },
  );

  test('a handler that answers something else is believed', async () => {
    expect(await handle(call, response)).toBe(response);
    expect(await handle(call, other('NO_STOCK'))).toEqual(other('NO_STOCK'));
  });
});

test('a handler whose calls went well and that says INTERNAL itself is refused with that', async () => {
  expect(await handle(() => ({ kind: 'reply', json: '1' }), other('INTERNAL'))).toEqual(
    other('INTERNAL'),
  );
});

/** Asks at once, is given up, and is served again as far as `again` goes. */
const served = (again: (calls: HostCalls) => Promise<unknown>) => {
  const endpoints: GuestEndpoints = {
    async handle(_context, _request, calls) {
      expect(() => calls.queryAtOnce?.({ component: 'c', id: 'i' }, 'n', '{}', [])).toThrow(fault);
      await again(calls);
      return other('INTERNAL');
    },
  };
  const handler = requestHandler({
    guest: { endpoints },
    engine: {
      call: () => ({ kind: 'reply', json: '1' }),
      queryAtOnce: () => {
        throw fault;
      },
      readEvents: async () => [],
    },
    clock: { nowMs: () => 1 },
    chance: { seed: () => 2n },
  });
  return handler(request, []);
};

describe('what failed before the handler was served anew, where it can wait,', () => {
  test('is nobody’s failure', async () => {
    const answer = await served(async (calls) =>
      calls.call({ component: 'c', id: 'i' }, 'n', '{}', [], undefined),
    );
    expect(answer).toEqual(other('INTERNAL'));
  });

  test('is the request’s when it was not served anew', async () => {
    await expect(served(async () => {})).rejects.toBe(fault);
  });
});
