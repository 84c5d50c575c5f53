// Organizations: creating, and who sees them.
import { expect, test } from 'vitest';
import { organization } from '../../../control-plane/model/organization.ts';
import { ApiUnderTest } from './api-under-test.ts';

const SHOP = 'POST /organizations/shop';

test('a caller creates an organization, and is its first owner', async () => {
  const api = await ApiUnderTest.start();
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
  const api = await ApiUnderTest.start();
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
  const api = await ApiUnderTest.start({ policy: { creation: 'platform-admin' } });
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
  expect(await api.refusal(SHOP, { as: 'ann', json: { name: 'Shop' } })).toEqual([
    403,
    'organizations are created by the platform administrator',
  ]);
});

test.each([
  ['verified-email', undefined, 'verify yours'],
  ['platform-admin', 'https://svc.test/signup', 'administrator: see https://svc.test/signup'],
] as const)('the policy %s refuses, and creates nothing', async (creation, signupUrl, words) => {
  const api = await ApiUnderTest.start({ policy: { creation, signupUrl } });
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
});

test('only an administrator names the owner, who is then the only member', async () => {
  const api = await ApiUnderTest.start();
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
