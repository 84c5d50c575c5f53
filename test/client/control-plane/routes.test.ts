// The table of routes: it has the 31 routes of the contract, each complete, and the types of the client follow from it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  PARAMETERS,
  ROUTES,
  createClient,
  parametersOf,
  refusalsOf,
  successOf,
  worksWhileDisabled,
  type AnswerOf,
  type Client,
  type InputOf,
  type Role,
  type Route,
  type RouteName,
  type ServiceDescriptor,
  type ServiceStatus,
} from '../../../client/index.ts';
import { openApiDocument } from '../../../client/control-plane/open-api.ts';
import { codecOf } from '../../../components/codec.ts';

const routes = Object.entries(ROUTES) as [RouteName, Route][];

test('the routes are those of the contract', () => {
  expect(routes.map(([, { method, path, who }]) => `${method} ${path} ${who}`)).toEqual([
    'GET /auth anyone',
    'GET /auth/whoami caller',
    'GET /organizations caller',
    'GET /organizations/{organizationId} reader',
    'POST /organizations/{organizationId} caller',
    'PUT /organizations/{organizationId}/name owner',
    'DELETE /organizations/{organizationId} owner',
    'GET /organizations/{organizationId}/members reader',
    'POST /organizations/{organizationId}/members owner',
    'DELETE /organizations/{organizationId}/members/{subject} owner',
    'PUT /organizations/{organizationId}/members/{subject}/role owner',
    'DELETE /organizations/{organizationId}/invitations/{email} owner',
    'POST /organizations/{organizationId}/members/{subject}/repair administrator',
    'POST /organizations/{organizationId}/disable administrator',
    'POST /organizations/{organizationId}/enable administrator',
    'GET /projects caller',
    'GET /projects/{projectId} member',
    'POST /projects/{projectId} member',
    'PUT /projects/{projectId}/name member',
    'DELETE /projects/{projectId} owner',
    'GET /services/{projectId} member',
    'GET /services/{projectId}/{name} member',
    'PUT /services/{projectId}/{name} member',
    'POST /services/{projectId}/{name}/pause member',
    'POST /services/{projectId}/{name}/resume member',
    'POST /services/{projectId}/{name}/restart member',
    'POST /services/{projectId}/{name}/expose member',
    'POST /services/{projectId}/{name}/unexpose member',
    'GET /services/{projectId}/{name}/logs member',
    'GET /services/{projectId}/{name}/history member',
    'DELETE /services/{projectId}/{name} member',
  ]);
});

