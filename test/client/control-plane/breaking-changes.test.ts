// The OpenAPI document against that of the last release: a change that breaks a client of the release fails, unless it is listed.
import { expect, test } from 'vitest';
import { openApiDocument } from '../../../client/index.ts';
import { breakingChanges, type OpenApi } from './breaking-changes.ts';
import RELEASED from '../../../fixtures/open-api/released.json' with { type: 'json' };

/** Changes since the last release that are made on purpose, and announced in CHANGELOG.md. A release empties the list. */
const ANNOUNCED: readonly string[] = [
  'PUT /services/{projectId}/{name}: body.allow[] has another pattern',
  'PUT /services/{projectId}/{name}: body.env is restricted',
];

const released = RELEASED as unknown as OpenApi;

test('nothing breaks a client of the last release', () => {
  const current = openApiDocument('1.0.0') as unknown as OpenApi;
  expect(breakingChanges({ released, current })).toEqual(ANNOUNCED);
});

type Fields = Record<string, unknown>;
interface Schema {
  type: string;
  properties: Record<string, Schema>;
  required: string[];
  enum: string[];
  items: Schema;
  anyOf: Fields[];
  allOf: { if: Fields; then: Schema }[];
  pattern: string;
  maxLength: number;
  minimum: number;
  maximum: number;
  propertyNames: Schema;
  additionalProperties: unknown;
}
interface Operation {
  operationId: string;
  security: Fields[];
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Fields };
  responses: Record<string, { headers: Record<string, { required: boolean }>; content?: Fields }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { headers: Record<string, { required: boolean }> }>;
  };
}

const SERVICE = '/services/{projectId}/{name}';

/** Returns the changes that break clients, if the released document is changed so. */
function changesAfter(change: (document: Document) => void): readonly string[] {
  const current = structuredClone(RELEASED) as unknown as Document;
  change(current);
  return breakingChanges({ released, current: current as unknown as OpenApi });
}

test.each<[string, (document: Document) => void, string]>([
  ['a removed path', ({ paths }) => delete paths['/auth'], 'GET /auth is removed'],
  ['a removed method', ({ paths }) => delete paths[SERVICE]!['put'], `PUT ${SERVICE} is removed`],
  [
    'another name',
    ({ paths }) => (paths['/auth']!['get']!.operationId = 'login'),
    'GET /auth: is called login, not getLoginInformation',
  ],
  [
    'a route that needs a token now',
    ({ paths }) => (paths['/auth']!['get']!.security = [{ token: [] }]),
    'GET /auth: has other security',
  ],
  [
    'a removed parameter',
    ({ paths }) => paths[`${SERVICE}/logs`]!['get']!.parameters.pop(),
    `GET ${SERVICE}/logs: query parameter since is removed`,
  ],
  [
    'a new parameter that is required',
    ({ paths }) => {
      const { parameters } = paths['/projects']!['get']!;
      parameters.push({ ...parameters[0]!, name: 'owner', required: true });
    },
    'GET /projects: query parameter owner is required',
  ],
  [
    'a parameter that is required now',
    ({ paths }) => (paths['/projects']!['get']!.parameters[0]!.required = true),
    'GET /projects: query parameter organization is required',
  ],
  [
    'a parameter with a lower maximum',
    ({ paths }) => (paths[`${SERVICE}/logs`]!['get']!.parameters[4]!.schema.maximum = 10),
    `GET ${SERVICE}/logs: query parameter tail has the maximum 10`,
  ],
  [
    'a new field of a request that is required',
    ({ components: { schemas } }) => schemas['Renaming']!.required.push('reason'),
    'PUT /projects/{projectId}/name: body.reason is required',
  ],
  [
    'a removed field of a request',
    ({ components: { schemas } }) => delete schemas['Inviting']!.properties['role'],
    'POST /organizations/{organizationId}/members: body.role may not be there',
  ],
  [
    'a removed word of a request',
    ({ components: { schemas } }) => schemas['RoleChange']!.properties['role']!.enum.pop(),
    'PUT /organizations/{organizationId}/members/{subject}/role: body.role does not take member',
  ],
  [
    'another type in a request',
    ({ components: { schemas } }) =>
      (schemas['ServiceDescriptor']!.properties['instances']!.type = 'string'),
    `PUT ${SERVICE}: body.instances is of the type string, not integer`,
  ],
  [
    'a shorter text of a request',
    ({ components: { schemas } }) => (schemas['Renaming']!.properties['name']!.maxLength = 100),
    'PUT /projects/{projectId}/name: body.name has the maxLength 100',
  ],
  [
    'another pattern in a list of a request',
    ({ components: { schemas } }) =>
      (schemas['ServiceDescriptor']!.properties['callers']!.items.pattern = '^a$'),
    `PUT ${SERVICE}: body.callers[] has another pattern`,
  ],
  [
    'a field of a request that a rule refuses',
    ({ components: { schemas } }) =>
      (schemas['ServiceDescriptor']!.allOf[1]!.then.properties['allow'] = false as never),
    `PUT ${SERVICE}: body.allow may not be there`,
  ],
  [
    'a new rule between fields of a request',
    ({ components: { schemas } }) => schemas['ServiceDescriptor']!.allOf.push({ not: {} } as never),
    `PUT ${SERVICE}: body has another rule`,
  ],
  [
    'a variable that is refused now',
    ({ components: { schemas } }) =>
      schemas['ServiceDescriptor']!.allOf[1]!.then.properties['env']!.propertyNames.enum.shift(),
    `PUT ${SERVICE}: body.env{name} does not take SVC_LOG`,
  ],
  [
    'a body that is required now',
    ({ paths }) =>
      (paths['/organizations/{organizationId}/members/{subject}/repair']![
        'post'
      ]!.requestBody!.required = true),
    'POST /organizations/{organizationId}/members/{subject}/repair: the body is required',
  ],
  [
    'a removed body',
    ({ paths }) => delete paths[SERVICE]!['put']!.requestBody,
    `PUT ${SERVICE}: the body is removed`,
  ],
  [
    'another success',
    ({ paths }) => {
      const { responses } = paths[SERVICE]!['get']!;
      responses['201'] = responses['200']!;
      delete responses['200'];
    },
    `GET ${SERVICE}: 200 is removed`,
  ],
  [
    'an answer without a body',
    ({ paths }) => delete paths[SERVICE]!['get']!.responses['200']!.content,
    `GET ${SERVICE}: 200 has another body`,
  ],
  [
    'a removed field of an answer',
    ({ components: { schemas } }) => {
      const status = schemas['ServiceStatus']!;
      delete status.properties['exposed'];
      status.required = status.required.filter((name) => name !== 'exposed');
    },
    `GET ${SERVICE}: 200.exposed is required`,
  ],
  [
    'a removed field of an answer that was optional',
    ({ components: { schemas } }) => delete schemas['ServiceStatus']!.properties['detail'],
    `GET ${SERVICE}: 200.detail is restricted`,
  ],
  [
    'a field of an answer that may be absent now',
    ({ components: { schemas } }) => schemas['Failure']!.required.pop(),
    `GET ${SERVICE}: 404.error is required`,
  ],
  [
    'a field of an answer that may be null now',
    ({ components: { schemas } }) => {
      const { properties } = schemas['ServiceStatus']!;
      properties['image'] = { anyOf: [{ type: 'string' }, { type: 'null' }] } as never;
    },
    `GET ${SERVICE}: 200.image is of the type string, not any`,
  ],
  [
    'another type in a list of an answer',
    ({ components: { schemas } }) =>
      (schemas['MemberList']!.properties['members']!.items = { type: 'string' } as Schema),
    'GET /organizations/{organizationId}/members: 200.members[] is of the type object, not string',
  ],
  [
    'a header that may be absent now',
    ({ components: { responses } }) =>
      (responses['Refusal503']!.headers['Retry-After']!.required = false),
    `GET ${SERVICE}: 503 has not always the header Retry-After`,
  ],
])('%s breaks a client', (_, change, line) => {
  expect(changesAfter(change)).toContain(line);
});

