import { describe, expect, test } from 'vitest';
import { parseModuleDescriptor } from '@svc/contract';

const text = { type: 'string' } as const;
const route = (method: string, path: string, ...parameters: string[]) => ({
  method,
  path,
  handler: 'handler',
  parameters: parameters.map((name) => ({ name, schema: text })),
});
const good = () => ({
  protocol: '0.1.0',
  sdk: { name: '@svc/guest-sdk', version: '0.1.0' },
  types: { State: { type: 'object', properties: { a: text }, required: ['a'] } } as Record<
    string,
    unknown
  >,
  entities: [
    {
      component: 'cart',
      state: { manifest: 'cart-state', schema: { $ref: '#/types/State' } },
      event: { manifest: 'cart-event', schema: { $ref: '#/types/State' } },
      commands: [{ name: 'add', input: text as object, reply: text }],
      queries: [{ name: 'get', reply: text }],
    },
  ],
  endpoints: [
    {
      name: 'Carts',
      prefix: '/carts',
      access: { allow: 'internet' } as object,
      routes: [route('GET', '/{id}', 'id')] as object[],
    },
  ],
});

const endpoint = (name: string, count: number) => ({
  ...good().endpoints[0]!,
  prefix: `/${name}`,
  routes: Array.from({ length: count }, (_, index) => route('GET', `/${index}`)),
});

const queryOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `q${index}`,
    schema: text,
    required: true,
  }));

const routeWith = (fields: object) => (descriptor: ReturnType<typeof good>) => {
  descriptor.endpoints[0]!.routes = [{ ...route('POST', '/'), ...fields }];
};

function problemsOf(change: (descriptor: ReturnType<typeof good>) => void): readonly string[] {
  const descriptor = good();
  change(descriptor);
  const result = parseModuleDescriptor(JSON.stringify(descriptor));
  return result.ok ? [] : result.problems;
}

const emptyRecord = { type: 'object', properties: {}, required: [] };

