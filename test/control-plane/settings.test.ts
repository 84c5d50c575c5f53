// The settings of `svc control-plane`: defaults, what each of them is read from, and what stops the start.
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONTROL_PLANE_DEFAULTS } from '../../control-plane/program/control-plane-section.ts';
import { readControlPlaneSettings } from '../../control-plane/program/control-plane-settings.ts';

const LEAST = {
  SVC_AUTH_ISSUER: 'https://id.example.org',
  SVC_AUTH_CLIENT_ID: 'svc-cli',
  SVC_CONTROL_PLANE_BASE_DOMAIN: 'example.org',
};

function read(env: Readonly<Record<string, string | undefined>>, args: readonly string[] = []) {
  return readControlPlaneSettings({ args, env: { ...LEAST, ...env }, stderrIsTerminal: true });
}

function refusal(message: RegExp, code = 'SVC_SETTING_INVALID') {
  return expect.objectContaining({ code, message: expect.stringMatching(message) as string });
}

test('the least that is needed gives the defaults', () => {
  expect(read({})).toMatchObject({
    deployed: false,
    dataFolder: resolve('.svc/control-plane'),
    host: '127.0.0.1',
    tls: undefined,
    baseDomain: 'example.org',
    policy: { creation: 'anyone', signupUrl: undefined },
    tokens: { audience: 'https://api.example.org' },
    otlp: undefined,
    logFormat: 'text',
    section: CONTROL_PLANE_DEFAULTS,
  });
});

test('a deployed control plane has its journal in /data, and logs JSON', () => {
  expect(read({}, ['--deployed'])).toMatchObject({
    deployed: true,
    dataFolder: '/data',
    host: '127.0.0.1',
    management: { host: '0.0.0.0', port: 7626 },
    logFormat: 'json',
  });
});

test('its journal is in a database that a file or a variable names, and not in two', () => {
  expect(read({ SVC_DATABASE_URL_FILE: '/etc/svc/db' }).database).toEqual({
    urlFile: '/etc/svc/db',
  });
  expect(read({ SVC_DATABASE_URL_VARIABLE: 'DB_URL' }).database).toEqual({ urlVariable: 'DB_URL' });
  const SVC_DATABASE_AUTHORITIES_FILE = '/etc/ca.pem';
  expect(
    read({ SVC_DATABASE_URL_VARIABLE: 'DB_URL', SVC_DATABASE_AUTHORITIES_FILE }).database,
  ).toEqual({ urlVariable: 'DB_URL', authoritiesFile: '/etc/ca.pem' });
  expect(() => read({ SVC_DATABASE_AUTHORITIES_FILE })).toThrow(
    'svc.database.url-file or svc.database.url-variable',
  );
  expect(read({}).database).toBeUndefined();
  expect(() =>
    read({ SVC_DATABASE_URL_FILE: '/etc/svc/db', SVC_DATABASE_URL_VARIABLE: 'DB_URL' }),
  ).toThrow(refusal(/no value beside svc\.database\.url-file/));
});

test('routes are published in the folder of the machine, at a path that a socket can have', () => {
  const folder = `/${'a'.repeat(92)}`;
  expect(read({ SVC_LOCAL_FOLDER: '/m' }).local).toMatchObject({
    routesSocket: '/m/routes.sock',
    routesFile: '/m/routes.json',
  });
  expect(() => read({ SVC_LOCAL_FOLDER: folder })).toThrow(
    /svc\.local\.routes-socket.*at most 103 bytes.*this one has 105/,
  );
  expect(
    read({ SVC_LOCAL_FOLDER: folder, SVC_LOCAL_ROUTES_SOCKET: '/run/r.sock' }).local,
  ).toMatchObject({ routesSocket: '/run/r.sock', routesFile: `${folder}/routes.json` });
});

const drainMs = (env: Record<string, string>, args: string[] = []) =>
  read({ SVC_LOCAL_FOLDER: '/m', ...env }, args).local?.rollout.drainMs;

test('requests in flight have two seconds when an instance is replaced, and ten at most', () => {
  expect(drainMs({})).toBe(2000);
  expect(drainMs({ SVC_ROLLOUT_DRAIN_MS: '10000' })).toBe(10_000);
  expect(drainMs({}, ['--set', 'svc.rollout.drain-ms=0'])).toBe(0);
  expect(() => drainMs({ SVC_ROLLOUT_DRAIN_MS: '10001' })).toThrow(/svc\.rollout\.drain-ms/);
});

