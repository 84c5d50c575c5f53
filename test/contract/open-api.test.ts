// The OpenAPI document of a module: it follows the specification, has no dangling reference, and matches the
// descriptor.
import { describe, expect, test } from 'vitest';
import { type ModuleDescriptor, openApi } from '@svc/contract';
import { compileExample, compileFixture } from '../support/compile-fixture.ts';
import { descriptorText } from '../support/descriptor-text.ts';
import { describing, parsed, problemsOf } from '../support/open-api-document.ts';

const INFO = { title: 'cart', version: '1' };
const FIXTURES = [
  'codec',
  'counter',
  'declared-answers',
  'evolving-after',
  'faulty',
  'first-component',
  'notes',
  'order',
  'query-parameters',
  'restaurant-bill',
  'routes',
  'shopping-cart',
  'user-directory',
];
const EXAMPLES = ['01-hello', '03-room-booking', '04-bank-transfer', '05-to-do-list', '07-library'];

type Route = ModuleDescriptor['endpoints'][number]['routes'][number];
const serving = (...routes: readonly Partial<Route>[]) => ({
  endpoints: [
    {
      name: 'Carts',
      prefix: '/carts',
      access: { allow: 'internet' as const },
      routes: routes.map((route) => ({
        method: 'GET' as const,
        path: '',
        handler: 'get',
        parameters: [],
        ...route,
      })),
    },
  ],
});

/** Returns a route for each of the types, which replies with it. */
const answering = (...types: readonly string[]) =>
  serving(
    ...types.map((name, index) => ({
      path: `/${index}`,
      reply: { kind: 'json' as const, schema: { $ref: `#/types/${name}` } },
    })),
  );

const LOCAL = { allow: 'local' as const };
const parameter = (name: string) => [{ name, schema: { type: 'string' as const } }];
const tagged = (tag: string) => ({
  type: 'object' as const,
  properties: { type: { const: tag } },
  required: ['type'],
});

describe('OpenAPI 3.1 keeps to its schema', () => {
  test.each([
    ...FIXTURES.map((name) => ['fixture', name, compileFixture] as const),
    ...EXAMPLES.map((name) => ['example', name, compileExample] as const),
  ])('%s %s', async (_what, name, compile) => {
    const descriptor = parsed(descriptorText(await compile(name)));
    const document = openApi(descriptor, { ...INFO, url: 'http://127.0.0.1:9000' });
    expect(problemsOf(document)).toEqual([]);
    const operations = Object.values(document['paths'] as object).flatMap((path) =>
      Object.keys(path as object),
    );
    expect(operations.length).toBe(descriptor.endpoints.flatMap(({ routes }) => routes).length);
  });

  test('and what does not is found', () => {
    const document = openApi(describing(serving({})), INFO);
    expect(problemsOf({ ...document, openapi: '3.0.3' })).not.toEqual([]);
    expect(problemsOf({ ...document, info: { title: 'cart' } })).not.toEqual([]);
    expect(problemsOf({ ...document, components: { schemas: {}, responses: {} } })).not.toEqual([]);
  });
});