describe.each(routes)('%s', (_name, route) => {
  test('has a summary, known parameters, and schemas that the embedded endpoints take', () => {
    expect(route.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(route.description ?? 'None.').toMatch(/^[A-Z].*\.$/);
    for (const parameter of parametersOf(route)) codecOf(PARAMETERS[parameter], parameter);
    const { body, answer, query = {} } = route;
    const schemas = [body, answer, ...Object.values(query)].filter(
      (schema) => schema !== undefined,
    );
    // The schema of a descriptor has conditions, which are for other languages: the server checks with descriptorProblems.
    for (const schema of schemas.filter((each) => each !== ROUTES.applyService.body))
      expect(codecOf(schema, route.path).shape).toBeDefined();
  });

  test('answers a GET with a body, and refuses a caller without a token', () => {
    expect(route.method !== 'GET' || successOf(route) === 200).toBe(true);
    const refusals = refusalsOf(route);
    expect(refusals.has(401)).toBe(route.who !== 'anyone');
    expect(refusals.has(413)).toBe(route.body !== undefined);
    expect(refusals.has(422)).toBe(route.method !== 'GET');
    expect([...refusals.keys()]).toEqual([...refusals.keys()].toSorted((a, b) => a - b));
  });
});

test('refusals of a status are those of the rule and those of the route', () => {
  expect(refusalsOf(ROUTES.getServiceLogs).get(404)).toBe(
    'it does not exist, or the caller may not see it; the service has no running instance',
  );
  expect(refusalsOf(ROUTES.createOrganization).has(404)).toBe(false);
  expect(refusalsOf(ROUTES.removeMember).get(403)).toBe(
    'the caller is a member, and no owner; the organization is disabled',
  );
});

test('reads, and what an administrator does, work while an organization is disabled', () => {
  expect(
    routes
      .filter(([, route]) => worksWhileDisabled(route) && route.method !== 'GET')
      .map(([name]) => name),
  ).toEqual(['repairMember', 'disableOrganization', 'enableOrganization']);
});

test('the types of the functions follow from the table', () => {
  expect(Object.keys(createClient({ baseUrl: 'http://127.0.0.1' }))).toEqual(Object.keys(ROUTES));
  expectTypeOf<InputOf<'inviteMember'>>().toEqualTypeOf<{
    readonly organizationId: string;
    readonly body: { readonly email: string; readonly role?: Role };
  }>();
  expectTypeOf<InputOf<'repairMember'>>().toEqualTypeOf<{
    readonly organizationId: string;
    readonly subject: string;
    readonly body?: { readonly role?: Role };
  }>();
  expectTypeOf<InputOf<'getServiceLogs'>>().toEqualTypeOf<{
    readonly projectId: string;
    readonly name: string;
    readonly instance?: string;
    readonly previous?: boolean;
    readonly tail?: number;
    readonly since?: number;
  }>();
  expectTypeOf<InputOf<'applyService'>['body']>().toEqualTypeOf<ServiceDescriptor>();
  expectTypeOf<AnswerOf<'applyService'>>().toEqualTypeOf<ServiceStatus>();
  expectTypeOf<AnswerOf<'listServices'>>().toEqualTypeOf<readonly ServiceStatus[]>();
  expectTypeOf<AnswerOf<'deleteService'>>().toEqualTypeOf<undefined>();
  expectTypeOf<ServiceStatus['detail']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Client['whoami']>().toBeCallableWith();
  expectTypeOf<Client['listProjects']>().toBeCallableWith({ organization: 'acme' });
  // @ts-expect-error -- an input is needed
  expectTypeOf<Client['getService']>().toBeCallableWith();
});

test('refusals that OpenAPI shares have the same reason on all routes', () => {
  for (const status of [401, 413, 422, 429, 500, 503, 504]) {
    const reasons = routes.map(([, route]) => refusalsOf(route).get(status));
    expect(new Set(reasons.filter((reason) => reason !== undefined)).size).toBe(1);
  }
});

describe('the document of OpenAPI', () => {
  const document = openApiDocument('1.0.0') as {
    readonly paths: Record<string, Record<string, { readonly operationId: string }>>;
    readonly components: { readonly schemas: Record<string, object> };
  };

  test('has every route, by its name', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    );
    const expected = routes.map(([name, { method, path }]) => `${name} ${method} ${path}`);
    expect(new Set(operations)).toEqual(new Set(expected));
    expect(operations).toHaveLength(31);
  });

  test('declares every other refusal, which is of no route, with the form of all', () => {
    const { paths, components } = openApiDocument('1.0.0') as {
      readonly paths: Record<string, Record<string, { readonly responses: object }>>;
      readonly components: { readonly responses: object };
    };
    const other = { $ref: '#/components/responses/OtherRefusal' };
    for (const methods of Object.values(paths))
      for (const { responses } of Object.values(methods))
        expect(responses).toMatchObject({ default: other });
    const schema = { $ref: '#/components/schemas/Failure' };
    expect(components.responses).toMatchObject({
      OtherRefusal: { content: { 'application/json': { schema } } },
    });
  });

  test('has every schema to which it refers, and no other', () => {
    const text = JSON.stringify(document);
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(new Set(referred)).toEqual(new Set(Object.keys(document.components.schemas)));
    expect(Object.keys(document.components.schemas)).toContain('ServiceDescriptor');
  });

  test('comes with the package', () => {
    const folder = join(import.meta.dirname, '../../../client');
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly version: string;
      readonly exports: Readonly<Record<string, string>>;
    };
    const file = join(folder, manifest.exports['./open-api.json']!);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(openApiDocument(manifest.version));
  });
});
