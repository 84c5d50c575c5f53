// The address after '#': each screen has one, and it leads back there.
import { describe, expect, test } from 'vitest';
import { entityView, hashOf, ofInstance, viewOf, type View } from '../../../console/page/route.ts';
import { fittingTraces, newTraceCount, traceQuery } from '../../../console/page/view/trace-list.ts';
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
    {
      screen: 'traces',
      instanceId,
      filter: { component: 'cart', outcomes: ['Failed', 'TimedOut'], minMs: '1.5', text: 'a b' },
    },
  ],
  ['#/s/a1b2/traces/0af7', { screen: 'trace', instanceId, traceId: '0af7' }],
  ['#/s/a1b2/entities/cart/a%2Fb%3F?at=12', entityView(instanceId, 'cart', 'a/b?', 12)],
  [
    '#/s/a1b2/entities/cart/a?query=get',
    { ...entityView(instanceId, 'cart', 'a'), tab: 'now', query: 'get' } as View,
  ],
  ['#/s/a1b2/faults', { screen: 'faults', instanceId }],
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
])('%j leads to %s', (hash, screen) => {
  expect(viewOf(hash).screen).toBe(screen);
});

test.each(['0', '-1', '1.5', 'x', '1e9', '99999999999999999999'])('at=%s is no event', (at) => {
  expect(viewOf(`#/s/a/entities/c/i?at=${at}`)).toMatchObject({ at: undefined });
});

test('a service that is started again is shown where its predecessor was', () => {
  expect(hashOf(ofInstance(entityView('old', 'cart', 'a', 3), 'new'))).toBe(
    '#/s/new/entities/cart/a?at=3',
  );
});

describe('the filter of traces', () => {
  const filter = { component: '', outcomes: [] as string[], minMs: '', text: '' };

  test('asks the service for what it can choose', () => {
    const asked = {
      ...filter,
      component: 'c&d',
      outcomes: ['Failed', 'Ok'],
      minMs: '2.5',
      text: 'x',
    };
    expect(traceQuery(asked, 100, 'n')).toBe(
      'limit=100&component=c%26d&outcome=Failed%2COk&min-duration-ms=2&after=n',
    );
    expect(traceQuery({ ...filter, minMs: 'soon' }, 5)).toBe('limit=5');
  });

  test('chooses the rest by itself', () => {
    const traces = traceSummaries(64, 600);
    const slow = fittingTraces(traces, { ...filter, minMs: '10.5' });
    expect(slow.length).toBeGreaterThan(0);
    expect(slow.every(({ durationMs }) => durationMs >= 10.5)).toBe(true);
    expect(slow.length).toBeLessThan(traces.length);
    const named = fittingTraces(traces, { ...filter, text: ' CART-8 ' });
    expect(named.length).toBeGreaterThan(0);
    expect(named.every(({ entityId }) => entityId === 'cart-8')).toBe(true);
    const said = fittingTraces(traces, { ...filter, text: 'quantity must not be 13' });
    expect(said.length).toBeGreaterThan(0);
    expect(said.every(({ outcome }) => outcome === 'Failed')).toBe(true);
  });

  test('counts what came since', () => {
    const traces = traceSummaries(20, 600).slice(8);
    expect(newTraceCount(traces.slice(3), traces)).toBe(3);
  });
});
