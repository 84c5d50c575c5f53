// The address after '#': each screen has one, and the address leads back to the screen.
import type { TraceList } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import {
  entityView,
  hashOf,
  NO_FILTER,
  ofInstance,
  tracesView,
  viewOf,
  type View,
} from '../../../console/page/route.ts';
import { deliveriesView, filterOfId } from '../../../console/page/webhooks-route.ts';
import { newTraceCount, pageText, traceQuery } from '../../../console/page/view/trace-list.ts';
import { traceSummaries } from '../fake/traces.ts';

const instanceId = 'a1b2';
const VIEWS: readonly (readonly [string, View])[] = [
  ['#/', { screen: 'services' }],
  ['#/s/a1b2', { screen: 'overview', instanceId }],
  ['#/s/a1b2/routes', { screen: 'routes', instanceId, route: undefined }],
  [
    '#/s/a1b2/routes/POST/carts/{cartId}/items',
    { screen: 'routes', instanceId, route: { method: 'POST', path: '/carts/{cartId}/items' } },
  ],
  ['#/s/a1b2/routes/GET/', { screen: 'routes', instanceId, route: { method: 'GET', path: '/' } }],
  [
    '#/s/a1b2/routes/GET/a%20%3F%25',
    { screen: 'routes', instanceId, route: { method: 'GET', path: '/a ?%' } },
  ],
  [
    '#/s/a1b2/traces?component=cart&outcome=Failed%2CTimedOut&min=1.5&text=a+b',
    tracesView(instanceId, {
      component: 'cart',
      outcomes: ['Failed', 'TimedOut'],
      minMs: '1.5',
      text: 'a b',
    }),
  ],
  [
    '#/s/a1b2/traces?after=1795000000000.125%2Fab',
    tracesView(instanceId, NO_FILTER, '1795000000000.125/ab'),
  ],
  ['#/s/a1b2/traces/0af7', { screen: 'trace', instanceId, traceId: '0af7' }],
  ['#/s/a1b2/entities/cart/a%2Fb%3F?at=12', entityView(instanceId, 'cart', 'a/b?', 12)],
  [
    '#/s/a1b2/entities/cart/a?query=get',
    { ...entityView(instanceId, 'cart', 'a'), tab: 'now', query: 'get' } as View,
  ],
  ['#/s/a1b2/views', { screen: 'views', instanceId, view: undefined, query: undefined }],
  ['#/s/a1b2/views/a%2Fb/all', { screen: 'views', instanceId, view: 'a/b', query: 'all' }],
  ['#/s/a1b2/timers', { screen: 'timers', instanceId, state: undefined }],
  ['#/s/a1b2/timers?state=dead', { screen: 'timers', instanceId, state: 'dead' }],
  ['#/s/a1b2/consumers', { screen: 'consumers', instanceId, consumer: undefined }],
  ['#/s/a1b2/consumers/ledger', { screen: 'consumers', instanceId, consumer: 'ledger' }],
  ['#/s/a1b2/faults', { screen: 'faults', instanceId }],
  ['#/webhooks', { screen: 'webhooks' }],
  ['#/webhooks/new', { screen: 'subscription', id: undefined }],
  ['#/webhooks/subscriptions/wh_1', { screen: 'subscription', id: 'wh_1' }],
  ['#/webhooks/deliveries', deliveriesView()],
  [
    '#/webhooks/deliveries?outcome=pending&subscription=wh_1&after=a%2Fb',
    deliveriesView({ outcome: 'pending', subscription: 'wh_1' }, 'a/b'),
  ],
  ['#/webhooks/deliveries?dataset=a+b%26c', deliveriesView({ dataset: 'a b&c' })],
  ['#/webhooks/deliveries?eventId=evt_1', deliveriesView({ eventId: 'evt_1' })],
  ['#/webhooks/deliveries/dl_1_a', { screen: 'delivery', id: 'dl_1_a' }],
];

test.each(VIEWS)('%s leads to its screen and back', (hash, view) => {
  expect(viewOf(hash)).toEqual(view);
  expect(hashOf(view)).toBe(hash);
});

