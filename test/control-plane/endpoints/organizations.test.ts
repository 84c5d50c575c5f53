// Organizations: creating, and who sees them.
import { expect, test } from 'vitest';
import { organization } from '../../../control-plane/model/organization.ts';
import { ApiUnderTest } from './api-under-test.ts';

const SHOP = 'POST /organizations/shop';

test('a caller creates an organization, and is its first owner', async () => {
  await using api = await ApiUnderTest.start();
  const created = await api.send(SHOP, { as: 'ann', json: { name: 'Shop' } });
  expect([created.status, created.text]).toEqual([204, '']);
  const summary = { id: 'shop', name: 'Shop', projects: 0, disabled: false };
  expect(await api.done('GET /organizations/shop', { as: 'ann' })).toEqual({
    ...summary,
    role: 'owner',
  });
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  expect(await api.done('GET /organizations/shop', { as: 'root' })).toEqual(summary);
  expect(await api.refusal(SHOP, { as: 'bob', json: { name: 'Mine' } })).toEqual([
    409,
    expect.stringContaining('used before'),
  ]);
});

test('a stranger gets what nobody has gets', async () => {
  await using api = await ApiUnderTest.start();
  await api.done(SHOP, { as: 'ann', json: { name: 'Shop' } });
  const shown = async (id: string) => {
    const { status, headers, text } = await api.send(`GET /organizations/${id}`, { as: 'bob' });
    return [status, [...headers].filter(([name]) => name !== 'date'), text];
  };
  const never = await shown('never');
  expect(never[0]).toBe(404);
  expect(await shown('shop')).toEqual(never);
  expect(await shown('No_Id')).toEqual(never);
  expect(await shown('x'.repeat(5000))).toEqual(never);
});

test('creating reads the id and the body before the caller is judged', async () => {
  await using api = await ApiUnderTest.start({ policy: { creation: 'platform-admin' } });
  expect(
    await api.refusal('POST /organizations/9-Shop', { as: 'ann', json: { nam: 'x' } }),
  ).toEqual([
    400,
    [
      'body: has the unknown field "nam": the fields are name, owner',
      'name: is missing',
      'organizationId: is "9-Shop", which is no id of an organization: lower-case letters, digits and hyphens, a letter first',
    ].join('\n'),
  ]);
  expect(await api.refusal(SHOP, { as: 'ann' })).toEqual([400, 'body: is missing']);
  const json = { name: 'Shop' };
  const [longest, longer] = [63, 64].map((length) => `POST /organizations/${'a'.repeat(length)}`);
  expect((await api.refusal(longest!, { as: 'ann', json }))[0]).toBe(403);
  expect(await api.refusal(longer!, { as: 'ann', json })).toEqual([
    400,
    'organizationId: is longer than 63 characters',
  ]);
  expect(await api.refusal(SHOP, { as: 'ann', json: { name: 'Shop' } })).toEqual([
    403,
    'organizations are created by the platform administrator',
  ]);
});

test.each([
  ['verified-email', undefined, 'verify yours'],
  ['platform-admin', 'https://svc.test/signup', 'administrator: see https://svc.test/signup'],
] as const)(
  'hard case 12: the policy %s refuses, and creates nothing',
  async (creation, signupUrl, words) => {
    await using api = await ApiUnderTest.start({ policy: { creation, signupUrl } });
    const body = { json: { name: 'Shop' } };
    expect(await api.refusal(SHOP, { as: 'ann', ...body })).toEqual([
      403,
      expect.stringContaining(words),
    ]);
    api.knows({ subject: 'root', roles: ['platform-admin'] });
    await api.done(SHOP, { as: 'root', ...body });
    api.knows({ subject: 'ann', email: 'ann@example.com', verified: true });
    const verified = await api.send('POST /organizations/bank', { as: 'ann', ...body });
    expect(verified.status).toBe(creation === 'verified-email' ? 204 : 403);
    const [created] = await api.service.readEvents(organization, 'shop');
    expect(created!.event).toMatchObject({
      by: { subject: 'root', administrative: creation === 'platform-admin' },
    });
  },
);

test('hard case 12: only an administrator names the owner, who is then the only member', async () => {
  await using api = await ApiUnderTest.start();
  const json = {
    name: 'Shop',
    owner: { subject: 'ann', email: 'ann@example.com', display: 'Ann' },
  };
  expect(await api.refusal(SHOP, { as: 'bob', json })).toEqual([
    403,
    'only platform administrators may name the owner of a new organization',
  ]);
  api.knows({ subject: 'root', name: 'Root', roles: ['platform-admin'] });
  expect(
    await api.refusal(SHOP, {
      as: 'root',
      json: { ...json, owner: { subject: 'ann', email: '"a"@b.c' } },
    }),
  ).toEqual([400, expect.stringContaining('owner/email: is ')]);
  await api.done(SHOP, { as: 'root', json });
  expect(await api.done('GET /organizations/shop', { as: 'ann' })).toMatchObject({ role: 'owner' });
  expect(await api.done('GET /organizations/shop', { as: 'root' })).not.toHaveProperty('role');
});

