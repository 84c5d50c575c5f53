// Requests whose outcome depends on others that are not finished, and requests that are sent again with another body.
import { expect, test } from 'vitest';
import { organization } from '../../../control-plane/model/organization.ts';
import { ApiUnderTest } from './api-under-test.ts';

test('a conflict that may come to nothing is answered 503, and one that exists 409', async () => {
  const api = await ApiUnderTest.start();
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  // A request that creates a project was cut off.
  await api.service.call(organization, 'shop').claimProject({ project: 'web' });
  const unsettled = await api.send('DELETE /organizations/shop', { as: 'ann' });
  expect([unsettled.status, unsettled.headers.get('retry-after')]).toEqual([503, '1']);
  const project = { name: 'Web', organizationId: 'shop' };
  await api.done('POST /projects/web', { as: 'ann', json: project });
  const [status] = await api.refusal('DELETE /organizations/shop', { as: 'ann' });
  expect(status).toBe(409);
});

test('a key that is sent again with another body is answered 422, and changes nothing', async () => {
  const api = await ApiUnderTest.start();
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  const create = (name: string) =>
    api.send('POST /projects/web', {
      as: 'ann',
      json: { name, organizationId: 'shop' },
      headers: { 'idempotency-key': 'k' },
    });
  expect((await create('Web')).status).toBe(204);
  expect((await create('Other')).status).toBe(422);
  expect((await create('Web')).status).toBe(204);
  expect(await api.done('GET /projects/web', { as: 'ann' })).toMatchObject({ name: 'Web' });
  const [status] = await api.refusal('DELETE /organizations/shop', { as: 'ann' });
  expect(status).toBe(409);
});

test('a member is repaired once, also if its name becomes known before the request is repeated', async () => {
  const api = await ApiUnderTest.start();
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  const repair = () =>
    api.send('POST /organizations/shop/members/mia/repair', {
      as: 'root',
      headers: { 'idempotency-key': 'k' },
    });
  expect((await repair()).status).toBe(204);
  api.knows({ subject: 'mia', name: 'Mia' });
  await api.done('GET /auth/whoami', { as: 'mia' });
  expect((await repair()).status).toBe(204);
  expect(await api.done('GET /organizations/shop/members', { as: 'ann' })).toMatchObject({
    members: [{ subject: 'ann' }, { subject: 'mia', role: 'owner', display: 'Mia' }],
  });
});
