// A descriptor with a view, a consumer and two schedules, without fault. Tests change the parts that they are about.
import { parseModuleDescriptor } from '@svc/contract';

export const text = { type: 'string' } as const;
export const ref = (name: string) => ({ $ref: `#/types/${name}` });
const entity = (component: string) => ({
  component,
  state: { manifest: 'state', schema: { type: 'null' } },
  event: { manifest: 'event', schema: { type: 'null' } },
  commands: [
    { name: 'expire', reply: { type: 'null' } },
    { name: 'add', input: ref('Line'), reply: { type: 'null' } },
    { name: 'note', input: ref('Note'), reply: { type: 'null' } },
  ],
  queries: [{ name: 'get', reply: text }],
});
export const view = () => ({
  id: 'orders',
  sources: ['order'],
  row: ref('OrderRow') as object,
  definition: 'v1' as unknown,
  indexes: [['customer', 'placedAt'], ['it\'s "quoted"']],
  queries: [
    {
      name: 'of-customer',
      where: 'customer = :customer and placedAt >= :since order by placedAt desc',
      parameters: ref('OfCustomer') as object | undefined,
    },
    { name: 'all', where: '', parameters: undefined as object | undefined },
  ],
});
export const record = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
export const time = { type: 'string', format: 'date-time' };
const good = () => ({
  protocol: '0.2.0',
  sdk: { name: 'sdk', version: '1.0.0' },
  types: {
    OrderRow: record({
      customer: text,
      placedAt: time,
      'it\'s "quoted"': text,
      lines: { type: 'array', items: text },
    }),
    OfCustomer: record({ customer: text, since: time }),
    Line: {
      ...record({ sku: text, count: { type: 'integer', minimum: 1, maximum: 9 } }),
      aliases: { sku: ['article'] },
    },
    Note: {
      oneOf: [ref('Plain'), ref('Tree')],
      discriminator: { propertyName: 'type' },
    },
    Plain: record({ type: { const: 'plain' }, text, at: time }, ['type', 'text']),
    Tree: record({
      type: { const: 'tree' },
      children: { type: 'array', items: ref('Note') },
      labels: { type: 'object', additionalProperties: { anyOf: [text, { type: 'null' }] } },
    }),
  } as Record<string, object>,
  entities: [entity('order'), entity('customer')],
  endpoints: [],
  views: [view()],
  consumers: [{ id: 'mailer', sources: ['order', 'customer'], start: 'now' }],
  schedules: [
    {
      id: 'nightly',
      target: { component: 'order', id: 'all orders' },
      command: 'expire',
      due: { kind: 'cron', expression: '0 2 * * *', zone: 'Europe/Berlin' } as object,
    },
    {
      id: 'often',
      target: { component: 'order', id: 'o' },
      command: 'add',
      input: '{"article":"a","count":2,"of":"an older version"}',
      due: { kind: 'every', everyMs: 1000 } as object,
    },
  ],
});

export type Descriptor = ReturnType<typeof good>;

/** Problems of the good descriptor after a change; none if a host accepts it. */
export function problemsOf(change: (descriptor: Descriptor) => void): readonly string[] {
  const descriptor = good();
  change(descriptor);
  const result = parseModuleDescriptor(JSON.stringify(descriptor));
  return result.ok ? [] : result.problems;
}

export const times = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index));
