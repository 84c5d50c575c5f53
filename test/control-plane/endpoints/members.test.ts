// Members and invitations of an organization.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ROUTES, type Route } from '@svc/client';
import { ApiUnderTest } from './api-under-test.ts';

let api: ApiUnderTest;
let created = 0;
/** An organization of Ann alone, a new one for each test. */
let shop: string;

beforeAll(async () => {
  api = await ApiUnderTest.start();
  api.knows({ subject: 'ann', name: 'Ann', email: 'ann@example.com', verified: true });
  api.knows({ subject: 'root', name: 'Root', roles: ['platform-admin'] });
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  shop = `/organizations/shop-${++created}`;
  await api.done(`POST ${shop}`, { as: 'ann', json: { name: 'Shop' } });
});

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ann = {
  subject: 'ann',
  role: 'owner',
  email: 'ann@example.com',
  display: 'Ann',
  since: TIME,
  addedBy: 'Ann',
};

/** Makes a member by invitation; the address is that of nobody else. */
async function join(subject: string, role?: 'owner' | 'member'): Promise<void> {
  const email = `${subject}@${shop.slice('/organizations/'.length)}.example`;
  await api.done(`POST ${shop}/members`, { as: 'ann', json: { email, ...(role && { role }) } });
  api.knows({ subject, name: subject, email, verified: true });
  await api.done(`GET ${shop}`, { as: subject });
}

test('an invitation becomes a membership with the first token of its address, on any route', async () => {
  const json = { email: 'Bob@Example.com' };
  await api.done(`POST ${shop}/members`, { as: 'ann', json });
  expect(await api.done(`GET ${shop}/members`, { as: 'ann' })).toEqual({
    members: [ann],
    invitations: [{ email: 'Bob@Example.com', role: 'member', invitedAt: TIME, invitedBy: 'Ann' }],
  });
  api.knows({ subject: 'bob', email: 'bob@example.com' });
  expect((await api.send(`GET ${shop}/members`, { as: 'bob' })).status).toBe(404);
  api.knows({ subject: 'bob', name: 'Bob', email: 'bob@example.com', verified: true });
  const bob = { ...ann, subject: 'bob', role: 'member', email: 'bob@example.com', display: 'Bob' };
  expect(await api.done(`GET ${shop}/members`, { as: 'bob' })).toEqual({
    members: [ann, bob],
    invitations: [],
  });
  api.knows({ subject: 'eve', email: 'BOB@example.com', verified: true });
  expect((await api.send(`GET ${shop}`, { as: 'eve' })).status).toBe(404);
  expect(await api.refusal(`POST ${shop}/members`, { as: 'ann', json })).toEqual([
    409,
    'a member has this address already',
  ]);
});

test('inviting again replaces the role, and a withdrawn invitation makes no member', async () => {
  const invited = { email: 'cay+x@example.com' };
  await api.done(`POST ${shop}/members`, { as: 'ann', json: invited });
  await api.done(`POST ${shop}/members`, { as: 'ann', json: { ...invited, role: 'owner' } });
  expect(await api.done(`GET ${shop}/members`, { as: 'ann' })).toMatchObject({
    invitations: [{ ...invited, role: 'owner' }],
  });
  const withdrawal = `DELETE ${shop}/invitations/CAY%2Bx@example.com`;
  await api.done(withdrawal, { as: 'ann' });
  expect(await api.refusal(withdrawal, { as: 'ann' })).toEqual([
    404,
    'the organization has no such invitation',
  ]);
  api.knows({ subject: 'cay', ...invited, verified: true });
  expect((await api.send(`GET ${shop}`, { as: 'cay' })).status).toBe(404);
});

test.each([
  '"quoted"@example.com',
  'a b@example.com',
  `${'x'.repeat(300)}@example.com`,
  'nobody',
  '\u{212a}ann@example.com',
])('the address %j is none', async (email) => {
  const { status, text } = await api.send(`POST ${shop}/members`, { as: 'ann', json: { email } });
  expect(status).toBe(400);
  expect(text).toContain('"error":"email: ');
});