describe('a module descriptor', () => {
  test('that is right is accepted', () => {
    expect(problemsOf(() => {})).toEqual([]);
  });

  test('may have aliases of fields, also in a record whose fields are named as those of a record', () => {
    const inner = { type: 'object', properties: { b: text }, required: [], aliases: { b: ['c'] } };
    const names = ['aliases', 'properties', 'type'];
    const properties = Object.fromEntries(names.map((name) => [name, inner]));
    expect(
      problemsOf((d) => (d.types['State'] = { type: 'object', properties, required: [] })),
    ).toEqual([]);
  });

  test('that declares everything that a route may have is accepted', () => {
    const fields = {
      query: [...queryOf(63), { name: 'filter[é]', schema: { type: 'boolean' }, required: false }],
      body: { kind: 'json', schema: { anyOf: [text, { type: 'null' }] }, optional: true },
      reply: { kind: 'text' },
      answers: [201, 304, 599],
      summary: 'a'.repeat(200),
      description: 'a'.repeat(2000),
    };
    expect(problemsOf(routeWith(fields))).toEqual([]);
  });

  test.each(['', '{', 'null', '[]', '1', '"text"'])('that is %j is refused', (source) => {
    expect(parseModuleDescriptor(source).ok).toBe(false);
  });

  const attacks: [string, (descriptor: ReturnType<typeof good>) => void][] = [
    ['an unknown field', (d) => Object.assign(d, { extra: 1 })],
    ['a component id with a terminal escape', (d) => (d.entities[0]!.component = 'a\u001b[2J')],
    ['a component id with a slash', (d) => (d.entities[0]!.component = '../a')],
    ['a wire name with a quote', (d) => (d.entities[0]!.commands[0]!.name = "a'b")],
    ['a component declared twice', (d) => d.entities.push(good().entities[0]!)],
    ['a command and a query of one name', (d) => (d.entities[0]!.queries[0]!.name = 'add')],
    [
      'a template whose parameter is not declared',
      (d) => (d.endpoints[0]!.routes = [route('GET', '/{id}')]),
    ],
    [
      'a declared parameter that the template lacks',
      (d) => (d.endpoints[0]!.routes = [route('GET', '/', 'id')]),
    ],
    [
      'parameters in another order',
      (d) => (d.endpoints[0]!.routes = [route('GET', '/{a}/{b}', 'b', 'a')]),
    ],
    ['no query parameter, in a list', routeWith({ query: [] })],
    ['more query parameters than a route may have', routeWith({ query: queryOf(65) })],
    ['a query parameter twice', routeWith({ query: [...queryOf(1), ...queryOf(1)] })],
    ['a query parameter without a name', routeWith({ query: [{ ...queryOf(1)[0], name: '' }] })],
    [
      'a query parameter with a terminal escape',
      routeWith({ query: [{ ...queryOf(1)[0], name: 'a\u001b[2J' }] }),
    ],
    [
      'a query parameter of a type that is not there',
      routeWith({ query: [{ ...queryOf(1)[0], schema: { $ref: '#/types/Nothing' } }] }),
    ],
    ['an interim status as an answer', routeWith({ answers: [103] })],
    ['an answer that is no status', routeWith({ answers: [600] })],
    ['an answer that is no integer', routeWith({ answers: [200.5] })],
    ['an answer twice', routeWith({ answers: [201, 201] })],
    ['an empty summary', routeWith({ summary: '' })],
    ['a summary without end', routeWith({ summary: 'a'.repeat(201) })],
    ['a description without end', routeWith({ description: 'a'.repeat(2001) })],
    ['an optional reply', routeWith({ reply: { kind: 'text', optional: true } })],
    ['a body that is optional or not', routeWith({ body: { kind: 'text', optional: false } })],
    ['a method that no route may have', (d) => (d.endpoints[0]!.routes = [route('TRACE', '/')])],
    ['a path with a space', (d) => (d.endpoints[0]!.routes = [route('GET', '/a b')])],
    ['a path with a line break', (d) => (d.endpoints[0]!.routes = [route('GET', '/a\r\nb')])],
    ['a path without a slash', (d) => (d.endpoints[0]!.routes = [route('GET', 'a')])],
    ['an access rule of its own making', (d) => (d.endpoints[0]!.access = { allow: 'everyone' })],
    ['no access rule', (d) => Reflect.deleteProperty(d.endpoints[0]!, 'access')],
    ['a schema with a pattern', (d) => (d.types['State'] = { type: 'string', pattern: '(a+)+$' })],
    [
      'a schema with a foreign reference',
      (d) => (d.types['State'] = { $ref: 'https://example.com/schema' }),
    ],
    [
      'a reference to a type that is not declared',
      (d) => (d.types['State'] = { $ref: '#/types/Other' }),
    ],
    [
      'a reference to a prototype member',
      (d) => (d.types['State'] = { $ref: '#/types/constructor' }),
    ],
    ...['a', 'b', 'old'].map((alias): (typeof attacks)[number] => [
      `an alias that is taken: ${alias}`,
      (d) =>
        (d.types['State'] = {
          type: 'object',
          properties: { a: text, b: text },
          required: [],
          aliases: { a: ['old'], b: [alias] },
        }),
    ]),
    [
      'a field that is required twice',
      (d) => (d.types['State'] = { ...emptyRecord, required: ['a', 'a'] }),
    ],
    [
      'an alias of a property that is not there',
      (d) => (d.types['State'] = { ...emptyRecord, aliases: { a: ['old'] } }),
    ],
    [
      'an alias with a line break',
      (d) =>
        (d.types['State'] = { ...emptyRecord, properties: { a: text }, aliases: { a: ['\n'] } }),
    ],
    ['a condition', (d) => (d.types['State'] = { if: text, else: text })],
    [
      'a field whose name holds a line break',
      (d) => (d.types['State'] = { type: 'object', properties: { 'a\nb': text }, required: [] }),
    ],
    [
      'a half of a surrogate pair in a value',
      (d) => (d.types['State'] = { type: 'string', enum: ['a\ud800'] }),
    ],
    [
      'a half of a surrogate pair in a name',
      (d) => (d.types['State'] = { type: 'object', properties: { 'a\udc00': text }, required: [] }),
    ],
    ['a type that is nothing but itself', (d) => (d.types['State'] = { $ref: '#/types/State' })],
    [
      'types that are nothing but each other',
      (d) => {
        d.types['State'] = { $ref: '#/types/Other' };
        d.types['Other'] = { $ref: '#/types/State' };
      },
    ],
    [
      'two routes that take the same requests',
      (d) => (d.endpoints[0]!.routes = [route('GET', '/{a}', 'a'), route('GET', '/{b}', 'b')]),
    ],
    ['a path that no request can have', (d) => (d.endpoints[0]!.routes = [route('GET', '/..')])],
    [
      'a schema of what is no JSON',
      (d) =>
        (d.endpoints[0]!.routes = [
          { ...route('POST', '/'), body: { kind: 'text', schema: text } },
        ]),
    ],
    ['a protocol that is no version', (d) => (d.protocol = 'latest')],
  ];
  test.each(attacks)('with %s is refused', (_name, change) => {
    expect(problemsOf(change)).not.toEqual([]);
  });

  test('that nests without end is refused, and no stack is exhausted', () => {
    const nested = '{"type":"array","items":'.repeat(30_000) + 'null' + '}'.repeat(30_000);
    const source = JSON.stringify(good()).replace(JSON.stringify(good().types['State']), nested);
    expect(parseModuleDescriptor(source)).toEqual({
      ok: false,
      problems: ['it nests deeper than 64 levels'],
    });
  });

  test('a problem names its place', () => {
    expect(problemsOf((d) => (d.endpoints[0]!.access = {}))[0]).toContain('/endpoints/0/access');
  });

  test('types may refer to each other in a circle', () => {
    expect(
      problemsOf((d) => {
        d.types['State'] = {
          type: 'object',
          properties: { next: { anyOf: [{ $ref: '#/types/State' }, { type: 'null' }] } },
          required: [],
        };
      }),
    ).toEqual([]);
  });

  test.each(['"types":{', '"properties":{'])('uses the name __proto__ nowhere: %s', (place) => {
    const source = JSON.stringify(good()).replace(place, `${place}"__proto__":{"type":"string"},`);
    expect(parseModuleDescriptor(source)).toEqual({
      ok: false,
      problems: ["it uses the name '__proto__'"],
    });
    expect(({} as { type?: string }).type).toBeUndefined();
  });

  test('has a thousand routes at most, in all its endpoints together', () => {
    const endpoints = [endpoint('a', 600), endpoint('b', 400)];
    expect(problemsOf((d) => (d.endpoints = endpoints))).toEqual([]);
    expect(problemsOf((d) => (d.endpoints = [...endpoints, endpoint('c', 1)]))).toEqual([
      'it has more than 1000 routes',
    ]);
  });

  test('may lead from one type to another by names alone', () => {
    expect(
      problemsOf((d) => {
        d.types['State'] = { $ref: '#/types/Other' };
        d.types['Other'] = { $ref: '#/types/Last' };
        d.types['Last'] = { type: 'object', properties: { a: text }, required: ['a'] };
      }),
    ).toEqual([]);
  });
});
