// RingFrames: frames are read as they were written, and those that cannot be encoded are refused.
import { expect, test } from 'vitest';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { HandlerTable } from '../../../model/handler-table.ts';
import { frameRing, FrameRingReader, FrameRingWriter } from '../../../host/shards/frame-ring.ts';
import type { ForwardedCall, FrameReader } from '../../../host/shards/frame.ts';
import { RingFrames } from '../../../host/shards/ring-frames.ts';
import { CounterGuest } from '../../support/counter-guest.ts';

const HANDLER_TABLE = new HandlerTable(new CounterGuest().descriptor);
const { component, handler: name } = HANDLER_TABLE.handlers[0]!;
const TRACE = ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'] as const;

function frames() {
  const shared = frameRing(2);
  const ring = new RingFrames(
    HANDLER_TABLE,
    new FrameRingWriter(shared),
    new FrameRingReader(shared),
  );
  const read = (): unknown[][] => {
    const found: unknown[][] = [];
    const reader: FrameReader = {
      call: (...all) => found.push(['call', ...all]),
      request: (...all) => found.push(['request', ...all]),
      cost: (...all) => found.push(['cost', ...all]),
      cancel: (...all) => found.push(['cancel', ...all]),
      taken: (...all) => found.push(['taken', ...all]),
      outcome: (...all) => found.push(['outcome', ...all]),
      failure: (...all) => found.push(['failure', ...all]),
    };
    expect(ring.read(reader)).toBe(found.length > 0);
    return found;
  };
  return { ring, read };
}

const CALLS: readonly ForwardedCall[] = [
  [{ component, id: 'a' }, name, '{"amount":1}', [], undefined],
  [{ component, id: 'größe' }, name, '', [TRACE, ['', '']], 'key'],
  [{ component, id: '' }, name, '\u0000ÿ', [TRACE], ''],
];
const REQUESTS: readonly EndpointRequest[] = [
  {
    route: 0,
    parameters: [],
    query: '',
    headers: [],
    caller: 'internet',
    body: { kind: 'none' },
    idempotencyKey: undefined,
  },
  {
    route: 3,
    parameters: ['a', '', 'ü'],
    query: 'x=1&y',
    headers: [['accept', '*/*'], TRACE],
    caller: 'service shop/carts',
    body: { kind: 'json', text: '{}' },
    idempotencyKey: 'k',
  },
  {
    route: 1,
    parameters: ['b'],
    query: '',
    headers: [],
    caller: 'local',
    body: { kind: 'text', text: '' },
    idempotencyKey: '',
  },
];
const RESPONSES: readonly EndpointResponse[] = [
  { kind: 'response', status: 200, headers: [], body: { kind: 'none' } },
  {
    kind: 'response',
    status: 404,
    headers: [
      ['a', 'b'],
      ['c', ''],
    ],
    body: { kind: 'json', text: '{"a":1}' },
  },
  { kind: 'response', status: 599, headers: [], body: { kind: 'text', text: 'é' } },
];

test('calls, replies, requests and responses come out as they went in, in their order', () => {
  const { ring, read } = frames();
  const cost = { fuel: 2 ** 40 + 12_345, wasMisrouted: true };
  for (const [number, call] of CALLS.entries()) expect(ring.writeCall(number, call)).toBe(true);
  expect(ring.writeReply(7, '{"value":1}')).toBe(true);
  for (const [number, request] of REQUESTS.entries())
    expect(ring.writeRequest(number, request, [TRACE])).toBe(true);
  for (const [number, response] of RESPONSES.entries())
    expect(ring.writeResponse(number, response, cost)).toBe(true);
  expect(ring.writeResponse(9, RESPONSES[0]!, { fuel: 4_000_000_000, wasMisrouted: false })).toBe(
    true,
  );
  expect(read()).toEqual([
    ...CALLS.map((call, number) => ['call', number, call]),
    ['outcome', 7, { kind: 'reply', json: '{"value":1}' }],
    ...REQUESTS.map((request, number) => ['request', number, request, [TRACE]]),
    ...RESPONSES.flatMap((response, number) => [
      ['cost', number, cost],
      ['outcome', number, response],
    ]),
    ['cost', 9, { fuel: 4_000_000_000, wasMisrouted: false }],
    ['outcome', 9, RESPONSES[0]],
  ]);
});

test('what is long, of characters of two bytes, of bytes, or of no known handler is refused, each time', () => {
  const { ring, read } = frames();
  const long = 'x'.repeat(5000);
  const bytes = { kind: 'bytes', bytes: Uint8Array.of(1) } as const;
  const cost = { fuel: 1, wasMisrouted: false };
  const call = (id: string, input: string, handler = name, of = component): ForwardedCall => [
    { component: of, id },
    handler,
    input,
    [],
    undefined,
  ];
  const refused = [
    ring.writeCall(0, call('a', long)),
    ring.writeCall(0, call('🛒', 'null')),
    ring.writeCall(0, call('a', '"Ā"')),
    ring.writeCall(0, call('a', 'null', 'unheard-of')),
    ring.writeCall(0, call('a', 'null', name, 'unheard-of')),
    ring.writeCall(0, [{ component, id: 'a' }, name, 'null', [['€', '']], undefined]),
    ring.writeCall(0, [{ component, id: 'a' }, name, 'null', [], '€']),
    ring.writeReply(0, long),
    ring.writeReply(0, '"€"'),
    ring.writeRequest(0, { ...REQUESTS[1]!, body: bytes }, []),
    ring.writeRequest(0, { ...REQUESTS[1]!, query: long }, []),
    ring.writeRequest(0, { ...REQUESTS[1]!, parameters: ['€'] }, []),
    ring.writeRequest(0, REQUESTS[1]!, [['a', long]]),
    ring.writeResponse(0, { ...RESPONSES[1]!, body: bytes }, cost),
    ring.writeResponse(0, { ...RESPONSES[1]!, headers: [['a', '€']] }, cost),
    ring.writeResponse(0, { ...RESPONSES[1]!, body: { kind: 'text', text: long } }, cost),
  ];
  expect(refused).not.toContain(true);
  expect(read()).toEqual([]);
  expect(ring.writeReply(1, 'null')).toBe(true);
  expect(read()).toEqual([['outcome', 1, { kind: 'reply', json: 'null' }]]);
});