test('a member reads, and only owners change members', async () => {
  await join('dan');
  for (const [line, json] of [
    [`POST ${shop}/members`, { email: 'x@example.com' }],
    [`DELETE ${shop}/members/ann`],
    [`PUT ${shop}/members/ann/role`, { role: 'member' }],
    [`DELETE ${shop}/invitations/x@example.com`],
    [`PUT ${shop}/name`, { name: 'Mine' }],
    [`DELETE ${shop}`],
  ] as const) {
    const sent = json === undefined ? {} : { json };
    expect(await api.refusal(line, { as: 'dan', ...sent })).toEqual([
      403,
      'only owners of the organization may do this: ask one of them',
    ]);
    const administrator = await api.send(line, { as: 'root', ...sent });
    expect([line, administrator.status]).toEqual([line, 403]);
  }
  await api.done(`GET ${shop}/members`, { as: 'dan' });
});

/** Routes that answer everybody, and the one that only says whether an id was ever used. */
const OF_NO_ORGANIZATION: ReadonlySet<string> = new Set([
  'getLoginInformation',
  'whoami',
  'listOrganizations',
  'listProjects',
  'createOrganization',
]);

test("hard case 8: a removed member's very next request is answered 404 with the same token, on every route", async () => {
  const organizationId = shop.slice('/organizations/'.length);
  const project = `web-${created}`;
  await api.done(`POST /projects/${project}`, {
    as: 'ann',
    json: { name: 'Web', organizationId },
  });
  const json = { name: 'cart', image: 'it:1' };
  await api.done(`PUT /services/${project}/cart`, { as: 'ann', json });
  await join('eli');
  const token = await api.token('eli');
  const values: Readonly<Record<string, string>> = {
    organizationId,
    projectId: project,
    name: 'cart',
    subject: 'ann',
    email: 'x@example.com',
  };
  const answers: unknown[] = [];
  const expected: unknown[] = [];
  for (const [name, { method, path }] of Object.entries<Route>(ROUTES)) {
    if (OF_NO_ORGANIZATION.has(name)) continue;
    const target =
      name === 'createProject'
        ? `/projects/new-${project}`
        : path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => values[parameter]!);
    await api.done(`POST ${shop}/members/eli/repair`, { as: 'root', json: { role: 'owner' } });
    expect((await api.send(`GET ${shop}`, { token })).status).toBe(200);
    await api.done(`DELETE ${shop}/members/eli`, { as: 'ann' });
    const body = { name: 'New', organizationId };
    const { status } = await api.send(`${method} ${target}`, {
      token,
      ...(name === 'createProject' && { json: body }),
    });
    answers.push([name, status]);
    expected.push([name, 404]);
  }
  expect(answers).toEqual(expected);
  for (const list of ['/organizations', '/projects'])
    expect(await api.done(`GET ${list}`, { token })).toEqual([]);
  expect(await api.done('GET /auth/whoami', { token })).toMatchObject({ organizations: [] });
  expect(await api.refusal(`DELETE ${shop}/members/eli`, { as: 'ann' })).toEqual([
    404,
    'the organization has no such member',
  ]);
});

test('a role that is lowered or raised counts from the very next request on', async () => {
  await join('gus', 'owner');
  const rename = { as: 'gus', json: { name: 'Shop of Gus' } };
  const setRole = async (role: string) =>
    await api.done(`PUT ${shop}/members/gus/role`, { as: 'ann', json: { role } });
  await api.done(`PUT ${shop}/name`, rename);
  await setRole('member');
  expect((await api.send(`PUT ${shop}/name`, rename)).status).toBe(403);
  expect(await api.done(`GET ${shop}`, { as: 'gus' })).toMatchObject({ role: 'member' });
  await setRole('owner');
  await api.done(`PUT ${shop}/name`, rename);
});

