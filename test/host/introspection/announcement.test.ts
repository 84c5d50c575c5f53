import type { ModuleDescriptor, TypeSchema } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { announcement } from '../../../host/introspection/announcement.ts';

const descriptor: ModuleDescriptor = {
  protocol: '0.1.0',
  sdk: { name: 'test', version: '1.0.0' },
  types: {
    Item: {
      type: 'object',
      properties: {
        sku: { type: 'string' },
        quantity: { type: 'integer', minimum: -5, maximum: 5 },
      },
      required: ['sku'],
    },
    Loop: { type: 'object', properties: { next: { $ref: '#/types/Loop' } }, required: [] },
  },
  entities: [],
  endpoints: [
    {
      name: 'Carts',
      prefix: '/carts',
      access: { allow: 'internet' },
      routes: [
        {
          method: 'GET',
          path: '/{id}',
          handler: 'get',
          parameters: [{ name: 'id', schema: { type: 'string' } }],
        },
        {
          method: 'POST',
          path: "/{id}/it's",
          handler: 'add',
          parameters: [{ name: 'id', schema: { type: 'string' } }],
          body: { kind: 'json', schema: { type: 'array', items: { $ref: '#/types/Item' } } },
        },
        {
          method: 'PUT',
          path: '/loop',
          handler: 'loop',
          parameters: [],
          body: { kind: 'json', schema: { $ref: '#/types/Loop' } },
        },
        { method: 'DELETE', path: '/', handler: 'clear', parameters: [] },
      ],
    },
  ],
};

test('an announcement lists every route and three requests that can be pasted into a shell', () => {
  const text = announcement({
    name: 'carts',
    url: 'http://127.0.0.1:9000',
    journal: '/data',
    pid: 42,
    descriptor,
  });
  expect(text.split('\n')).toEqual([
    'carts is served at http://127.0.0.1:9000 (journal: /data, process: 42)',
    '',
    '  GET     /carts/{id}',
    "  POST    /carts/{id}/it's",
    '  PUT     /carts/loop',
    '  DELETE  /carts/',
    '',
    'Try:',
    String.raw`  curl -X POST -H 'content-type: application/json' -d '[{"sku":"sku","quantity":1}]' 'http://127.0.0.1:9000/carts/id/it'\''s'`,
    '  curl http://127.0.0.1:9000/carts/id',
    expect.stringMatching(/^ {2}curl -X PUT .*"next":/),
    '',
    'npx svc console shows what it does, in a browser.',
    '',
    '',
  ]);
});

test('an announcement counts what is served beside the routes', () => {
  const consumer = { id: 'ledger', start: 'now' as const, sources: ['cart'] };
  const view = { id: 'v', sources: ['cart'], row: { type: 'null' }, indexes: [], queries: [] };
  const text = announcement({
    name: 'carts',
    url: 'http://127.0.0.1:9000',
    journal: '/data',
    pid: 42,
    descriptor: {
      ...descriptor,
      views: [view, { ...view, id: 'w' }] as unknown as NonNullable<ModuleDescriptor['views']>,
      consumers: [consumer],
    },
  });
  expect(text).toContain('/carts/\n\n  with 2 views, 1 consumer (svc inspect lists them)\n\nTry:');
});

test('an address that a shell would take for a pattern is quoted', () => {
  const text = announcement({
    name: 'carts',
    url: 'http://[::1]:9000',
    journal: '/data',
    pid: 42,
    descriptor,
  });
  expect(text).toContain("\n  curl 'http://[::1]:9000/carts/id'\n");
});

