// The settings svc.auth.*: defaults, and what is refused.
import { expect, test } from 'vitest';
import { SettingsReader } from '@svc/kit/settings-reader';
import { AUTH_DEFAULTS } from '../../tokens/auth-section.ts';
import { readTokenSettings, TOKEN_SETTING_NAMES } from '../../tokens/token-settings.ts';

const LEAST = {
  SVC_AUTH_ISSUER: 'https://id.example.org/realms/svc',
  SVC_AUTH_CLIENT_ID: 'svc-cli',
};

function read(env: Readonly<Record<string, string | undefined>>, baseDomain?: string) {
  return readTokenSettings(new SettingsReader(new Map(), { ...LEAST, ...env }), baseDomain);
}

test('the least that is needed gives the defaults, and an audience from the base domain', () => {
  expect(read({}, 'example.org:8443')).toEqual({
    issuer: LEAST.SVC_AUTH_ISSUER,
    clientId: 'svc-cli',
    audience: 'https://api.example.org:8443',
    rolesPath: ['realm_access', 'roles'],
    section: AUTH_DEFAULTS,
  });
  expect(TOKEN_SETTING_NAMES).toContain('svc.auth.stale-keys-ms');
});

test('settings are read by their names', () => {
  const env = {
    SVC_AUTH_AUDIENCE: 'urn:svc',
    SVC_AUTH_ROLES_CLAIM: 'groups',
    SVC_AUTH_STALE_KEYS_MS: '0',
    SVC_AUTH_ALGORITHMS: 'RS512,Ed25519',
  };
  expect(read(env)).toMatchObject({
    audience: 'urn:svc',
    rolesPath: ['groups'],
    section: { staleKeysMs: 0, algorithms: ['RS512', 'Ed25519'] },
  });
});

test.each([
  'http://127.0.0.1:9/x',
  'http://localhost',
  'http://id.svc.localhost:8443',
  'http://[::1]:1',
])('an issuer on the machine itself may be without TLS: %s', (issuer) => {
  expect(read({ SVC_AUTH_ISSUER: issuer }, 'a.b').issuer).toBe(issuer);
});

test.each([
  [{ SVC_AUTH_ISSUER: undefined }, /svc\.auth\.issuer is missing/],
  [{ SVC_AUTH_CLIENT_ID: undefined }, /svc\.auth\.client-id is missing/],
  [{ SVC_AUTH_ISSUER: 'http://id.example.org' }, /svc\.auth\.issuer .*https/],
  [{ SVC_AUTH_ISSUER: 'http://127.0.0.1.example.org' }, /svc\.auth\.issuer/],
  [{ SVC_AUTH_ISSUER: 'id.example.org' }, /svc\.auth\.issuer/],
  [{ SVC_AUTH_ISSUER: 'https://u:p@id.example.org' }, /svc\.auth\.issuer/],
  [{ SVC_AUTH_ISSUER: 'https://id.example.org/?a=b' }, /svc\.auth\.issuer/],
  [{ SVC_AUTH_ISSUER: 'https://id.example.org/#a' }, /svc\.auth\.issuer/],
  [{ SVC_AUTH_ISSUER: 'https://id.example.org\n' }, /svc\.auth\.issuer/],
  [{ SVC_AUTH_AUDIENCE: 'a b' }, /svc\.auth\.audience/],
  [
    { SVC_AUTH_AUDIENCE: 'svc-cli' },
    /svc\.auth\.audience .*another value than svc\.auth\.client-id/,
  ],
  [{ SVC_AUTH_AUDIENCE: '' }, /svc\.auth\.audience/],
  [{ SVC_AUTH_CLIENT_ID: 'svc cli' }, /svc\.auth\.client-id/],
  [{ SVC_AUTH_ROLES_CLAIM: 'a..b' }, /svc\.auth\.roles-claim/],
  [{ SVC_AUTH_ALGORITHMS: 'RS256,HS256' }, /svc\.auth\.algorithms .*HS256/],
  [{ SVC_AUTH_ALGORITHMS: 'none' }, /svc\.auth\.algorithms/],
  [{ SVC_AUTH_STALE_KEYS_MS: '-1' }, /svc\.auth\.stale-keys-ms/],
])('%j is refused', (env, message) => {
  expect(() => read(env, 'example.org')).toThrow(
    expect.objectContaining({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringMatching(message) as string,
    }),
  );
});

test('without a base domain the audience has to be set', () => {
  expect(() => read({})).toThrow(/svc\.auth\.audience is missing/);
});
