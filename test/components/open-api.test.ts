// The OpenAPI document of a program's routes, which the program serves itself.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import {
  before,
  type Components,
  createService,
  defineEndpoint,
  limited,
  openApi,
  put,
  refuse,
  respond,
  type Service,
} from '../../host/embed.ts';
import { problemsOf } from '../support/open-api-document.ts';

const loggedIn = before(
  ({ header }) =>
    header('authorization') === 'Bearer good' ? 'ann' : refuse('log in', 'UNAUTHENTICATED'),
  { security: { scheme: 'bearer' }, refusals: { 401: 'there is no valid token' } },
);
const described = loggedIn.before(limited({ perMinute: 600, by: (_request, { given }) => given }));

const shop: Components = {
  endpoints: [
    defineEndpoint({
      prefix: '',
      access: 'internet',
      routes: {
        rename: put('/name', { body: Type.Object({ name: Type.String() }) }, () => {}),
        document: described.get('/openapi.json', { reply: 'text' }, () => {
          const document = openApi(shop, { title: 'shop', version: '1.0.0', errors: 'plain' });
          const headers = { 'content-type': 'application/json' };
          return respond(JSON.stringify(document), { headers });
        }),
      },
    }),
  ],
};

async function served(): Promise<Service> {
  return createService({ ...shop, name: 'shop', journal: 'memory', http: false, log: 'none' });
}

test('the document is for those whom the checks of its route admit', async () => {
  await using service = await served();
  expect((await service.fetch('/openapi.json')).status).toBe(401);
  const headers = { authorization: 'Bearer good' };
  const response = await service.fetch('/openapi.json', { headers });
  expect(response.headers.get('content-type')).toBe('application/json');
  const document = (await response.json()) as ReturnType<typeof openApi>;
  expect(problemsOf(document)).toEqual([]);
  expect(document).toMatchObject({
    info: { title: 'shop', version: '1.0.0' },
    paths: {
      '/name': { put: { requestBody: { required: true } } },
      '/openapi.json': {
        get: {
          security: [{ bearer: [] }],
          responses: {
            401: { description: 'there is no valid token' },
            429: { description: 'the caller makes more than 600 requests a minute' },
          },
        },
      },
    },
  });
});

const fieldsOf = (errors: 'plain' | 'full') => {
  const { components } = openApi(shop, { title: 'shop', version: '1', errors });
  const { schemas } = components as { schemas: Record<string, { properties: object }> };
  return Object.keys(schemas['Error']!.properties);
};

test('the schema of errors is that of the service', () => {
  expect(fieldsOf('plain')).toEqual(['status', 'error']);
  expect(fieldsOf('full')).toEqual(['status', 'error', 'details', 'errorId']);
});

test('components that do not fit together have no document', () => {
  const [endpoint] = shop.endpoints!;
  const twice = { endpoints: [endpoint!, endpoint!] };
  expect(() => openApi(twice, { title: 'a', version: '1' })).toThrow('match the same requests');
});