test.each([
  ['', 'services'],
  ['#/nowhere', 'services'],
  ['#/s/', 'services'],
  ['#/s/a/nowhere', 'overview'],
  ['#/s/%E0%A4%A/faults', 'faults'],
  ['#/webhooks/nowhere', 'webhooks'],
  ['#/webhooks/subscriptions/', 'webhooks'],
])('%j leads to %s', (hash, screen) => {
  expect(viewOf(hash).screen).toBe(screen);
});

test.each(['0', '-1', '1.5', 'x', '1e9', '99999999999999999999'])('at=%s is no event', (at) => {
  expect(viewOf(`#/s/a/entities/c/i?at=${at}`)).toMatchObject({ at: undefined });
});

test('filters that the log does not take together are left out of its address', () => {
  const hash = '#/webhooks/deliveries?outcome=pending&dataset=a&eventId=evt_1';
  expect(viewOf(hash)).toEqual(deliveriesView({ dataset: 'a' }));
  expect(viewOf('#/webhooks/deliveries?outcome=lost')).toEqual(deliveriesView());
});

test('an id that the user types is that of an event or of a dataset', () => {
  const eventId = `evt_${'a2'.repeat(13)}`;
  expect(filterOfId(` ${eventId} `)).toEqual({ eventId });
  expect(filterOfId('evt_1')).toEqual({ dataset: 'evt_1' });
});

test('webhooks stay as they are when a service is started again', () => {
  const view = deliveriesView({ dataset: 'a' });
  expect(ofInstance(view, 'new')).toBe(view);
});

test('a service that is started again is shown where its predecessor was', () => {
  expect(hashOf(ofInstance(entityView('old', 'cart', 'a', 3), 'new'))).toBe(
    '#/s/new/entities/cart/a?at=3',
  );
  // The traces of the new instance are all newer than those of its predecessor.
  const filter = { ...NO_FILTER, text: 'a' };
  expect(ofInstance(tracesView('old', filter, '1'), 'new')).toEqual(tracesView('new', filter));
});

const tracesText = (shown: number, newer: number, total: number) =>
  pageText({ traces: traceSummaries(shown, 600), newer, total } as TraceList);

describe('the filter of traces', () => {
  const filter = { component: '', outcomes: [] as string[], minMs: '', text: '' };

  test('asks the service for what it can choose', () => {
    const asked = {
      ...filter,
      component: 'c&d',
      outcomes: ['Failed', 'Ok'],
      minMs: '2.5',
      text: ' x y',
    };
    expect(traceQuery(asked, 100, 'n')).toBe(
      'limit=100&component=c%26d&outcome=Failed%2COk&min-duration-ms=2.5&text=x+y&after=n',
    );
    expect(traceQuery({ ...filter, minMs: 'soon' }, 5)).toBe('limit=5');
  });

  test.each([
    ['2,5', '2.5'],
    ['0.0004', undefined],
    ['1e9', '86400000'],
    ['-1', undefined],
  ])('slower than %s ms is asked as %s', (minMs, asked) => {
    const query = new URLSearchParams(traceQuery({ ...filter, minMs }, 5));
    expect(query.get('min-duration-ms') ?? undefined).toBe(asked);
  });

  test('asks for no longer text than the service takes', () => {
    const query = new URLSearchParams(traceQuery({ ...filter, text: 'x'.repeat(300) }, 5));
    expect(query.get('text')).toHaveLength(200);
  });

  test('says which of the traces are shown', () => {
    expect(tracesText(100, 0, 1401)).toBe('1–100 of 1,401 traces');
    expect(tracesText(1, 1400, 1401)).toBe('1,401–1,401 of 1,401 traces');
    expect(tracesText(12, 0, 12)).toBe('12 traces');
    expect(tracesText(0, 40, 40)).toBe('0 of 40 traces');
  });

  test('counts what came since', () => {
    const traces = traceSummaries(20, 600).slice(8);
    expect(newTraceCount(traces.slice(3), traces)).toBe(3);
  });
});
