// Views and consumers of a descriptor, and the problems that a schema cannot find about them.
import { describe, expect, test } from 'vitest';
import {
  type Descriptor,
  problemsOf,
  record,
  ref,
  text,
  time,
  times,
  view,
} from './support/following-descriptor.ts';

const querying = (where: string) => (d: Descriptor) => (d.views[0]!.queries[0]!.where = where);

test('views, consumers and schedules that are right are accepted', () => {
  expect(problemsOf(() => {})).toEqual([]);
});

test('a view may leave out its definition, and compute its keys', () => {
  expect(
    problemsOf((d) => {
      Reflect.deleteProperty(d.views[0]!, 'definition');
      Object.assign(d.views[0]!, { computesKeys: true });
    }),
  ).toEqual([]);
});

test('a descriptor may be as large as the limits', () => {
  expect(
    problemsOf((d) => {
      const fields = times(9, (index) => `f${index}`);
      d.types['OrderRow'] = record(Object.fromEntries(fields.map((field) => [field, text])));
      d.types['OfCustomer'] = record({ f: text });
      d.views = times(64, (index) => ({
        ...view(),
        id: `v${index}`,
        indexes: times(8, (first) => fields.slice(first, first + 4)),
        queries: times(64, (number) => ({
          name: `q${number}`,
          where: 'f1 = :f',
          parameters: ref('OfCustomer'),
        })),
      }));
      d.consumers = times(64, (index) => ({ ...d.consumers[0]!, id: `c${index}` }));
      d.schedules = times(100, (index) => ({ ...d.schedules[0]!, id: `s${index}` }));
    }),
  ).toEqual([]);
});

