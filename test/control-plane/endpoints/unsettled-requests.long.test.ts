// Requests whose outcome depends on others that are not finished: each waits for them for a second and a half.
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
