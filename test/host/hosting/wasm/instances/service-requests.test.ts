// The import routing.request: what of a request reaches the host, and what of its response the module.
import { SvcError } from '@svc/kit/svc-error';
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import type { ServiceRequest, ServiceResponse } from '../../../../../model/service-call.ts';
import { CONTEXT, faultOf, hostCalls, liveGuest, request } from '../support/live-guest.ts';
import { StaticMemory } from '../support/static-memory.ts';

const version = '0.2.0';
/** Answers the bytes of the first two pages of the module's memory. */
const SHOW_MEMORY = `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200))
  (i32.store8 (i32.const 32) (i32.const 3)) (i32.store (i32.const 36) (i32.const 1))
  (i32.store (i32.const 40) (i32.const 131071)) (i32.const 16)`;
const RESULT = 256;
const REQUEST: ServiceRequest = {
  service: 'billing',
  method: 'PUT',
  path: '/ö',
  headers: [
    ['a', 'é'],
    ['b', ''],
  ],
  body: Buffer.from('bödy'),
};
const RESPONSE: ServiceResponse = {
  status: 404,
  headers: [
    ['x-a', 'é'],
    ['x-b', ''],
  ],
  body: Buffer.from([0, 255, 7]),
};

const zeros = (count: number) => '(i32.const 0)'.repeat(count);

const withRequest = () => {
  const memory = new StaticMemory();
  const at = memory.record(40, [
    [0, 'billing'],
    [8, 'PUT'],
    [16, '/ö'],
    ...memory.list(24, 16, [
      [
        [0, 'a'],
        [8, 'é'],
      ],
      [
        [0, 'b'],
        [8, ''],
      ],
    ]),
    [32, 'bödy'],
  ]);
  const words = Array.from(
    { length: 10 },
    (_, index) => `(i32.load (i32.const ${at + index * 4}))`,
  );
  return { memory, send: `(call $request ${words.join(' ')} (i32.const ${RESULT}))` };
};

async function handled(send: string, calls: Partial<HostCalls>, memory: StaticMemory) {
  const handle = `${send} ${SHOW_MEMORY}`;
  const { endpoints } = await liveGuest({ version, fields: memory.data, handle });
  const answer = await endpoints.handle(CONTEXT, request(0), hostCalls(calls));
  if (answer.kind !== 'response' || answer.body.kind !== 'bytes') throw new Error('no memory');
  const bytes = Buffer.concat([Buffer.alloc(1), answer.body.bytes]);
  const list = (at: number) => {
    const start = bytes.readUInt32LE(at);
    return bytes.subarray(start, start + bytes.readUInt32LE(at + 4));
  };
  return { bytes, list, text: (at: number) => list(at).toString() };
}

describe('a handler', () => {
  test.each([
    ['at once', (): ServiceResponse => RESPONSE],
    ['later', async (): Promise<ServiceResponse> => RESPONSE],
  ])('sends a request, and gets its response %s', async (_when, answer) => {
    const { memory, send } = withRequest();
    const requests: ServiceRequest[] = [];
    const { bytes, list, text } = await handled(
      send,
      { request: (given) => (requests.push(given), answer()) },
      memory,
    );
    expect(requests).toEqual([{ ...REQUEST, body: new Uint8Array(REQUEST.body) }]);
    expect([bytes[RESULT], bytes.readUInt16LE(RESULT + 4)]).toEqual([0, 404]);
    expect(bytes.readUInt32LE(RESULT + 12)).toBe(2);
    const headers = bytes.readUInt32LE(RESULT + 8);
    expect([0, 8, 16, 24].map((offset) => text(headers + offset))).toEqual(['x-a', 'é', 'x-b', '']);
    expect([...list(RESULT + 16)]).toEqual([0, 255, 7]);
  });

  test.each([
    ['SVC_SERVICE_CALL_DENIED', 1, 'The request was not sent: so.'],
    ['SVC_OVERLOADED', 2, 'too much is waiting'],
    ['SVC_STOPPING', 2, 'the service is stopping'],
    ['SVC_ANSWER_TIMED_OUT', 3, ''],
  ] as const)('is told that a request was not sent: %s', async (code, kind, reason) => {
    const { memory, send } = withRequest();
    const fail = () => {
      throw new SvcError(code, 'The request was not sent: so.');
    };
    for (const failing of [fail, async () => fail()]) {
      const { bytes, text } = await handled(send, { request: failing }, memory);
      expect([bytes[RESULT], bytes[RESULT + 4]]).toEqual([1, kind]);
      expect(text(RESULT + 8)).toBe(reason);
    }
  });

  test('that cannot wait is run again where it can before it sends a request', async () => {
    const { memory, send } = withRequest();
    const order: string[] = [];
    await handled(
      send,
      {
        speculate: () => undefined,
        beginReplay: () => (order.push('replay'), false),
        request: () => (order.push('sent'), RESPONSE),
      },
      memory,
    );
    expect(order).toEqual(['replay', 'sent']);
  });

  test.each([
    ['a service outside the memory', `(i32.const -64) (i32.const 32) ${zeros(8)} (i32.const 256)`],
    ['a name that is no UTF-8', `(i32.const 4096) (i32.const 1) ${zeros(8)} (i32.const 256)`],
    ['unaligned headers', `${zeros(6)} (i32.const 4097) (i32.const 1) ${zeros(2)} (i32.const 256)`],
    ['2^32 - 1 headers', `${zeros(6)} (i32.const 4096) (i32.const -1) ${zeros(2)} (i32.const 256)`],
    ['a body outside the memory', `${zeros(8)} (i32.const 131000) (i32.const 100) (i32.const 256)`],
    ['an unaligned result', `${zeros(10)} (i32.const 257)`],
    ['a result outside the memory', `${zeros(10)} (i32.const 131064)`],
  ])('that passes %s faults, and sends nothing', async (_what, parameters) => {
    const handle = `(i32.store8 (i32.const 4096) (i32.const 255)) (call $request ${parameters}) (call $clear)`;
    const { endpoints } = await liveGuest({ version, handle });
    const sent: unknown[] = [];
    const calls = hostCalls({ request: (given) => (sent.push(given), RESPONSE) });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect(['value', 'limit']).toContain(fault.faultCause);
    expect(sent).toEqual([]);
  });

  test('sends requests no more often than it may call the host', async () => {
    const { memory, send } = withRequest();
    let count = 0;
    const { endpoints } = await liveGuest(
      { version, fields: memory.data, handle: `(loop $again ${send} (br $again)) unreachable` },
      { hostCallsMax: 20 },
    );
    const calls = hostCalls({ request: () => (count++, RESPONSE) });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect([fault.faultCause, fault.limit, count]).toEqual(['limit', 'host-calls', 20]);
  });

  test('pays for the bytes of a response with its fuel', async () => {
    const { memory, send } = withRequest();
    const { endpoints } = await liveGuest(
      { version, fields: memory.data, handle: `${send} (call $clear)` },
      { handlerFuel: 100_000 },
    );
    const body = new Uint8Array(200_000);
    const calls = hostCalls({ request: async () => ({ ...RESPONSE, body }) });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect([fault.faultCause, fault.limit]).toEqual(['fuel', 'handler-fuel']);
  });
});