describe('a descriptor is refused', () => {
  const lies: [string, (descriptor: Descriptor) => void, string][] = [
    [
      'with views in a module of svc:runtime 0.1.0',
      (d) => (d.protocol = '0.1.0'),
      'views and consumers need a newer svc:runtime than 0.1.0',
    ],
    ['without views in its list', (d) => (d.views = []), '/views: must have 1 to 64 items'],
    [
      'with 65 views',
      (d) => (d.views = times(65, (index) => ({ ...view(), id: `v${index}` }))),
      '/views: must have 1 to 64 items',
    ],
    [
      'with nine indexes',
      (d) => (d.views[0]!.indexes = times(9, () => ['customer'])),
      '/views/0/indexes: must have 0 to 8 items',
    ],
    [
      'with an index of five fields',
      (d) => (d.views[0]!.indexes = [['a', 'b', 'c', 'd', 'e']]),
      '/views/0/indexes/0: must have 1 to 4 items',
    ],
    [
      'with 65 queries',
      (d) =>
        (d.views[0]!.queries = times(65, (index) => ({
          ...view().queries[1]!,
          name: `q${index}`,
        }))),
      '/views/0/queries: must have 0 to 64 items',
    ],
    [
      'with 65 consumers',
      (d) => (d.consumers = times(65, (index) => ({ ...d.consumers[0]!, id: `c${index}` }))),
      '/consumers: must have 1 to 64 items',
    ],
    ['with an unknown member', (d) => Object.assign(d.views[0]!, { sql: 'x' }), '"sql"'],
    [
      'with a query of 1,001 characters',
      querying(' '.repeat(1001)),
      '/views/0/queries/0/where: must have at most 1000 characters',
    ],
    ['with a view id full of quotes', (d) => (d.views[0]!.id = `'"`), '/views/0/id: must match'],
    ['with a view id that is a path', (d) => (d.views[0]!.id = '../a'), '/views/0/id: must match'],
    [
      'with a control character in a consumer id',
      (d) => (d.consumers[0]!.id = 'a\u001b[2J'),
      '/consumers/0/id: must match',
    ],
    [
      'with a line break in a definition',
      (d) => (d.views[0]!.definition = 'a\nb'),
      '/views/0/definition: must match',
    ],
    [
      'with a definition of 101 characters',
      (d) => (d.views[0]!.definition = 'a'.repeat(101)),
      '/views/0/definition: must match',
    ],
    ['with two views of one id', (d) => d.views.push(view()), "view 'orders' is declared twice"],
    [
      "with a view id that is an entity's",
      (d) => (d.views[0]!.id = 'customer'),
      "view 'customer' has the id of an entity: give it another",
    ],
    [
      "with a consumer id that is an entity's",
      (d) => (d.consumers[0]!.id = 'order'),
      "consumer 'order' has the id of an entity: give it another",
    ],
    [
      "with a view id that is a consumer's",
      (d) => (d.consumers[0]!.id = 'orders'),
      "consumer 'orders' has the id of a view: give it another",
    ],
    [
      'with two consumers of one id',
      (d) => d.consumers.push(d.consumers[0]!),
      "consumer 'mailer' is declared twice",
    ],
    [
      'with an unknown source',
      (d) => (d.views[0]!.sources = ['ordre']),
      "view 'orders': the source 'ordre' is not an entity of the module. Did you mean 'order'?",
    ],
    [
      'with an unknown source of a consumer',
      (d) => (d.consumers[0]!.sources = ['nothing']),
      "consumer 'mailer': the source 'nothing' is not an entity of the module.",
    ],
    [
      'with a source twice',
      (d) => (d.consumers[0]!.sources = ['order', 'order']),
      "consumer 'mailer': the source 'order' is named twice",
    ],
    ['without a source', (d) => (d.views[0]!.sources = []), '/views/0/sources: must have 1 to'],
    [
      'with a consumer without a start',
      (d) => Reflect.deleteProperty(d.consumers[0]!, 'start'),
      "/consumers/0: must have 'start'",
    ],
    [
      'with a start of its own making',
      (d) => (d.consumers[0]!.start = 'yesterday'),
      '/consumers/0/start: is none',
    ],
    [
      'with a row that is a text',
      (d) => (d.views[0]!.row = text),
      "view 'orders': its row is not a record",
    ],
    [
      'with a row whose type is not there',
      (d) => (d.views[0]!.row = ref('Nothing')),
      "type 'Nothing' is referred to and not declared",
    ],
    [
      'with an index over an unknown field',
      (d) => d.views[0]!.indexes.push(['custmer']),
      `view 'orders': the index ["custmer"]: 'custmer' is not a field`,
    ],
    [
      'with an index over a list',
      (d) => d.views[0]!.indexes.push(['lines']),
      `the index ["lines"]: 'lines' is a list: only texts, booleans, numbers, times and durations`,
    ],
    [
      'with a field twice in an index',
      (d) => d.views[0]!.indexes.push(['customer', 'customer']),
      `the field 'customer' stands in it twice`,
    ],
    [
      'with a field of an index behind a chain of references',
      (d) => {
        for (const [index] of times(70, String).entries())
          d.types[`T${index}`] = index === 69 ? text : ref(`T${index + 1}`);
        d.types['OrderRow'] = record({
          customer: ref('T0'),
          placedAt: time,
          [`it's "quoted"`]: text,
        });
      },
      `'customer' has a type that is not declared, or one behind more than 64 references`,
    ],
    [
      'with an index twice',
      (d) => d.views[0]!.indexes.push(['customer', 'placedAt']),
      `the index ["customer","placedAt"] is declared twice`,
    ],
    [
      'with two queries of one name',
      (d) => (d.views[0]!.queries[1]!.name = 'of-customer'),
      "view 'orders': the query 'of-customer' is declared twice",
    ],
    [
      'with a query without an index',
      (d) => (d.views[0]!.indexes = []),
      `view 'orders': the query 'of-customer': no index of the view serves the query: declare the index ["customer", "placedAt"]`,
    ],
    [
      'with a query with two ranges',
      querying('customer > :customer and placedAt >= :since'),
      "the query 'of-customer', at character 26: there are two ranges",
    ],
    [
      'with a query that does not parse',
      querying('customer == :customer'),
      "at character 10: expected =, <, <=, >, >= or 'starts with'",
    ],
    [
      'with a parameter of another type',
      (d) => (d.types['OfCustomer'] = record({ customer: text, since: text })),
      "the parameter 'since' is a text, and the field 'placedAt' is a date-time",
    ],
    [
      'with parameters that are a list',
      (d) => (d.views[0]!.queries[1]!.parameters = { type: 'array', items: text }),
      "the query 'all': the parameters are not a record",
    ],
  ];
  test.each(lies)('%s', (_name, change, problem) => {
    expect(problemsOf(change).join('\n')).toContain(problem);
  });

  test('with ten problems at most', () => {
    expect(
      problemsOf((d) => {
        d.types['OrderRow'] = record({ other: text });
        d.views = times(64, (index) => ({ ...view(), id: `v${index}` }));
      }),
    ).toHaveLength(10);
  });
});

test('names full of quotes and JSON paths mean nothing but themselves', () => {
  const names = [
    '"',
    "'",
    `'; drop table row; --`,
    '$.a',
    '$."a"b"',
    'a.b',
    '[0]',
    '\\',
    '%',
    '#/types/OrderRow',
    'constructor',
  ];
  for (const name of names) {
    const written = `"${name.replaceAll('"', '""')}"`;
    const declare = (d: Descriptor) => {
      d.types['OrderRow'] = record({ [name]: text, other: text });
      d.types['OfCustomer'] = record({ [name]: text });
      d.views[0]!.indexes = [[name]];
      d.views[0]!.queries[0]!.where = `${written} = :${written}`;
    };
    expect(problemsOf(declare)).toEqual([]);
    const without = problemsOf((d) => {
      declare(d);
      d.views[0]!.indexes = [['other']];
    });
    expect(without).toEqual([
      `view 'orders': the query 'of-customer': no index of the view serves the query: declare the index [${JSON.stringify(name)}]`,
    ]);
  }
});