describe('an operation', () => {
  test('has its parameters, its body, its answer and who may call', () => {
    const document = openApi(
      describing({
        types: { Item: { type: 'object', properties: { sku: { type: 'string' } }, required: [] } },
        ...serving({
          method: 'POST',
          path: '/{id}/items',
          handler: 'addItem',
          parameters: [{ name: 'id', schema: { type: 'string' } }],
          body: { kind: 'json', schema: { $ref: '#/types/Item' } },
          access: { allow: 'services', services: ['shop'] },
        }),
      }),
      INFO,
    );
    const path = (document['paths'] as Record<string, { post: object }>)['/carts/{id}/items']!;
    expect(path.post).toMatchObject({
      operationId: 'Carts_addItem',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'Idempotency-Key', in: 'header', required: false },
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } },
      },
      responses: { 204: {}, 400: {}, 413: {}, 415: {}, 504: {} },
      'x-svc-access': { allow: 'services', services: ['shop'] },
    });
    expect(path.post).not.toHaveProperty('responses.200');
  });

  test('says what it declares of CORS, where the internet may call it', () => {
    const cors = { origins: ['https://shop.example.com'], credentials: false };
    const routes = serving({}, { path: '/own', cors: {} }, { path: '/local', access: LOCAL });
    const [carts] = routes.endpoints;
    const document = openApi(describing({ endpoints: [{ ...carts!, cors }] }), INFO);
    expect(document['paths']).toMatchObject({
      '/carts': { get: { 'x-svc-cors': cors } },
      '/carts/own': { get: { 'x-svc-cors': {} } },
    });
    expect(document['paths']).not.toHaveProperty(['/carts/local', 'get', 'x-svc-cors']);
    expect(JSON.stringify(openApi(describing(serving({})), INFO))).not.toContain('cors');
  });

  test('that reads has no key for repeats, and text and bytes are content of their own', () => {
    const document = openApi(
      describing(serving({ reply: { kind: 'text' } }, { path: '/raw', reply: { kind: 'bytes' } })),
      INFO,
    );
    expect(document['paths']).toMatchObject({
      '/carts': { get: { responses: { 200: { content: { 'text/plain': {} } } } } },
      '/carts/raw': {
        get: { responses: { 200: { content: { 'application/octet-stream': {} } } } },
      },
    });
    expect(JSON.stringify(document)).not.toContain('Idempotency-Key');
  });

  test('has its statuses, with the content of each, and what the runtime answers beside them', () => {
    const json = { kind: 'json' as const, schema: { type: 'boolean' as const } };
    const document = openApi(
      describing(
        serving(
          { reply: json, answers: [201, 304, 409] },
          { path: '/text', reply: { kind: 'text' }, answers: [200, 422] },
          { path: '/moved', answers: [303, 404] },
          { path: '/done', method: 'DELETE' },
        ),
      ),
      INFO,
    );
    expect(problemsOf(document)).toEqual([]);
    const error = { $ref: '#/components/schemas/Error' };
    const responses = (path: string, method = 'get') =>
      (document['paths'] as Record<string, Record<string, { responses: object }>>)[path]![method]!
        .responses;
    expect(responses('/carts')).toMatchObject({
      201: { description: 'Created', content: { 'application/json': { schema: json.schema } } },
      304: { description: 'Not modified' },
      409: { content: { 'application/json': { schema: { anyOf: [json.schema, error] } } } },
    });
    expect(responses('/carts')).not.toHaveProperty('200');
    expect(responses('/carts')).not.toHaveProperty('304.content');
    expect(responses('/carts/text')).toMatchObject({
      200: { content: { 'text/plain': {} } },
      422: { content: { 'application/json': { schema: error }, 'text/plain': {} } },
    });
    expect(responses('/carts/moved')).toMatchObject({
      303: { description: 'See another address' },
      404: { content: { 'application/json': { schema: error } } },
    });
    expect(responses('/carts/moved')).not.toHaveProperty('204');
    const done = responses('/carts/done', 'delete');
    expect(Object.keys(done)).toEqual(['204', '400', '422', '500', '503', '504', 'default']);
  });

  test('has the parameters of its query, none of which is null', () => {
    const text = { type: 'string' as const };
    const document = openApi(
      describing(
        serving({
          query: [
            { name: 'text', schema: text, required: true },
            { name: 'tag', schema: { type: 'array', items: text }, required: false },
            {
              name: 'since',
              schema: { anyOf: [text, { type: 'null' }], description: 'The first day' },
              required: false,
            },
          ],
        }),
      ),
      INFO,
    );
    expect(problemsOf(document)).toEqual([]);
    expect(document['paths']).toMatchObject({
      '/carts': {
        get: {
          parameters: [
            { name: 'text', in: 'query', required: true, schema: text },
            { name: 'tag', in: 'query', required: false, schema: { type: 'array', items: text } },
            {
              name: 'since',
              in: 'query',
              required: false,
              schema: { ...text, description: 'The first day' },
            },
          ],
        },
      },
    });
  });

  test('has the defaults of its query in their JSON types', () => {
    const number = { type: 'integer' as const, minimum: 0, maximum: 9 };
    const big = { type: ['integer', 'string'] as ['integer', 'string'], format: 'int64' as const };
    const sort = { $ref: '#/types/Sort' };
    const document = openApi(
      describing({
        types: { Sort: { type: 'string', enum: ['Title', 'Newest'] } },
        ...serving({
          query: [
            { name: 'yes', schema: { type: 'boolean' }, required: false, default: false },
            { name: 'limit', schema: number, required: false, default: 0 },
            { name: 'big', schema: big, required: false, default: '9223372036854775807' },
            { name: 'sort', schema: sort, required: false, default: 'Newest' },
            {
              name: 'sorts',
              schema: { type: 'array', items: sort },
              required: false,
              default: ['Title'],
            },
            {
              name: 'author',
              schema: { anyOf: [{ type: 'string' }, { type: 'null' }] },
              required: false,
              default: '',
            },
          ],
        }),
      }),
      INFO,
    );
    expect(problemsOf(document)).toEqual([]);
    const { parameters } = (document['paths'] as Record<string, { get: { parameters: object[] } }>)[
      '/carts'
    ]!.get;
    const component = { $ref: '#/components/schemas/Sort' };
    expect(parameters.map((one) => (one as { schema: object }).schema)).toEqual([
      { type: 'boolean', default: false },
      { ...number, default: 0 },
      { ...big, default: '9223372036854775807' },
      { ...component, default: 'Newest' },
      { type: 'array', items: component, default: ['Title'] },
      { type: 'string', default: '' },
    ]);
  });

  test.each([
    [{ kind: 'json' as const }, true],
    [{ kind: 'json' as const, optional: true as const }, false],
    // An empty text, or a body without bytes.
    [{ kind: 'text' as const }, false],
    [{ kind: 'bytes' as const }, false],
  ])('requires a body of %j: %s', (body, required) => {
    const document = openApi(describing(serving({ method: 'POST', body })), INFO);
    expect(document['paths']).toMatchObject({
      '/carts': { post: { requestBody: { required } } },
    });
  });

  test.each([
    ['addItem', 'Add item'],
    ['get', 'Get'],
    ['GET_ALL_items2Day', 'GET ALL items2 day'],
    ['$', '$'],
  ])('has a summary made of the name of its handler: %s', (handler, summary) => {
    const document = openApi(describing(serving({ handler })), INFO);
    expect(document['paths']).toMatchObject({ '/carts': { get: { summary } } });
  });

  test('has the summary and description that the route declares', () => {
    const own = { summary: 'Gets a cart', description: 'Gets a cart, as it is now.' };
    const document = openApi(describing(serving(own)), INFO);
    expect(document['paths']).toMatchObject({ '/carts': { get: own } });
  });

  test('of a handler that another endpoint has too has an id of its own', () => {
    const [carts] = serving({}).endpoints;
    const document = openApi(
      describing({ endpoints: [carts!, { ...carts!, prefix: '/again' }] }),
      INFO,
    );
    expect(problemsOf(document)).toEqual([]);
    expect(document['paths']).toMatchObject({
      '/carts': { get: { operationId: 'Carts_get' } },
      '/again': { get: { operationId: 'Carts_get_2' } },
    });
  });

  test('whose path differs from another in the names of its parameters shares that path', () => {
    const document = openApi(
      describing(
        serving(
          { path: '/{id}', parameters: parameter('id') },
          {
            method: 'DELETE',
            path: '/{cartId}',
            handler: 'remove',
            parameters: parameter('cartId'),
          },
        ),
      ),
      INFO,
    );
    expect(Object.keys(document['paths'] as object)).toEqual(['/carts/{id}']);
    expect(document['paths']).toMatchObject({
      '/carts/{id}': {
        get: { parameters: [{ name: 'id' }] },
        delete: { parameters: [{ name: 'id' }, { name: 'Idempotency-Key' }] },
      },
    });
  });
});

