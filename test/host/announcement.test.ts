import type { ModuleDescriptor } from '@svc/contract';
import { expect, test } from 'vitest';
import { announcement } from '../../host/announcement.ts';

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
    dataFolder: '/data',
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
    '',
  ]);
});

test('an address that a shell would take for a pattern is quoted', () => {
  const text = announcement({
    name: 'carts',
    url: 'http://[::1]:9000',
    dataFolder: '/data',
    pid: 42,
    descriptor,
  });
  expect(text).toContain("\n  curl 'http://[::1]:9000/carts/id'\n");
});
