// Which changes of the queries of a view an upgrade check reports.
import type { ModuleDescriptor } from '@svc/contract';
import { expect, test } from 'vitest';
import { viewDifferences } from '../../../host/history/view-difference.ts';

const text = { type: 'string' } as const;
const record = { properties: { customer: text, city: text }, required: [] as string[] };

/** A descriptor with a view that has one query. */
function descriptorWith(where: string): ModuleDescriptor {
  const row = { type: 'object', ...record } as const;
  const queries = [{ name: 'of', where, parameters: row }];
  return {
    protocol: '0.2.0',
    sdk: { name: 'test', version: '1' },
    types: {},
    entities: [],
    endpoints: [],
    views: [{ id: 'orders', sources: ['order'], row, indexes: [], queries }],
  };
}

const WHERE = 'customer = :customer and city = :city order by key';

test.each([
  ['another condition', 'customer = :customer and city >= :city order by key'],
  ['a condition less', 'customer = :customer order by key'],
  ['another parameter', 'customer = :city and city = :city order by key'],
  ['another order', 'customer = :customer and city = :city order by key desc'],
  ['no order', 'customer = :customer and city = :city'],
])('a query with %s is reported, with both texts', (_what, where) => {
  expect(viewDifferences(descriptorWith(WHERE), descriptorWith(where))).toMatchObject([
    {
      name: 'view-query-changed',
      component: 'orders',
      subject: 'of',
      message: expect.stringContaining(`it was '${WHERE}', and is '${where}'`),
    },
  ]);
});

test.each([
  ['as it is', WHERE],
  ['written in another way', 'city=:city  AND customer = :customer ORDER BY key asc'],
])('a query %s is not reported', (_what, where) => {
  expect(viewDifferences(descriptorWith(WHERE), descriptorWith(where))).toEqual([]);
});
