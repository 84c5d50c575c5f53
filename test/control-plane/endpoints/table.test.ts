// Every route for every caller in every state: status, headers and body. Each answer is checked against the OpenAPI document.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES, type Route, type RouteName } from '@svc/client';
import { TOKEN_FAULTS } from '../../../control-plane/tokens/token-fault.ts';
import { ApiUnderTest, idleOrchestrator, type Answer } from './api-under-test.ts';
import {
  CALLERS,
  STATES,
  expectedStatus,
  type CallerName,
  type State,
} from './table-expectations.ts';

const NAMES = Object.keys(ROUTES) as RouteName[];
const IMAGE = 'registry.example/it:1';
/** Ids of an organization and a project; the service in it is `cart`. */
interface Place {
  readonly organizationId: string;
  readonly projectId: string;
}

let api: ApiUnderTest;
let made = 0;
/** Places that nothing changes. */
const shared = new Map<State, Place>();

beforeAll(async () => {
  const orchestrator = idleOrchestrator({
    logs: async () => [{ instance: 'cart-1', output: '', error: null }],
  });
  api = await ApiUnderTest.start({}, undefined, orchestrator);
  api.knows({ subject: 'owner', name: 'Owner' });
  api.knows({ subject: 'administrator', roles: ['platform-admin'] });
  api.knows({ subject: 'administrator and member', roles: ['platform-admin'] });
  for (const state of STATES) shared.set(state, await newPlace(state));
});
afterAll(() => api[Symbol.asyncDispose]());

async function newPlace(state: State): Promise<Place> {
  const place = { organizationId: `o${++made}`, projectId: `p${made}` };
  if (state === 'never there') return place;
  const organization = `/organizations/${place.organizationId}`;
  const project = `/projects/${place.projectId}`;
  const service = `/services/${place.projectId}/cart`;
  const as = 'owner';
  await api.done(`POST ${organization}`, { as, json: { name: 'Organization' } });
  const { organizationId } = place;
  await api.done(`POST ${project}`, { as, json: { name: 'Project', organizationId } });
  await api.done(`PUT ${service}`, { as, json: { name: 'cart', image: IMAGE } });
  if (state === 'deleted') {
    for (const path of [service, project, organization]) await api.done(`DELETE ${path}`, { as });
    return place;
  }
  for (const subject of ['member', 'machine', 'administrator and member', 'target'])
    await api.done(`POST ${organization}/members/${encodeURIComponent(subject)}/repair`, {
      as: 'administrator',
      json: { role: 'member' },
    });
  await api.done(`POST ${organization}/members`, { as, json: { email: 'guest@example.com' } });
  if (state === 'disabled') await api.done(`POST ${organization}/disable`, { as: 'administrator' });
  return place;
}

const BODIES: { readonly [Name in RouteName]?: object } = {
  createOrganization: { name: 'Another name' },
  renameOrganization: { name: 'Another name' },
  renameProject: { name: 'Another name' },
  inviteMember: { email: 'new@example.com' },
  setMemberRole: { role: 'owner' },
  repairMember: { role: 'owner' },
  createProject: { name: 'Project' },
  applyService: { name: 'cart', image: IMAGE },
};

function bodyOf(name: RouteName, { organizationId }: Place): object | undefined {
  const body = BODIES[name];
  return name === 'createProject' ? { ...body, organizationId } : body;
}

async function ask(name: RouteName, caller: CallerName, place: Place): Promise<Answer> {
  const { method, path }: Route = ROUTES[name];
  const values = { ...place, name: 'cart', subject: 'target', email: 'guest@example.com' };
  const target = path.replaceAll(/\{(\w+)\}/g, (_, parameter: keyof typeof values) =>
    encodeURIComponent(values[parameter]),
  );
  const json = bodyOf(name, place);
  const { token } = CALLERS[caller];
  return await api.send(`${method} ${target}`, {
    ...(token === 'bad' && { token: 'a.b.c' }),
    ...(token === 'good' && { as: caller }),
    ...(json !== undefined && { json }),
  });
}

/** Sends the request to a place that is as the state says, and that no other request changes. */
async function answerIn(state: State, name: RouteName, caller: CallerName): Promise<Answer> {
  const changes = ROUTES[name].method !== 'GET' && expectedStatus(name, caller, state) < 300;
  return await ask(name, caller, changes ? await newPlace(state) : shared.get(state)!);
}

const COMMON = [
  'cache-control',

  'content-length',
  'content-type',
  'date',
  'keep-alive',
];
const HEADERS: Readonly<Record<number, readonly string[]>> = {
  204: ['cache-control', 'date', 'keep-alive'],
  401: [...COMMON, 'www-authenticate'],
};
const ERRORS: Readonly<Record<number, readonly string[]>> = {
  401: [
    'the request has no access token: send one as Authorization: Bearer TOKEN; GET /auth says how to get one',
    TOKEN_FAULTS.malformed,
  ],
  403: [
    'only owners of the organization may do this: ask one of them',
    'only platform administrators may do this',
    'the organization is disabled, so nothing in it can be changed: a platform administrator has to enable it first',
  ],
  404: [
    'there is no such organization, or you are not a member of it',
    'there is no such project, or you are not a member of its organization',
    'the service has no running instance, so there are no logs',
  ],
  409: [
    'this organization id was used before, and an id is never used again: choose another',
    'this project id was used before, and an id is never used again: choose another',
    'the organization has projects: delete them first',
    'the project has services: delete them first',
  ],
};

/** Status, headers and body, without what depends on the time. */
function bytesOf({ status, headers, text }: Answer): unknown {
  return { status, headers: [...headers].filter(([name]) => name !== 'date'), text };
}

describe.each(NAMES)('%s', (name) => {
  test.each(STATES)(
    'each caller gets its status, headers and form while it is %s',
    async (state) => {
      const wrong: string[] = [];
      const shown: unknown[] = [];
      for (const caller of Object.keys(CALLERS) as CallerName[]) {
        const answer = await answerIn(state, name, caller);
        const { status, headers, body } = answer;
        const expected = expectedStatus(name, caller, state);
        if (status !== expected) wrong.push(`${caller}: ${status} for ${expected}: ${answer.text}`);
        const names = [...headers.keys()].toSorted().join(' ');
        const expectedNames = (HEADERS[status] ?? COMMON).join(' ');
        if (names !== expectedNames) wrong.push(`${caller}: the headers of ${status} are ${names}`);
        const { error } = (body ?? {}) as { readonly error?: string };
        if (status >= 400 && !ERRORS[status]!.includes(error!))
          wrong.push(`${caller}: the error of ${status} is ${error}`);
        const isHidden = caller === 'stranger' || state === 'deleted' || state === 'never there';
        if (status === 404 && isHidden) shown.push(bytesOf(answer));
      }
      expect(wrong).toEqual([]);
      expect(shown).toEqual(shown.map(() => shown[0]));
    },
  );

  test('strangers get the bytes that nobody gets for what was never there', async () => {
    const states = (['alive', 'disabled', 'deleted'] as const).filter(
      (state) => expectedStatus(name, 'stranger', state) === 404,
    );
    const never = bytesOf(await ask(name, 'stranger', await newPlace('never there')));
    const shown: unknown[] = [];
    for (const state of states)
      shown.push(bytesOf(await ask(name, 'stranger', shared.get(state)!)));
    expect(shown).toEqual(states.map(() => never));
  });
});
