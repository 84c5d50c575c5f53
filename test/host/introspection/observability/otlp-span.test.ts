// OtlpSpan: a recorded span in OpenTelemetry's form: names, ids, parents, kinds, status and attributes.
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { readableSpans } from '../../../../host/introspection/observability/otlp-span.ts';
import type { RecordedSpan } from '../../../../host/shards/recorder/recorded-span.ts';

const readable = readableSpans({
  service: 'shop',
  instanceId: 'i-1',
  runtimeVersion: '1.2.3',
  routes: [
    { endpoint: 'CartEndpoint', handler: 'add', method: 'POST', path: '/carts/{cartId}/items' },
  ],
});
const COMMAND: RecordedSpan = {
  number: 7,
  shard: 1,
  kind: 'command',
  component: 'shopping-cart',
  handler: 'add-item',
  entityId: 'cart-1',
  traceId: '0123456789abcdef0123456789abcdef',
  spanId: '00000000000000a2',
  parentId: '00000000000000a1',
  traceState: undefined,
  isSampled: true,
  startMs: 1_700_000_000_123.25,
  durationMs: 2.5,
  outcome: 'Ok',
  fuel: 1234,
  events: 2,
  status: undefined,
  fault: undefined,
};
const REQUEST: RecordedSpan = {
  ...COMMAND,
  kind: 'endpoint',
  component: 'CartEndpoint',
  handler: 'add',
  entityId: undefined,
  events: 0,
  status: 200,
};
const FAULT = {
  code: 'trap',
  limit: undefined,
  reason: 'The module trapped.',
  guestMessage: 'abort: boom at assembly/index.ts:3:5',
  frames: undefined,
  errorId: '0011223344556677',
};

test('a command is an internal span below its caller, named by component and handler', () => {
  const span = readable(COMMAND);
  expect(span).toMatchObject({
    name: 'shopping-cart.add-item',
    kind: SpanKind.INTERNAL,
    parentSpanContext: { spanId: '00000000000000a1', isRemote: false },
    startTime: [1_700_000_000, 123_250_000],
    endTime: [1_700_000_000, 125_750_000],
    duration: [0, 2_500_000],
    status: { code: SpanStatusCode.UNSET },
    instrumentationScope: { name: 'svc', version: '1.2.3' },
    events: [],
  });
  expect(span.spanContext()).toMatchObject({
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: '00000000000000a2',
    traceFlags: 1,
  });
  expect(span.attributes).toEqual({
    'svc.kind': 'command',
    'svc.component': 'shopping-cart',
    'svc.handler': 'add-item',
    'svc.entity.id': 'cart-1',
    'svc.outcome': 'Ok',
    'svc.fuel': 1234,
    'svc.events': 2,
    'svc.shard': 1,
  });
  expect(span.resource.attributes).toEqual({
    'service.name': 'shop',
    'service.instance.id': 'i-1',
  });
});

test('a tracestate is the span’s own', () => {
  const { spanContext } = readable({ ...COMMAND, traceState: 'a=1,b=2' });
  expect(spanContext().traceState?.serialize()).toBe('a=1,b=2');
  expect(readable(COMMAND).spanContext()).not.toHaveProperty('traceState');
});

test('a request is a server span, named by method and route, whose parent is elsewhere', () => {
  const span = readable(REQUEST);
  expect(span).toMatchObject({
    name: 'POST /carts/{cartId}/items',
    kind: SpanKind.SERVER,
    parentSpanContext: { isRemote: true },
  });
  expect(span.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/carts/{cartId}/items',
    'http.response.status_code': 200,
  });
  expect(span.attributes).not.toHaveProperty('svc.entity.id');
  // A response that reached no client has no status, and the first span of a trace has no parent.
  const alone = readable({ ...REQUEST, status: 0, parentId: undefined });
  expect(alone.attributes).not.toHaveProperty('http.response.status_code');
  expect(alone).not.toHaveProperty('parentSpanContext');
});

test('what has failed or was late has the status of an error, and an exception that says why', () => {
  for (const outcome of ['Failed', 'TimedOut'] as const) {
    const span = readable({ ...REQUEST, status: 500, outcome, fault: FAULT });
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: 'The module trapped.' });
    expect(span.attributes).toMatchObject({
      'svc.outcome': outcome,
      'error.type': 'trap',
      'svc.error.id': '0011223344556677',
    });
    expect(span.events).toMatchObject([
      {
        name: 'exception',
        time: span.endTime,
        attributes: {
          'exception.type': 'trap',
          'exception.message': 'The module trapped.\nabort: boom at assembly/index.ts:3:5',
        },
      },
    ]);
  }
  const late = readable({
    ...COMMAND,
    outcome: 'TimedOut',
    fault: { ...FAULT, limit: 'command-fuel' },
  });
  expect(late.attributes).toMatchObject({ 'svc.limit': 'command-fuel' });
  // A handler that answers 500 itself has no fault.
  const own = readable({ ...REQUEST, status: 500, outcome: 'Failed' });
  expect(own.attributes).toMatchObject({ 'error.type': '500' });
  expect([own.status, own.events]).toEqual([{ code: SpanStatusCode.ERROR, message: 'Failed' }, []]);
});

test('what a handler refuses on purpose is no error', () => {
  const fault = { ...FAULT, code: 'CONFLICT', reason: 'It is checked out.' };
  const span = readable({ ...COMMAND, outcome: 'Refused', fault });
  expect([span.status, span.events]).toEqual([{ code: SpanStatusCode.UNSET }, []]);
  expect(span.attributes).toMatchObject({
    'svc.refusal.code': 'CONFLICT',
    'svc.refusal.message': 'It is checked out.',
  });
  expect(span.attributes).not.toHaveProperty('error.type');
});

test.each([
  ['firing', SpanKind.INTERNAL],
  ['consumer', SpanKind.CONSUMER],
] as const)('a %s has a kind of its own', (kind, expected) => {
  expect(readable({ ...COMMAND, kind })).toMatchObject({
    name: 'shopping-cart.add-item',
    kind: expected,
    attributes: { 'svc.kind': kind },
  });
});