test('settings are read by their names and from flags', () => {
  const env = {
    SVC_CONTROL_PLANE_BASE_DOMAIN: 'svc.localhost:8443',
    SVC_CONTROL_PLANE_HOST: '0.0.0.0',
    SVC_CONTROL_PLANE_TLS_CERTIFICATE: 'tls.crt',
    SVC_CONTROL_PLANE_TLS_KEY: '/etc/tls.key',
    SVC_CONTROL_PLANE_WRITES_PER_MINUTE_MAX: '60',
    SVC_ORGANIZATION_CREATION: 'platform-admin',
    SVC_SIGNUP_URL: 'https://example.org/signup?from=svc',
    SVC_MANAGEMENT_PORT: '0',
    SVC_RUNNING_DIR: 'running',
    SVC_OBSERVABILITY_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  };
  const args = ['--port', '0', '--data', 'a', '--log=json', '--set', 'svc.auth.audience=urn:svc'];
  expect(read(env, args)).toMatchObject({
    dataFolder: resolve('a'),
    host: '0.0.0.0',
    tls: { certificate: resolve('tls.crt'), key: '/etc/tls.key' },
    baseDomain: 'svc.localhost:8443',
    policy: { creation: 'platform-admin', signupUrl: 'https://example.org/signup?from=svc' },
    tokens: { audience: 'urn:svc' },
    management: { port: 0 },
    runningFolder: 'running',
    otlp: { url: 'http://127.0.0.1:4318/v1/traces' },
    logFormat: 'json',
    section: { port: 0, writesPerMinuteMax: 60, requestsPerMinuteMax: 0 },
  });
});

test('with a base domain that has a port, the audience has it, too', () => {
  expect(read({ SVC_CONTROL_PLANE_BASE_DOMAIN: 'a.test:8443' }).tokens.audience).toBe(
    'https://api.a.test:8443',
  );
});

describe('the policy for creating organizations', () => {
  test.each(['anyone', 'verified-email', 'platform-admin'])('can be %s', (creation) => {
    expect(read({ SVC_ORGANIZATION_CREATION: creation }).policy.creation).toBe(creation);
  });

  test.each(['', 'nobody', 'Anyone', 'platform_admin', 'anyone ', 'anyone,verified-email'])(
    'cannot be %j',
    (creation) => {
      expect(() => read({ SVC_ORGANIZATION_CREATION: creation })).toThrow(
        refusal(/svc\.organization-creation \(environment: SVC_ORGANIZATION_CREATION\)/),
      );
    },
  );
});

describe('without TLS', () => {
  test.each(['127.0.0.1', '127.83.0.2', '::1', 'localhost'])(
    'the API listens on loopback: %s',
    (host) => {
      expect(read({}, ['--host', host])).toMatchObject({ host, tls: undefined });
    },
  );

  test.each(['0.0.0.0', '::', '10.0.0.1', 'fe80::1', 'api.example.org', '::ffff:10.0.0.1', '1'])(
    'it listens nowhere else: %s',
    (host) => {
      expect(() => read({}, ['--host', host])).toThrow(
        refusal(/svc\.control-plane\.host .*svc\.control-plane\.tls-certificate/),
      );
    },
  );
});

test.each([
  [{ SVC_CONTROL_PLANE_TLS_KEY: 'key' }, /tls-certificate and .*tls-key belong together/],
  [{ SVC_CONTROL_PLANE_TLS_CERTIFICATE: 'crt' }, /belong together/],
  [{ SVC_CONTROL_PLANE_BASE_DOMAIN: 'Example.org' }, /svc\.control-plane\.base-domain/],
  [{ SVC_CONTROL_PLANE_ALLOWED_ORIGINS: '*' }, /svc\.control-plane\.allowed-origins/],
  [
    { SVC_CONTROL_PLANE_ALLOWED_ORIGINS: 'https://a.example,https://b.example/' },
    /svc\.control-plane\.allowed-origins/,
  ],
  [{ SVC_SIGNUP_URL: 'example.org' }, /svc\.signup-url/],
  [{ SVC_SIGNUP_URL: 'javascript:alert(1)' }, /svc\.signup-url/],
  [{ SVC_SIGNUP_URL: 'https://example.org/a\nb' }, /svc\.signup-url/],
  [{ SVC_LOG: 'xml' }, /svc\.log/],
  [{ SVC_CONTROL_PLANE_PORT: '65536' }, /svc\.control-plane\.port/],
  [{ SVC_DEPLOYED: 'yes' }, /svc\.deployed/],
  [{ SVC_DATA: '' }, /svc\.data/],
  [{ SVC_AUTH_ISSUER: undefined }, /svc\.auth\.issuer is missing/],
  [{ SVC_OBSERVABILITY_OTLP_ENDPOINT: 'ftp://a' }, /otlp-endpoint/],
])('%j stops the start', (env, message) => {
  expect(() => read(env)).toThrow(refusal(message));
});

test('unknown flags, arguments and settings are mistakes of the command', () => {
  for (const args of [['--prot', '1'], ['folder'], ['--set', 'svc.control-plane.prot=1']])
    expect(() => read({}, args)).toThrow(refusal(/./, 'SVC_USAGE'));
});
