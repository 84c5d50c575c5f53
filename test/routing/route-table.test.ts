// The table of routes: what it may contain, and what follows from the difference between two.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EMPTY_TABLE,
  parseRouteTable,
  parseRouteUpdate,
  RouteIndex,
  type RoutedService,
  updateBetween,
  withUpdate,
} from '../../routing/route-table.ts';
import { routedService } from './routed-services.ts';

test('a hostname leads to its service, also if it is paused or no instance is ready', () => {
  const paused = routedService('shop/web', { state: 'paused', instances: [] });
  const index = new RouteIndex({ version: 1, services: [routedService('shop/cart'), paused] });
  expect(index.exposedAt('cart-shop.svc.test')?.key).toBe('shop/cart');
  expect(index.exposedAt('web-shop.svc.test')).toBe(paused);
  expect(index.exposedAt('CART-shop.svc.test')).toBeUndefined();
  expect(index.service('shop/web')).toBe(paused);
  expect(index.service('shop/none')).toBeUndefined();
});

describe('a table is refused', () => {
  const cart = routedService('shop/cart');
  const instance = cart.instances[0]!;
  const services: readonly [string, unknown][] = [
    ['that is none', 'cart'],
    ['with a service that has an unknown field', [{ ...cart, weight: 1 }]],
    ['with a service without a state', [{ ...cart, state: undefined }]],
    ['with the state of another version', [{ ...cart, state: 'draining' }]],
    ['with a key without a project', [{ ...cart, key: 'cart' }]],
    ['with a key that climbs', [{ ...cart, key: '../cart' }]],
    ['with an identity that is a URL', [{ ...cart, identity: 'https://svc.test' }]],
    ['with a hostname in upper case', [{ ...cart, hostnames: ['Cart.svc.test'] }]],
    ['with a hostname that has a port', [{ ...cart, hostnames: ['cart.svc.test:80'] }]],
    ['with an address that is a name', [{ ...cart, instances: [{ ...instance, address: 'db' }] }]],
    ['with port 0', [{ ...cart, instances: [{ ...instance, port: 0 }] }]],
    ['with a port that is a text', [{ ...cart, instances: [{ ...instance, port: '80' }] }]],
    ['with a key twice', [cart, { ...cart, hostnames: [] }]],
    ['with a hostname twice', [cart, { ...cart, key: 'shop/web' }]],
    ['with an instance twice', [{ ...cart, instances: [instance, instance] }]],
  ];
  test.each(services)('%s', (_what, list) => {
    expect(parseRouteTable({ version: 1, services: list })).toHaveProperty('problem');
    expect(parseRouteUpdate({ from: 0, version: 1, changed: list, removed: [] })).toHaveProperty(
      'problem',
    );
  });

  test.each([
    undefined,
    null,
    [],
    {},
    { version: -1, services: [] },
    { version: 1.5, services: [] },
  ])('that is %j', (value) => {
    expect(parseRouteTable(value)).toHaveProperty('problem');
  });
});

const tables = fc
  .uniqueArray(
    fc.record({ key: fc.integer({ min: 0, max: 9 }), instances: fc.integer({ min: 0, max: 2 }) }),
    { selector: ({ key }) => key },
  )
  .map((rows): readonly RoutedService[] =>
    rows.map(({ key, instances }) =>
      routedService(`shop/s${key}`, {
        instances: Array.from({ length: instances }, (_, index) => ({
          name: `i${index}`,
          address: '127.0.0.1',
          port: 9000 + index,
        })),
      }),
    ),
  );

function sorted(services: readonly RoutedService[]): readonly RoutedService[] {
  return services.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

test('the difference between two tables makes one the other, and names nothing that is the same', () => {
  fc.assert(
    fc.property(tables, tables, (first, second) => {
      const before = { version: 3, services: first };
      const after = { version: 4, services: second };
      const update = updateBetween(before, after);
      const parsed = parseRouteUpdate(JSON.parse(JSON.stringify(update)));
      const made = withUpdate(before, parsed as typeof update)!;
      expect(sorted(made.services)).toEqual(sorted(second));
      for (const changed of update.changed) expect(first).not.toContainEqual(changed);
    }),
  );
});

test('an update of another table, or one that gives a hostname to two services, changes nothing', () => {
  const cart = routedService('shop/cart');
  const table = { version: 1, services: [cart] };
  const update = { from: 1, version: 2, changed: [{ ...cart, key: 'shop/web' }], removed: [] };
  expect(withUpdate(EMPTY_TABLE, update)).toBeUndefined();
  expect(withUpdate(table, update)).toBeUndefined();
  expect(withUpdate(table, { ...update, removed: ['shop/cart'] })?.services).toHaveLength(1);
});
