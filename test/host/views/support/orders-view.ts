// The view of orders that tests of queries declare.
import type { ModuleDescriptor, ViewDescriptor } from '@svc/contract';
import type { ViewFinder } from '../../../../host/views/view-finder.ts';

export const text = { type: 'string' } as const;
export const VIEW: ViewDescriptor = {
  id: 'orders',
  sources: ['order'],
  row: {
    type: 'object',
    properties: { customer: text, total: { type: ['integer', 'string'], format: 'int64' } },
    required: ['customer'],
  },
  indexes: [['customer', 'total']],
  queries: [
    {
      name: 'of-customer',
      where: 'customer = :customer and total >= :least order by total desc',
      parameters: {
        type: 'object',
        properties: { customer: text, least: { type: ['integer', 'string'], format: 'int64' } },
        required: ['customer', 'least'],
        aliases: { customer: ['buyer'] },
      },
    },
    { name: 'all', where: '' },
  ],
};
export const DESCRIPTOR: Pick<ModuleDescriptor, 'entities' | 'types' | 'views'> = {
  types: {},
  views: [VIEW],
  entities: [
    {
      component: 'order',
      state: { manifest: 'order', schema: text },
      event: { manifest: 'order-event', schema: text },
      commands: [{ name: 'place', input: text, reply: text }],
      queries: [{ name: 'get', input: text, reply: text }],
    },
  ],
};
export const ENTITY = { component: 'order', id: 'o1' };

/** Finds all rows. */
export const all = (finder: ViewFinder, after?: string) =>
  finder.find({ view: 'orders', query: 'all', input: '{}', limit: 100, cursor: undefined }, after);