test('owners rename and delete; an id that was used is never free again', async () => {
  await using api = await ApiUnderTest.start();
  await api.done(SHOP, { as: 'ann', json: { name: 'Shop' } });
  const renaming = { as: 'ann', json: { name: 'Big shop' } };
  expect((await api.send('PUT /organizations/shop/name', renaming)).status).toBe(204);
  expect(await api.done('GET /organizations/shop', { as: 'ann' })).toMatchObject({
    name: 'Big shop',
  });
  await api.done('POST /projects/web', {
    as: 'ann',
    json: { name: 'Web', organizationId: 'shop' },
  });
  expect(await api.refusal('DELETE /organizations/shop', { as: 'ann' })).toEqual([
    409,
    'the organization has projects: delete them first',
  ]);
  await api.done('DELETE /projects/web', { as: 'ann' });
  await api.done('DELETE /organizations/shop', { as: 'ann' });
  expect((await api.send('GET /organizations/shop', { as: 'ann' })).status).toBe(404);
  expect((await api.send(SHOP, { as: 'ann', json: { name: 'Shop' } })).status).toBe(409);
  expect(await api.done('GET /organizations', { as: 'ann' })).toEqual([]);
});

test('a list has what the caller belongs to; for an administrator, all', async () => {
  await using api = await ApiUnderTest.start();
  for (const id of ['shop', 'bank', 'gone'])
    await api.done(`POST /organizations/${id}`, { as: 'ann', json: { name: id } });
  await api.done('POST /organizations/own', { as: 'root', json: { name: 'own' } });
  await api.done('POST /projects/web', {
    as: 'ann',
    json: { name: 'Web', organizationId: 'shop' },
  });
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  await api.done('POST /organizations/bank/disable', { as: 'root' });
  await api.done('DELETE /organizations/gone', { as: 'ann' });
  const bank = { id: 'bank', name: 'bank', projects: 0, disabled: true };
  const shop = { id: 'shop', name: 'shop', projects: 1, disabled: false };
  const own = { id: 'own', name: 'own', projects: 0, disabled: false, role: 'owner' };
  expect(await api.done('GET /organizations', { as: 'ann' })).toEqual([
    { ...bank, role: 'owner' },
    { ...shop, role: 'owner' },
  ]);
  expect(await api.done('GET /organizations', { as: 'root' })).toEqual([bank, own, shop]);
  expect(await api.done('GET /organizations', { as: 'bob' })).toEqual([]);
});

test('while an organization is disabled its members read, and change nothing', async () => {
  await using api = await ApiUnderTest.start();
  await api.done(SHOP, { as: 'ann', json: { name: 'Shop' } });
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  expect(await api.refusal('POST /organizations/shop/disable', { as: 'ann' })).toEqual([
    403,
    'only platform administrators may do this',
  ]);
  expect((await api.send('POST /organizations/shop/disable', { as: 'bob' })).status).toBe(404);
  await api.done('POST /organizations/shop/disable', { as: 'root' });
  await api.done('POST /organizations/shop/disable', { as: 'root' });
  expect(await api.done('GET /organizations/shop', { as: 'ann' })).toMatchObject({
    disabled: true,
  });
  for (const line of ['PUT /organizations/shop/name', 'DELETE /organizations/shop'])
    expect(await api.refusal(line, { as: 'ann' })).toEqual([
      403,
      expect.stringContaining('is disabled'),
    ]);
  const creation = { as: 'ann', json: { name: 'Web', organizationId: 'shop' } };
  expect(await api.refusal('POST /projects/web', creation)).toEqual([
    403,
    expect.stringContaining('is disabled'),
  ]);
  await api.done('POST /organizations/shop/members/bob/repair', { as: 'root' });
  await api.done('POST /organizations/shop/enable', { as: 'root' });
  await api.done('POST /projects/web', creation);
});

test('requests beyond the limits of a caller are answered 429', async () => {
  await using api = await ApiUnderTest.start({
    limits: { requestsPerMinuteMax: 4, writesPerMinuteMax: 1 },
  });
  await api.done(SHOP, { as: 'ann', json: { name: 'Shop' } });
  const second = await api.send('POST /organizations/bank', { as: 'ann', json: { name: 'Bank' } });
  expect([second.status, second.headers.get('ratelimit-limit')]).toEqual([429, '1']);
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
  await api.done('GET /organizations/shop', { as: 'ann' });
  await api.done('GET /openapi.json', { as: 'ann' });
  expect((await api.send('GET /auth/whoami', { as: 'ann' })).status).toBe(429);
  await api.done('GET /auth/whoami', { as: 'bob' });
});
