// Who the caller is, and what a token does by itself.
import { expect, onTestFinished, test, vi } from 'vitest';
import { NAME_PAUSE_MS, person } from '../../../control-plane/model/person.ts';
import { ApiUnderTest } from './api-under-test.ts';

const GET_TOKEN = 'GET /auth says how to get one';

test('anyone learns how to get a token, and nothing else', async () => {
  await using api = await ApiUnderTest.start();
  const { issuer, audience } = api.provider;
  expect(await api.done('GET /auth')).toEqual({ issuer, audience, clientId: 'svc-cli' });
  const without = await api.send('GET /auth/whoami');
  expect(without.status).toBe(401);
  expect(without.headers.get('www-authenticate')).toBe('Bearer realm="svc"');
  expect(without.text).toContain(GET_TOKEN);
  const bad = await api.send('GET /auth/whoami', { token: 'abc' });
  expect(bad.status).toBe(401);
  expect(bad.headers.get('www-authenticate')).toMatch(/^Bearer realm="svc", error="invalid_token"/);
  expect((await api.send('GET /openapi.json')).status).toBe(401);
  api.provider.fail({ status: 500 });
  const unknown = await api.send('GET /auth/whoami', { as: 'ann' });
  expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await api.send('GET /auth')).status).toBe(200);
});

test('a caller is as its token says, with every organization that it belongs to', async () => {
  await using api = await ApiUnderTest.start();
  api.knows({ subject: 'ann', name: 'Ann', email: 'Ann@example.com', verified: true });
  expect(await api.done('GET /auth/whoami', { as: 'ann' })).toEqual({
    subject: 'ann',
    name: 'Ann',
    email: 'Ann@example.com',
    emailVerified: true,
    platformAdmin: false,
    organizations: [],
  });
  expect(await api.done('GET /auth/whoami', { as: 'ci' })).toEqual({
    subject: 'ci',
    emailVerified: false,
    platformAdmin: false,
    organizations: [],
  });
  await api.done('POST /organizations/shop', { as: 'ann', json: { name: 'Shop' } });
  await api.done('POST /organizations/bank', { as: 'ann', json: { name: 'Bank' } });
  expect(await api.done('GET /auth/whoami', { as: 'ann' })).toMatchObject({
    organizations: [
      { id: 'bank', name: 'Bank', role: 'owner' },
      { id: 'shop', name: 'Shop', role: 'owner' },
    ],
  });
});

test('name and address are kept as they were seen last, without a write for each request', async () => {
  await using api = await ApiUnderTest.start();
  const seen = async () => (await api.service.readEvents(person, 'ann')).map(({ event }) => event);
  api.knows({ subject: 'ann', name: 'Ann', email: 'ann@example.com', verified: true });
  await api.done('GET /auth/whoami', { as: 'ann' });
  await api.done('GET /auth/whoami', { as: 'ann' });
  const first = { type: 'seen', name: 'Ann', email: 'ann@example.com', atMs: expect.any(Number) };
  expect(await seen()).toEqual([first]);
  api.knows({ subject: 'ann' });
  await api.done('GET /auth/whoami', { as: 'ann' });
  expect(await seen()).toEqual([first]);
  for (let n = 0; n < 10; n++) {
    api.knows({ subject: 'ann', name: `Ann ${n}` });
    await api.done('GET /auth/whoami', { as: 'ann' });
  }
  expect(await seen()).toEqual([first]);
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(Date.now() + NAME_PAUSE_MS);
  api.knows({ subject: 'ann', name: 'Ann B.' });
  await api.done('GET /auth/whoami', { as: 'ann' });
  expect(await seen()).toEqual([first, { ...first, name: 'Ann B.' }]);
});

test('a request that is too many stores nothing', async () => {
  await using api = await ApiUnderTest.start({
    limits: { requestsPerMinuteMax: 1, writesPerMinuteMax: 1 },
  });
  const seen = async () => await api.service.readEvents(person, 'ann');
  await api.done('GET /auth/whoami', { as: 'ann' });
  api.knows({ subject: 'ann', name: 'Ann', email: 'ann@example.com', verified: true });
  expect((await api.send('GET /auth/whoami', { as: 'ann' })).status).toBe(429);
  expect((await api.send('GET /organizations/shop', { as: 'ann' })).status).toBe(429);
  expect(await seen()).toEqual([]);
});

test('an address that the provider has not verified is shown to nobody but the caller', async () => {
  await using api = await ApiUnderTest.start();
  const address = 'ceo@bank.example';
  api.knows({ subject: 'mal', email: address });
  expect(await api.done('GET /auth/whoami', { as: 'mal' })).toMatchObject({
    email: address,
    emailVerified: false,
  });
  await api.done('POST /organizations/shop', { as: 'mal', json: { name: 'Shop' } });
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  await api.done('POST /organizations/shop/members/eve/repair', { as: 'root' });
  api.knows({ subject: 'eve', email: address });
  await api.done('GET /organizations/shop', { as: 'eve' });
  expect(await api.done('GET /organizations/shop/members', { as: 'mal' })).toMatchObject({
    members: [
      { subject: 'mal', email: '', display: 'mal', addedBy: 'mal' },
      { subject: 'eve', email: '', display: 'eve' },
    ],
  });
});

test('every caller with a token gets the description of the routes', async () => {
  await using api = await ApiUnderTest.start();
  expect(await api.done('GET /openapi.json', { as: 'ann' })).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: 'https://api.svc.test' }],
  });
});
