// FakeTraces: traces, faults and live numbers as a service would send them.
import type {
  FaultList,
  LiveNumbers,
  Outcome,
  Span,
  SpanFault,
  TraceDetail,
  TraceSummary,
} from '@svc/contract';
import { FAILED_TRACE, TRACE } from './description.ts';

const at = (agoMs: number) => new Date(Date.now() - agoMs).toISOString();
const hex = (number: number, length: number) => number.toString(16).padStart(length, '0');

export const TRAP: SpanFault = {
  code: 'trap',
  limit: null,
  reason: 'the module trapped while addItem ran: unreachable',
  guestMessage: "abort: quantity must not be 13: 'A-13' at assembly/cart.ts:31:5",
  places: [
    { file: 'assembly/cart.ts', line: 31, column: 5, function: 'ShoppingCart#addItem' },
    { file: 'assembly/cart.ts', line: 12, column: null, function: null },
    { file: '~lib/array.ts', line: 114, column: 42, function: 'Array<Item>#push' },
  ],
  errorId: '5f1c2a90',
};
const FUEL: SpanFault = {
  code: 'fuel',
  limit: 'svc.wasm.command-fuel = 400,000,000',
  reason: 'used up command-fuel while checkout ran',
  guestMessage: null,
  places: [],
  errorId: '77aa01',
};
const REFUSAL: SpanFault = {
  code: 'CONFLICT',
  limit: null,
  reason: 'this cart is checked out already \u001b[31m<img src=x onerror=alert(1)>\u202e',
  guestMessage: null,
  places: [],
  errorId: null,
};

let spans = 0;
function span(name: string, offsetMs: number, durationMs: number, more: Partial<Span> = {}): Span {
  const [component, handler] = name.split('.') as [string, string];
  return {
    spanId: hex(++spans, 16),
    parentId: null,
    kind: component.endsWith('Endpoint') ? 'endpoint' : 'command',
    component,
    handler,
    entityId: component.endsWith('Endpoint') ? null : 'cart-7',
    startedAt: at(60_000 - offsetMs),
    offsetMs,
    durationMs,
    outcome: 'Ok',
    fuel: 18_223,
    events: component.endsWith('Endpoint') ? 0 : 1,
    status: component.endsWith('Endpoint') ? 200 : null,
    shard: 0,
    fault: null,
    children: [],
    ...more,
  };
}

export const DETAILS: ReadonlyMap<string, TraceDetail> = new Map([
  [
    TRACE,
    {
      traceId: TRACE,
      startedAt: at(60_000),
      durationMs: 12.41,
      roots: [
        span('OrderEndpoint.place', 0, 12.41, {
          children: [
            span('shopping-cart.getCart', 0.4, 1.2, { kind: 'query', events: 0, shard: 1 }),
            span('shopping-cart.checkout', 2.1, 7.9, {
              children: [
                span('customer.addPoints', 3.2, 0.0213, { entityId: 'ada' }),
                span('customer.aVeryLongNameOfACommandThatHasToFitSomehow', 4.1, 3.3, {
                  entityId: 'an-id-that-is-long-'.repeat(6),
                  outcome: 'Refused',
                  fault: REFUSAL,
                }),
              ],
            }),
            span('shopping-cart.removeItem', 10.6, 1.1),
          ],
        }),
      ],
      moreSpans: 9000,
      remoteParent: '00f067aa0ba902b7',
      silentShards: [],
    },
  ],
  [
    FAILED_TRACE,
    {
      traceId: FAILED_TRACE,
      startedAt: at(30_000),
      durationMs: 3.2,
      roots: [
        span('CartEndpoint.addItem', 0, 3.2, {
          outcome: 'Failed',
          status: 500,
          fault: { ...TRAP, code: 'SVC_GUEST_FAULT', places: [], guestMessage: null },
          children: [
            span('shopping-cart.addItem', 0.9, 1.8, { outcome: 'Failed', events: 0, fault: TRAP }),
          ],
        }),
      ],
      moreSpans: 0,
      remoteParent: null,
      silentShards: [1],
    },
  ],
]);

const OUTCOMES: Outcome[] = ['Ok', 'Ok', 'Ok', 'Refused', 'Ok', 'Failed', 'Ok', 'TimedOut'];
const STATUS = { Ok: 200, Refused: 409, Failed: 500, TimedOut: 504 };
const ERRORS = {
  Ok: null,
  Refused: REFUSAL.reason,
  Failed: TRAP.reason,
  TimedOut: FUEL.reason,
};

export function traceSummaries(count: number, newest: number): TraceSummary[] {
  return Array.from({ length: count }, (_, index) => {
    const number = newest - index;
    const outcome = OUTCOMES[number % OUTCOMES.length]!;
    const known = number % 8 === 5 ? FAILED_TRACE : TRACE;
    return {
      traceId:
        index < 8 && outcome !== 'Refused' ? known.slice(0, 31) + hex(index, 1) : hex(number, 32),
      kind: 'endpoint',
      component: 'CartEndpoint',
      handler: 'addItem',
      name: number % 3 === 0 ? 'GET /carts/{cartId}' : 'POST /carts/{cartId}/items',
      entityId: number % 3 === 0 ? null : `cart-${number % 40}`,
      startedAt: at(index * 431),
      durationMs: (((number * 7919) % 997) / 97) ** 2 + 0.087,
      outcome,
      status: STATUS[outcome],
      spans: 2 + (number % 5),
      failed: outcome === 'Failed' ? 1 : 0,
      error: ERRORS[outcome],
      guestMessage: outcome === 'Failed' ? TRAP.guestMessage : null,
    };
  });
}

export function faultList(limit: number): FaultList {
  const faults = Array.from({ length: 14 }, (_, index) => ({
    at: at(4000 + index * 9000),
    traceId: FAILED_TRACE,
    component: index % 3 === 0 ? 'shopping-cart' : 'customer',
    handler: index % 3 === 0 ? 'addItem' : 'rename',
    entityId: `cart-${index}`,
    outcome: index % 4 === 3 ? ('TimedOut' as const) : ('Failed' as const),
    fault: index % 4 === 3 ? FUEL : TRAP,
  }));
  return { faults: faults.slice(0, limit), silentShards: [] };
}

export function liveNumbers(isBusy: boolean): LiveNumbers {
  const now = Math.floor(Date.now() / 1000);
  const seconds = Array.from({ length: 120 }, (_, index) => {
    const second = now - 119 + index;
    const wave = Math.abs(Math.sin(second / 9)) + ((second * 7919) % 13) / 26;
    const requests = isBusy && (index < 40 || index > 48) ? Math.round(wave * 210) : 0;
    const ms = 0.6 + wave * 2;
    return {
      at: new Date(second * 1000).toISOString(),
      requests,
      ok: Math.round(requests * 0.96),
      refused: Math.round(requests * 0.03),
      failed: second % 11 === 0 && requests > 0 ? 3 : 0,
      timedOut: 0,
      p50Ms: requests === 0 ? null : ms,
      p95Ms: requests === 0 ? null : ms * 3,
      p99Ms: requests === 0 ? null : ms * (second % 17 === 0 ? 90 : 7),
    };
  });
  const totals = {
    svc_entities_in_memory: 1240,
    svc_journal_events_total: 89_412,
    svc_journal_bytes: 23_412_992,
    svc_shards_listening: 2,
    svc_recorder_spans_recorded_total: 301_223,
    'svc_guest_faults_total{cause="trap"}': 5,
    'svc_guest_limit_met_total{limit="command-fuel"}': 2,
  };
  return { at: new Date().toISOString(), seconds, totals: isBusy ? totals : {} };
}
