// Tokens that people and machines get from a real provider, in each way in which the platform's users get them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callerOf } from '../../control-plane/access/token-caller.ts';
import { TokenVerifier } from '../../tokens/token-verifier.ts';
import { TOKEN_FAULTS } from '../../tokens/token-fault.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import {
  logIn,
  logInWithDevice,
  machineToken,
  refreshed,
} from '../support/identity-provider/logins.ts';
import { OTHER_AUDIENCE } from '../support/identity-provider/provider-rules.ts';
import { VerifierUnderTest } from './verifier-under-test.ts';

let provider: IdentityProvider;
let under: VerifierUnderTest;

beforeAll(async () => {
  provider = new IdentityProvider();
  provider.people.set('ada', { name: 'Ada', email: 'Ada@Example.com', verified: true });
  provider.people.set('bob', { name: 'Bob', email: 'bob@example.com', verified: false });
  provider.people.set('eve', { name: 'Eve', email: 'eve@example.com', verified: 'false' });
  provider.people.set('root', { verified: true, roles: ['other', 'platform-admin'] });
  provider.machines.set('ops', { secret: 'ops-secret', roles: ['platform-admin'] });
  await provider.listen();
  await provider.rotate();
  under = new VerifierUnderTest(provider);
});

afterAll(() => provider.stop());

describe('a person is known by', () => {
  test('a login with code and PKCE, and its refreshed token', async () => {
    const tokens = await logIn(provider, 'ada');
    const ada = {
      subject: 'ada',
      name: 'Ada',
      email: 'Ada@Example.com',
      emailVerified: true,
      platformAdmin: false,
    };
    expect(await under.caller(tokens.access_token)).toEqual(ada);
    const next = await refreshed(provider, tokens.refresh_token);
    expect(next.access_token).not.toBe(tokens.access_token);
    expect(await under.caller(next.access_token)).toEqual(ada);
  });

  test('a login with a code on another device', async () => {
    const { access_token: token } = await logInWithDevice(provider, 'root');
    expect(await under.caller(token)).toEqual({
      subject: 'root',
      emailVerified: false,
      platformAdmin: true,
    });
  });

  test.each(['bob', 'eve'])('no address that is not verified: %s', async (subject) => {
    const { access_token: token } = await logIn(provider, subject);
    expect(await under.caller(token)).toMatchObject({ subject, emailVerified: false });
  });
});

test('a caller is known by the clock of the machine, as in a program', async () => {
  const verifier = new TokenVerifier({
    settings: under.settings,
    callerOf: (claims) => callerOf(claims, under.settings.rolesPath),
    log: () => undefined,
  });
  const token = await machineToken(provider, 'ci');
  const outcomes = [
    await verifier.verify([`Bearer ${token}`]),
    await verifier.verify([`Bearer ${token}`]),
  ];
  expect(outcomes.map(({ kind }) => kind)).toEqual(['known', 'known']);
  verifier.close();
});

test('a machine is known by its client credentials, with its roles', async () => {
  expect(await under.caller(await machineToken(provider, 'ci'))).toEqual({
    subject: 'ci',
    emailVerified: false,
    platformAdmin: false,
  });
  expect(await under.caller(await machineToken(provider, 'ops'))).toMatchObject({
    subject: 'ops',
    platformAdmin: true,
  });
});

test('refused are an ID token, a refresh token, and a token for another audience', async () => {
  const tokens = await logIn(provider, 'ada');
  expect(await under.verdict(tokens.id_token)).toBe(TOKEN_FAULTS.audience);
  expect(await under.verdict(tokens.refresh_token)).toBe(TOKEN_FAULTS.malformed);
  expect(await under.verdict(await machineToken(provider, 'ci', OTHER_AUDIENCE))).toBe(
    TOKEN_FAULTS.audience,
  );
});
