// The settings of `svc login-provider`: defaults, and what stops the start.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { LOGIN_PROVIDER_DEFAULTS } from '../../login-provider/login-provider-section.ts';
import { readLoginProviderSettings } from '../../login-provider/login-provider-settings.ts';

const LEAST = {
  SVC_LOGIN_PROVIDER_PEOPLE: 'people.yaml',
  SVC_LOGIN_PROVIDER_AUDIENCE: 'https://api.example.org',
};

function read(env: Readonly<Record<string, string | undefined>>, args: readonly string[] = []) {
  return readLoginProviderSettings({ args, env: { ...LEAST, ...env }, stderrIsTerminal: true });
}

test('the least that is needed gives the defaults', () => {
  expect(read({})).toEqual({
    peopleFile: resolve('people.yaml'),
    audience: 'https://api.example.org',
    issuer: undefined,
    dataFolder: resolve('.svc/login-provider'),
    host: '127.0.0.1',
    tls: undefined,
    logFormat: 'text',
    section: LOGIN_PROVIDER_DEFAULTS,
  });
});

test.each(['127.0.0.1', '127.83.0.2', '::1', 'localhost'])('it listens at %s', (host) => {
  expect(read({}, ['--host', host]).host).toBe(host);
});

test.each(['0.0.0.0', '::', '10.0.0.1', 'login.example.org', '::ffff:10.0.0.1'])(
  'it listens at no address that other machines reach, with TLS neither: %s',
  (host) => {
    const tls = { SVC_LOGIN_PROVIDER_TLS_CERTIFICATE: 'c', SVC_LOGIN_PROVIDER_TLS_KEY: 'k' };
    for (const env of [{}, tls])
      expect(() => read(env, ['--host', host])).toThrow(/takes a loopback address/);
  },
);

test.each(['https://login.svc.localhost:8443', 'http://127.0.0.1:9', 'http://localhost:9'])(
  'the issuer may be %s',
  (issuer) => {
    expect(read({ SVC_LOGIN_PROVIDER_ISSUER: issuer }).issuer).toBe(issuer);
  },
);

test.each([
  [{ SVC_LOGIN_PROVIDER_PEOPLE: undefined }, /svc\.login-provider\.people is missing/],
  [{ SVC_LOGIN_PROVIDER_AUDIENCE: undefined }, /svc\.login-provider\.audience is missing/],
  [{ SVC_LOGIN_PROVIDER_AUDIENCE: 'api' }, /absolute URI/],
  [{ SVC_LOGIN_PROVIDER_AUDIENCE: 'https://a.example/#b' }, /absolute URI/],
  [{ SVC_LOGIN_PROVIDER_ISSUER: 'http://login.example.org' }, /an origin/],
  [{ SVC_LOGIN_PROVIDER_ISSUER: 'https://login.example.org/' }, /an origin/],
  [{ SVC_LOGIN_PROVIDER_ISSUER: 'https://login.example.org/a' }, /an origin/],
  [{ SVC_LOGIN_PROVIDER_ISSUER: 'login' }, /an origin/],
  [{ SVC_LOGIN_PROVIDER_TLS_KEY: 'k' }, /belong together/],
  [{ SVC_LOGIN_PROVIDER_PORT: '65536' }, /svc\.login-provider\.port/],
])('%j stops the start', (env, message) => {
  expect(() => read(env)).toThrow(message);
});