test.each<[string, (document: Document) => void]>([
  ['nothing', () => {}],
  ['a new route', ({ paths }) => (paths['/teams'] = paths['/projects']!)],
  [
    'a new parameter that is optional',
    ({ paths }) => {
      const { parameters } = paths['/projects']!['get']!;
      parameters.push({ ...parameters[0]!, name: 'owner' });
    },
  ],
  [
    'a new field of a request that is optional',
    ({ components: { schemas } }) =>
      (schemas['Renaming']!.properties['reason'] = { type: 'string' } as Schema),
  ],
  [
    'a new word of a request',
    ({ components: { schemas } }) => schemas['RoleChange']!.properties['role']!.enum.push('guest'),
  ],
  [
    'a higher limit of a request',
    ({ components: { schemas } }) =>
      (schemas['ServiceDescriptor']!.properties['instances']!.maximum = 20),
  ],
  [
    'a further variable',
    ({ components: { schemas } }) =>
      schemas['ServiceDescriptor']!.allOf[1]!.then.properties['env']!.propertyNames.enum.push('X'),
  ],
  [
    'a new field that a rule refuses',
    ({ components: { schemas } }) => {
      const { properties, allOf } = schemas['ServiceDescriptor']!;
      properties['fresh'] = { type: 'string' } as Schema;
      allOf[1]!.then.properties['fresh'] = false as never;
    },
  ],
  ['one rule less', ({ components: { schemas } }) => schemas['ServiceDescriptor']!.allOf.pop()],
  [
    'a new field of an answer',
    ({ components: { schemas } }) =>
      (schemas['ServiceStatus']!.properties['region'] = { type: 'string' } as Schema),
  ],
  [
    'a new refusal',
    ({ paths }) => {
      const { responses } = paths[SERVICE]!['get']!;
      responses['410'] = responses['404']!;
    },
  ],
])('%s breaks no client', (_, change) => {
  expect(changesAfter(change)).toEqual([]);
});

test('a keyword that the comparison does not know is no silent success', () => {
  expect(() =>
    changesAfter(({ components: { schemas } }) => {
      Object.assign(schemas['Renaming']!, { dependentRequired: {} });
    }),
  ).toThrow('does not know dependentRequired');
});
