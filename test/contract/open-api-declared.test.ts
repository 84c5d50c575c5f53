// The OpenAPI document has what routes declare about their refusals, their callers, flags of their query and their bytes.
import { expect, test } from 'vitest';
import { type ModuleDescriptor, openApi } from '@svc/contract';
import { describing, problemsOf } from '../support/open-api-document.ts';

const INFO = { title: 'cart', version: '1' };

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

test('an operation has the refusals that it declares, its security scheme, its flags, and the JSON of its bytes', () => {
  const schema = { type: 'boolean' } as const;
  const bearer = { scheme: 'bearer', realm: 'shop', description: 'Of the shop' } as const;
  const document = openApi(
    describing(
      serving(
        {
          method: 'PUT',
          security: bearer,
          body: { kind: 'bytes', schema },
          query: [{ name: 'force', schema, required: false, default: false, flag: true }],
          answers: [204, 409],
          refusals: [
            { status: 409, reason: 'it is taken' },
            { status: 429, reason: 'too many requests' },
          ],
        },
        { path: '/key', security: { scheme: 'header', name: 'x-key' } },
        { path: '/other', security: bearer },
        { path: '/free' },
      ),
    ),
    INFO,
  );
  expect(problemsOf(document)).toEqual([]);
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  expect(document['paths']).toMatchObject({
    '/carts': {
      put: {
        security: [{ bearer: [] }],
        requestBody: { required: true, content: { 'application/json': { schema } } },
        parameters: [{ name: 'force', allowEmptyValue: true }, {}],
        responses: {
          401: { $ref: '#/components/responses/Status401' },
          409: { description: 'it is taken', content },
          429: { description: 'too many requests', headers: { 'Retry-After': {} }, content },
        },
      },
    },
    '/carts/key': { get: { security: [{ header: [] }] } },
    '/carts/other': { get: { security: [{ bearer: [] }] } },
  });
  expect(document['paths']).not.toHaveProperty(['/carts/free', 'get', 'security']);
  expect(document['components']).toMatchObject({
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'Of the shop' },
      header: { type: 'apiKey', in: 'header', name: 'x-key' },
    },
    responses: { Status401: { headers: { 'WWW-Authenticate': {} } } },
  });
});

test('a route with a bearer rule has the scheme, its scopes, 401, and 403 where something may be lacking', () => {
  const any = { match: 'any' as const, names: ['a', 'b'] };
  const all = { match: 'all' as const, names: ['a', 'b'] };
  const document = openApi(
    describing(
      serving(
        { path: '/token', bearer: {} },
        { path: '/any', bearer: { scopes: any } },
        { path: '/all', bearer: { scopes: all, roles: any } },
      ),
    ),
    INFO,
  ) as unknown as {
    readonly paths: Readonly<Record<string, { readonly get: Readonly<Record<string, object>> }>>;
    readonly components: unknown;
  };
  expect(problemsOf(document)).toEqual([]);
  const { '/carts/token': token, '/carts/any': one, '/carts/all': both } = document.paths;
  expect(token!.get['security']).toEqual([{ bearer: [] }]);
  expect(one!.get['security']).toEqual([{ bearer: ['a'] }, { bearer: ['b'] }]);
  expect(both!.get).toMatchObject({
    security: [{ bearer: ['a', 'b'] }],
    'x-svc-bearer': { scopes: all, roles: any },
  });
  const statuses = (at: typeof token) => Object.keys(at!.get['responses']!);
  expect(statuses(token)).toContain('401');
  expect(statuses(token)).not.toContain('403');
  expect(statuses(both)).toEqual(expect.arrayContaining(['401', '403']));
  expect(document.components).toMatchObject({
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  });
});