describe('a type', () => {
  test('has its name as a key, and type names of any letters become component keys', () => {
    const text = { type: 'string' } as const;
    const types = { 'Page<Item>': text, Page_Item: text, $Odd: text, Error: text };
    const document = openApi(describing({ types, ...answering(...Object.keys(types)) }), INFO);
    expect(problemsOf(document)).toEqual([]);
    const { schemas } = document['components'] as { schemas: Record<string, { title?: string }> };
    expect(Object.entries(schemas).map(([key, { title }]) => [key, title])).toEqual([
      ['Page_Item', 'Page<Item>'],
      ['Page_Item_2', 'Page_Item'],
      ['_Odd', '$Odd'],
      ['Error', 'Error'],
      // Responses of the runtime itself.
      ['Error_2', undefined],
    ]);
  });

  test('is described only where a route leads to it, so that no state or event is', () => {
    const items = { type: 'array' as const, items: { $ref: '#/types/Item' } };
    const part = { $ref: '#/types/Item' };
    const types: ModuleDescriptor['types'] = {
      State: { type: 'object', properties: { secret: { type: 'string' } }, required: [] },
      Page: { type: 'object', properties: { items }, required: [] },
      Item: { type: 'object', properties: { part }, required: [] },
    };
    const document = openApi(describing({ types, ...answering('Page') }), INFO);
    expect(problemsOf(document)).toEqual([]);
    const { schemas } = document['components'] as { schemas: object };
    expect(Object.keys(schemas)).toEqual(['Page', 'Item', 'Error']);
  });

  test('that is a union says which tag is which case', () => {
    const document = openApi(
      describing({
        types: {
          Added: tagged('item-added'),
          Removed: tagged('removed'),
          Change: {
            oneOf: [{ $ref: '#/types/Added' }, { $ref: '#/types/Removed' }],
            discriminator: { propertyName: 'type' },
          },
        },
        ...answering('Change'),
      }),
      INFO,
    );
    expect(problemsOf(document)).toEqual([]);
    expect(document['components']).toMatchObject({
      schemas: {
        Change: {
          oneOf: [{ $ref: '#/components/schemas/Added' }, { $ref: '#/components/schemas/Removed' }],
          discriminator: {
            mapping: {
              'item-added': '#/components/schemas/Added',
              removed: '#/components/schemas/Removed',
            },
          },
        },
      },
    });
  });
});
