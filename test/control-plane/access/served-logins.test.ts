// What people and machines do with their tokens over HTTP, from the login on: with code and PKCE, on another device, refreshed, and with
// client credentials; while keys change, and while the provider is down.
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import {
  logIn,
  logInWithDevice,
  machineToken,
  refreshed,
} from '../../support/identity-provider/logins.ts';
import { CLI_CLIENT, OTHER_AUDIENCE } from '../../support/identity-provider/provider-rules.ts';
import { ServedTokens } from './served-tokens.ts';

const UNAVAILABLE = { status: 503, error: expect.stringMatching(/identity provider/) as string };
const ADA = {
  subject: 'ada',
  name: 'Ada',
  email: 'Ada@Example.com',
  emailVerified: true,
  platformAdmin: false,
};

let provider: IdentityProvider;

beforeEach(async () => {
  provider = new IdentityProvider();
  provider.people.set('ada', { name: 'Ada', email: 'Ada@Example.com', verified: true });
  provider.people.set('bob', { name: 'Bob', email: 'bob@example.com', verified: true });
  provider.machines.set('ops', { secret: 'ops-secret', roles: ['platform-admin'] });
  await provider.listen();
  await provider.rotate();
  onTestFinished(() => provider.stop());
});

describe('with a token of', () => {
  test('a login with code and PKCE, and a refreshed one, a person owns an organization', async () => {
    const api = await ServedTokens.start(provider);
    const login = { issuer: provider.issuer, clientId: CLI_CLIENT, audience: provider.audience };
    expect(await api.send('GET /auth')).toMatchObject({ status: 200, body: login });
    const tokens = await logIn(provider, 'ada');
    const created = await api.send('POST /organizations/acme', tokens.access_token, {
      name: 'Acme',
    });
    expect(created.status).toBe(204);
    const next = await refreshed(provider, tokens.refresh_token);
    expect(next.access_token).not.toBe(tokens.access_token);
    for (const { access_token: token } of [tokens, next])
      expect((await api.send('GET /auth/whoami', token)).body).toEqual({
        ...ADA,
        organizations: [{ id: 'acme', name: 'Acme', role: 'owner' }],
      });
  });

  test('a login on another device, a person becomes the member that was invited', async () => {
    const api = await ServedTokens.start(provider);
    const ada = (await logIn(provider, 'ada')).access_token;
    await api.send('POST /organizations/acme', ada, { name: 'Acme' });
    const invited = { email: 'BOB@example.com' };
    expect((await api.send('POST /organizations/acme/members', ada, invited)).status).toBe(204);
    const bob = (await logInWithDevice(provider, 'bob')).access_token;
    expect(await api.send('GET /organizations/acme', bob)).toMatchObject({
      status: 200,
      body: { id: 'acme', role: 'member' },
    });
  });

  test('client credentials, a machine is who its client is, with its roles', async () => {
    const api = await ServedTokens.start(provider);
    const machine = await machineToken(provider, 'ci');
    expect((await api.send('GET /auth/whoami', machine)).body).toEqual({
      subject: 'ci',
      emailVerified: false,
      platformAdmin: false,
      organizations: [],
    });
    // Its address is not verified, as the policy of this installation demands.
    const body = { name: 'CI' };
    expect((await api.send('POST /organizations/ci', machine, body)).status).toBe(403);
    const ops = await machineToken(provider, 'ops');
    const owner = { ...body, owner: { subject: 'ci' } };
    expect((await api.send('POST /organizations/ci', ops, owner)).status).toBe(204);
    expect((await api.send('GET /organizations/ci', machine)).body).toMatchObject({
      role: 'owner',
    });
  });
});

test('ID tokens, refresh tokens, and tokens for another audience open nothing', async () => {
  const api = await ServedTokens.start(provider);
  const { id_token: id, refresh_token: refresh } = await logIn(provider, 'ada');
  for (const token of [id, refresh, await machineToken(provider, 'ci', OTHER_AUDIENCE)]) {
    const { status, headers, body } = await api.send('GET /auth/whoami', token);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="svc", error="invalid_token"/);
    expect(JSON.stringify(body)).not.toContain(token.slice(0, 20));
  }
});

test('a token expires, and a refreshed one goes on', async () => {
  const api = await ServedTokens.start(provider);
  const tokens = await logIn(provider, 'ada');
  expect(await api.statusFor(tokens.access_token)).toBe(200);
  await api.clock.advance(310_000);
  expect(await api.statusFor(tokens.access_token)).toBe(401);
});

describe('when the provider changes its keys', () => {
  test('tokens of the new key are good at once, and those of the removed key are not any more', async () => {
    const api = await ServedTokens.start(provider);
    const before = await machineToken(provider, 'ci');
    expect(await api.statusFor(before)).toBe(200);
    await provider.rotate();
    await api.clock.advance(5000);
    expect(await api.statusFor(await machineToken(provider, 'ci'))).toBe(200);
    expect(await api.statusFor(before)).toBe(401);
  });

  test('tokens of both keys are good while both are published', async () => {
    const api = await ServedTokens.start(provider);
    const before = await machineToken(provider, 'ci');
    await provider.rotate({ overlap: true });
    expect(await api.statusFor(await machineToken(provider, 'ci'))).toBe(200);
    expect(await api.statusFor(before)).toBe(200);
  });
});

describe('while the provider is down', () => {
  test('known keys are good, others are 503, and all is well when it is back', async () => {
    const api = await ServedTokens.start(provider);
    const known = await machineToken(provider, 'ci');
    expect(await api.statusFor(known)).toBe(200);
    await provider.rotate();
    const unknown = await machineToken(provider, 'ci');
    provider.fail('resets');
    await api.clock.advance(5000);
    const { status, headers, body } = await api.send('GET /auth/whoami', unknown);
    expect({ status, body }).toEqual({ status: 503, body: UNAVAILABLE });
    expect(headers.get('retry-after')).toBe('5');
    expect(await api.statusFor(known)).toBe(200);
    expect((await api.send('GET /auth')).status).toBe(200);
    provider.recover();
    await api.clock.advance(5000);
    expect(await api.statusFor(unknown)).toBe(200);
  });

  test('a provider that starts after the control plane is found', async () => {
    const token = await machineToken(provider, 'ci');
    const { port } = new URL(provider.issuer);
    await provider.stop();
    const api = await ServedTokens.start(provider);
    expect(await api.statusFor(token)).toBe(503);
    await provider.listen(Number(port));
    await api.clock.advance(1000);
    expect(await api.statusFor(token)).toBe(200);
  });
});