/** Announces a service whose one route takes a body of the first type and a parameter of the other. */
function announced(types: Record<string, TypeSchema>, parameter: TypeSchema = { type: 'string' }) {
  const { endpoints, ...rest } = descriptor;
  return announcement({
    name: 'hostile',
    url: 'http://127.0.0.1:9000',
    journal: '/data',
    pid: 42,
    descriptor: {
      ...rest,
      types,
      endpoints: [
        {
          ...endpoints[0]!,
          routes: [
            {
              method: 'POST',
              path: '/{id}',
              handler: 'post',
              parameters: [{ name: 'id', schema: parameter }],
              body: { kind: 'json', schema: { $ref: '#/types/Body' } },
            },
          ],
        },
      ],
    },
  });
}
const record = (properties: Record<string, TypeSchema>): TypeSchema => ({
  type: 'object',
  properties,
  required: [],
});

describe('a module that describes', () => {
  test('a type that holds itself a thousand times over is looked at a few times', () => {
    const itself = Array.from({ length: 1000 }, (_, index): [string, TypeSchema] => [
      `f${index}`,
      { $ref: '#/types/Body' },
    ]);
    const body = record(Object.fromEntries(itself));
    let looks = 0;
    const types = Object.defineProperty({}, 'Body', {
      get: () => {
        looks++;
        return body;
      },
    });
    expect(announced(types).length).toBeLessThan(3_000);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(100);
  });

  test('a type with a thousand fields gets an example with the first of them', () => {
    const fields = Array.from({ length: 1000 }, (_, index): [string, TypeSchema] => [
      `f${index}`,
      { type: 'boolean' },
    ]);
    const text = announced({ Body: record(Object.fromEntries(fields)) });
    expect(text).toContain(`-d '{"f0":true,"f1":true,`);
    expect(text.length).toBeLessThan(3_000);
  });

  test('names of two hundred characters gets no example that fills the screen', () => {
    const fields = Array.from({ length: 40 }, (_, index): [string, TypeSchema] => [
      String(index).padEnd(200, 'x'),
      { type: 'boolean' },
    ]);
    expect(announced({ Body: record(Object.fromEntries(fields)) })).not.toContain('xxx');
  });

  test('half a character as a choice', () => {
    const half: TypeSchema = { type: 'string', enum: ['\ud800'] };
    const text = announced({ Body: half }, half);
    expect(text).toContain('/carts/%EF%BF%BD');
    expect(text).toContain(String.raw`-d '"\ud800"'`);
  });

  test.each<[string, TypeSchema]>([
    ['toString', record(Object.fromEntries([['toString', { type: 'string' }]]))],
    ['a list', { type: 'array', items: { type: 'string' } }],
    ['null', { type: 'null' }],
  ])('%s in the place of a parameter', (_name, parameter) => {
    expect(announced({ Body: { type: 'boolean' } }, parameter)).toContain('/carts/id');
  });

  test('a parameter that is replaced with what replaces', () => {
    const text = announced({ Body: { type: 'boolean' } }, { type: 'string', enum: ["$&$'"] });
    expect(text).toContain("/carts/%24%26%24'\\''");
  });

  test('a reference to what every object has', () => {
    const text = announced({ Body: { $ref: '#/types/constructor' } });
    expect(text).toContain("-d 'null'");
  });

  test('text that would steer a terminal or hide', () => {
    const choice: TypeSchema = { type: 'string', enum: ['\u001b[2J\u009b\u202e\u200b'] };
    const text = announced({ Body: choice });
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b]/);
  });

  test('thousands of routes has the first of them listed, and the number of the others', () => {
    const route = descriptor.endpoints[0]!.routes[0]!;
    const routes = Array.from({ length: 900 }, () => route);
    const text = announcement({
      name: 'crowd',
      url: 'http://127.0.0.1:9000',
      journal: '/data',
      pid: 42,
      descriptor: { ...descriptor, endpoints: [{ ...descriptor.endpoints[0]!, routes }] },
    });
    expect(text.split('\n').length).toBeLessThan(120);
    expect(text).toContain('and 800 more (svc inspect lists them)');
  });

  test('an address with a sign that a shell acts on is quoted', () => {
    const text = announced({ Body: { type: 'boolean' } }, { type: 'string', enum: ['a~b(c)'] });
    expect(text).toMatch(/ 'http:\S+'\n/);
  });
});
