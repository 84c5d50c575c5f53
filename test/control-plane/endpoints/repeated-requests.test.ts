// Requests whose outcome depends on others that are not finished, and requests that are sent again with another body.
import { expect, test } from 'vitest';
import { PENDING_CLAIMS_MAX } from '../../../control-plane/model/claims.ts';
import { hostname } from '../../../control-plane/model/hostname.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { accepted } from '../control-plane-under-test.ts';
import { ApiUnderTest } from './api-under-test.ts';

test('a request that was answered 503 is tried again when it is repeated with its key, and done once', async () => {
  const api = await ApiUnderTest.start();
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  await api.done('POST /projects/web', {
    as: 'ann',
    json: { name: 'Web', organizationId: 'shop' },
  });
  // A request that gives another service the hostname was cut off.
  const claimed = await api.service.call(hostname, 'a.example').claim({ service: 'web/other' });
  const apply = () =>
    api.send('PUT /services/web/cart', {
      as: 'ann',
      json: { name: 'cart', image: 'cart:1', hostnames: ['a.example'] },
      headers: { 'idempotency-key': 'k' },
    });
  const unsettled = await apply();
  expect([unsettled.status, unsettled.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await apply()).status).toBe(503);
  await api.service.call(hostname, 'a.example').release({ claim: accepted(claimed).id });
  for (let n = 0; n < 2; n++)
    expect(await apply()).toMatchObject({ status: 200, body: { generation: 1 } });
});

test('a request that was answered 429 is tried again when it is repeated with its key', async () => {
  const api = await ApiUnderTest.start();
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  const shop = api.service.call(organization, 'shop');
  const claims: string[] = [];
  for (let n = 0; n < PENDING_CLAIMS_MAX; n++)
    claims.push(accepted(await shop.claimProject({ project: 'web' })).id);
  const create = () =>
    api.send('POST /projects/web', {
      as: 'ann',
      json: { name: 'Web', organizationId: 'shop' },
      headers: { 'idempotency-key': 'k' },
    });
  expect((await create()).status).toBe(429);
  for (const claim of claims) await shop.releaseProject({ project: 'web', claim });
  expect((await create()).status).toBe(204);
  expect((await create()).status).toBe(204);
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

test('a request may be repeated with a token of another name, and the first name stays', async () => {
  const api = await ApiUnderTest.start();
  const requests = [
    ['POST /organizations/shop', { name: 'Shop' }, 204],
    ['POST /projects/web', { name: 'Web', organizationId: 'shop' }, 204],
    ['PUT /services/web/cart', { name: 'cart', image: 'cart:1' }, 200],
    ['POST /organizations/shop/members', { email: 'bob@example.com' }, 204],
  ] as const;
  for (const name of ['Ann', 'Ann B.']) {
    api.knows({ subject: 'ann', name });
    for (const [line, json, status] of requests) {
      const headers = { 'idempotency-key': 'k' };
      expect([line, (await api.send(line, { as: 'ann', json, headers })).status]).toEqual([
        line,
        status,
      ]);
    }
  }
  expect(await api.done('GET /services/web/cart/history', { as: 'ann' })).toMatchObject([
    { kind: 'applied', generation: 1, actor: { subject: 'ann', display: 'Ann' } },
  ]);
  expect(await api.done('GET /organizations/shop/members', { as: 'ann' })).toMatchObject({
    members: [{ subject: 'ann', display: 'Ann' }],
    invitations: [{ email: 'bob@example.com', invitedBy: 'Ann' }],
  });
});

test('the owner that an administrator names is part of the request, also by the name that it gives', async () => {
  const api = await ApiUnderTest.start();
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  const create = (display: string) =>
    api.send('POST /organizations/shop', {
      as: 'root',
      json: { name: 'Shop', owner: { subject: 'mia', display } },
      headers: { 'idempotency-key': 'k' },
    });
  expect((await create('Mia')).status).toBe(204);
  expect((await create('Mia')).status).toBe(204);
  expect((await create('Eve')).status).toBe(422);
});

test('a key counts for one caller, route and path', async () => {
  const api = await ApiUnderTest.start();
  const headers = { 'idempotency-key': 'k' };
  const send = async (line: string, as: string, json?: unknown) =>
    (await api.send(line, { as, headers, ...(json === undefined ? {} : { json }) })).status;
  expect(await send('POST /organizations/shop', 'ann', { name: 'Shop' })).toBe(204);
  expect(await send('POST /organizations/bank', 'ann', { name: 'Bank' })).toBe(204);
  expect(await send('POST /organizations/shop', 'ann', { name: 'Other' })).toBe(422);
  const web = { name: 'Web', organizationId: 'shop' };
  expect(await send('POST /projects/web', 'ann', web)).toBe(204);
  api.knows({ subject: 'bob', email: 'bob@example.com', verified: true });
  const invited = { email: 'bob@example.com' };
  expect(await send('POST /organizations/shop/members', 'ann', invited)).toBe(204);
  const apply = (service: string, as: string) =>
    send(`PUT /services/web/${service}`, as, { name: service, image: 'cart:1' });
  expect(await apply('cart', 'ann')).toBe(200);
  expect(await apply('cart', 'bob')).toBe(200);
  expect(await apply('cart', 'ann')).toBe(200);
  expect(await apply('shop', 'ann')).toBe(200);
  expect(await api.done('GET /services/web/cart', { as: 'ann' })).toMatchObject({ generation: 2 });
});