test('two owners who demote each other at the same moment leave one', async () => {
  await join('fay', 'owner');
  const demoted = await Promise.all(
    (['ann', 'fay'] as const).map((as) =>
      api.send(`PUT ${shop}/members/${as === 'ann' ? 'fay' : 'ann'}/role`, {
        as,
        json: { role: 'member' },
      }),
    ),
  );
  const statuses = demoted.map(({ status }) => status).toSorted((a, b) => a - b);
  // The second one is judged as an owner before the first is done, or as a member afterwards.
  expect([
    [204, 403],
    [204, 409],
  ]).toContainEqual(statuses);
});

test('the last owner stays', async () => {
  const last = 'this is the last owner of the organization: make another member an owner first';
  expect(await api.refusal(`DELETE ${shop}/members/ann`, { as: 'ann' })).toEqual([409, last]);
  const json = { role: 'member' };
  for (const [line, as] of [
    [`PUT ${shop}/members/ann/role`, 'ann'],
    [`POST ${shop}/members/ann/repair`, 'root'],
  ] as const)
    expect(await api.refusal(line, { as, json })).toEqual([409, last]);
});

test('an administrator adds a member by subject, and sets the role of one', async () => {
  const line = `POST ${shop}/members/auth0%7Ca%2Fb/repair`;
  await api.done(line, { as: 'root' });
  const added = { subject: 'auth0|a/b', role: 'owner', email: '', display: 'auth0|a/b' };
  expect(await api.done(`GET ${shop}/members`, { as: 'root' })).toMatchObject({
    members: [{ subject: 'ann' }, { ...added, since: TIME, addedBy: 'Root' }],
  });
  api.knows({ subject: 'auth0|a/b', name: 'Gus', email: 'gus@example.com', verified: true });
  await api.done(`GET ${shop}`, { as: 'auth0|a/b' });
  await api.done(line, { as: 'root', json: { role: 'member' } });
  expect(await api.done(`GET ${shop}/members`, { as: 'ann' })).toMatchObject({
    members: [
      { subject: 'ann' },
      { ...added, role: 'member', email: 'gus@example.com', display: 'Gus' },
    ],
  });
  await api.done(`DELETE ${shop}/members/auth0%7Ca%2Fb`, { as: 'ann' });
  expect((await api.send(line, { as: 'ann' })).status).toBe(403);
  expect(
    await api.refusal(`POST ${shop}/members/${'x'.repeat(300)}/repair`, { as: 'root' }),
  ).toEqual([400, 'subject: is longer than 255 characters']);
});

test('a creation that is sent again with its key is done once, whichever invitations its caller claims', async () => {
  const email = `hal@${shop.slice('/organizations/'.length)}.example`;
  await api.done(`POST ${shop}/members`, { as: 'ann', json: { email } });
  api.knows({ subject: 'hal', email, verified: true });
  const creation = 'POST /organizations/hal';
  const sent = { as: 'hal', json: { name: 'Own' }, headers: { 'idempotency-key': 'create-1' } };
  expect((await api.send(creation, sent)).status).toBe(204);
  expect((await api.send(creation, sent)).status).toBe(204);
  await api.done('POST /organizations/a-first', { as: 'ann', json: { name: 'First' } });
  await api.done('POST /organizations/a-first/members', { as: 'ann', json: { email } });
  expect((await api.send(creation, sent)).status).toBe(204);
  for (const path of [shop, '/organizations/a-first'])
    expect(await api.done(`GET ${path}`, { as: 'hal' })).toMatchObject({ role: 'member' });
});

test('an invitation of a member whose address was not known ends, and changes nothing', async () => {
  await api.done(`POST ${shop}/members/mia/repair`, { as: 'root', json: { role: 'member' } });
  const json = { email: 'mia@example.com', role: 'owner' };
  await api.done(`POST ${shop}/members`, { as: 'ann', json });
  api.knows({ subject: 'mia', email: 'mia@example.com', verified: true });
  await api.done(`GET ${shop}`, { as: 'mia' });
  expect(await api.done(`GET ${shop}/members`, { as: 'ann' })).toMatchObject({
    members: [{ subject: 'ann' }, { subject: 'mia', role: 'member' }],
    invitations: [],
  });
});
