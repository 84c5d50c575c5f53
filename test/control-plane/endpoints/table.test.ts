// Every route for every caller in every state: status, headers and body. Each answer is checked against the OpenAPI document.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES, type Route, type RouteName } from '@svc/client';
import { ApiUnderTest, idleOrchestrator, type Answer } from './api-under-test.ts';
import { IMAGE, expectedBody } from './table-bodies.ts';
import {
  CALLERS,
  expectedOutcome,
  guestOf,
  statesOf,
  type CallerName,
  type Place,
  type State,
} from './table-expectations.ts';

const NAMES = Object.keys(ROUTES) as RouteName[];

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
  for (const state of ['alive', 'disabled', 'deleted', 'never there'] as const)
    shared.set(state, await newPlace(state));
});
afterAll(() => api[Symbol.asyncDispose]());

/** Makes a place that is as the state says; the route decides what an empty one lacks. */
async function newPlace(state: State, route?: RouteName): Promise<Place> {
  const place = { organizationId: `o${++made}`, projectId: `p${made}` };
  if (state === 'never there') return place;
  const organization = `/organizations/${place.organizationId}`;
  const project = `/projects/${place.projectId}`;
  const service = `/services/${place.projectId}/cart`;
  const as = 'owner';
  await api.done(`POST ${organization}`, { as, json: { name: 'Organization' } });
  const { organizationId } = place;
  if (state !== 'empty' || route === 'deleteProject')
    await api.done(`POST ${project}`, { as, json: { name: 'Project', organizationId } });
  if (state !== 'empty')
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
  await api.done(`POST ${organization}/members`, { as, json: { email: guestOf(place) } });
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
  const values = { ...place, name: 'cart', subject: 'target', email: guestOf(place) };
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

/** Returns a place that is as the state says. What the caller may change there is changed by no other request. */
async function placeFor(name: RouteName, caller: CallerName, state: State): Promise<Place> {
  const changes =
    ROUTES[name].method !== 'GET' && expectedOutcome(name, caller, state).status < 300;
  return changes || state === 'empty' ? await newPlace(state, name) : shared.get(state)!;
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
/** Status, headers and body, without what depends on the time. */
function bytesOf({ status, headers, text }: Answer): unknown {
  return { status, headers: [...headers].filter(([name]) => name !== 'date'), text };
}

describe.each(NAMES)('%s', (name) => {
  test.each(statesOf(name))(
    'each caller gets its status, headers and form while it is %s',
    async (state) => {
      const answers: unknown[] = [];
      const expected: unknown[] = [];
      const shown: unknown[] = [];
      for (const caller of Object.keys(CALLERS) as CallerName[]) {
        const place = await placeFor(name, caller, state);
        const answer = await ask(name, caller, place);
        const { status, headers, body } = answer;
        answers.push({ caller, status, headers: [...headers.keys()].toSorted(), body });
        const outcome = expectedOutcome(name, caller, state);
        expected.push({
          caller,
          status: outcome.status,
          headers: HEADERS[outcome.status] ?? COMMON,
          body: 'error' in outcome ? outcome : expectedBody(name, { caller, state, place }),
        });
        const isHidden = caller === 'stranger' || state === 'deleted' || state === 'never there';
        if (status === 404 && isHidden) shown.push(bytesOf(answer));
      }
      expect(answers).toEqual(expected);
      expect(shown).toEqual(shown.map(() => shown[0]));
    },
  );

  test('hard case 9: strangers get the bytes that nobody gets for what was never there', async () => {
    const states = (['alive', 'disabled', 'deleted'] as const).filter(
      (state) => expectedOutcome(name, 'stranger', state).status === 404,
    );
    const never = bytesOf(await ask(name, 'stranger', await newPlace('never there')));
    const shown: unknown[] = [];
    for (const state of states)
      shown.push(bytesOf(await ask(name, 'stranger', shared.get(state)!)));
    expect(shown).toEqual(states.map(() => never));
  });
});
