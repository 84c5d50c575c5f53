// The settings of `svc webhook-service`: defaults, what each of them is read from, and what stops the start.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { DELIVERY_LIMITS_DEFAULT } from '../../../webhooks/deliveries.ts';
import { deliveryLimits, WEBHOOKS_DEFAULTS } from '../../../webhooks/program/webhooks-section.ts';
import { readWebhooksSettings } from '../../../webhooks/program/webhooks-settings.ts';

const LEAST = {
  SVC_AUTH_ISSUER: 'https://id.example.org',
  SVC_AUTH_CLIENT_ID: 'svc-cli',
  SVC_AUTH_AUDIENCE: 'https://api.example.org',
};

const set = (name: string, value: number) => ['--set', `svc.webhooks.${name}=${value}`];

function read(env: Readonly<Record<string, string | undefined>>, args: readonly string[] = []) {
  return readWebhooksSettings({ args, env: { ...LEAST, ...env }, stderrIsTerminal: true });
}

function refusal(message: RegExp, code = 'SVC_SETTING_INVALID') {
  return expect.objectContaining({ code, message: expect.stringMatching(message) as string });
}

test('the least that is needed gives the defaults', () => {
  const settings = read({});
  expect(settings).toMatchObject({
    deployed: false,
    dataFolder: resolve('.svc/webhook-service'),
    masterKeyFile: undefined,
    host: '127.0.0.1',
    tls: undefined,
    claims: {
      tenantsPath: ['tenants'],
      rolesPath: ['realm_access', 'roles'],
      adminRole: 'tenant-admin',
      platformRole: 'platform',
    },
    admitted: { networks: [], domains: [] },
    otlp: undefined,
    logFormat: 'text',
    section: WEBHOOKS_DEFAULTS,
  });
  expect(deliveryLimits(settings.section)).toEqual(DELIVERY_LIMITS_DEFAULT);
});

test('a deployed service has its journals in /data, logs JSON, and needs a master key', () => {
  expect(() => read({}, ['--deployed'])).toThrow(
    refusal(/svc\.webhooks\.master-key-file is missing/),
  );
  expect(read({ SVC_WEBHOOKS_MASTER_KEY_FILE: 'key' }, ['--deployed'])).toMatchObject({
    deployed: true,
    dataFolder: '/data',
    masterKeyFile: resolve('key'),
    management: { host: '0.0.0.0', port: 7626 },
    logFormat: 'json',
  });
});

test('settings are read by their names and from flags', () => {
  const env = {
    SVC_WEBHOOKS_HOST: '0.0.0.0',
    SVC_WEBHOOKS_TLS_CERTIFICATE: 'tls.crt',
    SVC_WEBHOOKS_TLS_KEY: '/etc/tls.key',
    SVC_WEBHOOKS_TENANTS_CLAIM: String.raw`https://svc\.example/tenants.ids`,
    SVC_WEBHOOKS_ADMIN_ROLE: 'boss',
    SVC_WEBHOOKS_PLATFORM_ROLE: 'solver',
    SVC_WEBHOOKS_ADMITTED_NETWORKS: '10.1.0.0/16, fd00::/8',
    SVC_WEBHOOKS_ADMITTED_DOMAINS: 'hooks.example.com',
    SVC_AUTH_ROLES_CLAIM: 'roles',
  };
  const args = [...set('attempts-per-host-max', 7), ...set('backlog-max', 9), '--port', '0'];
  const settings = read(env, [...args, '--data', 'a']);
  expect(settings).toMatchObject({
    dataFolder: resolve('a'),
    host: '0.0.0.0',
    tls: { certificate: resolve('tls.crt'), key: '/etc/tls.key' },
    claims: {
      tenantsPath: ['https://svc.example/tenants', 'ids'],
      rolesPath: ['roles'],
      adminRole: 'boss',
      platformRole: 'solver',
    },
    admitted: { networks: ['10.1.0.0/16', 'fd00::/8'], domains: ['hooks.example.com'] },
    section: { port: 0 },
  });
  expect(deliveryLimits(settings.section)).toEqual({
    ...DELIVERY_LIMITS_DEFAULT,
    hostMax: 7,
    backlogMax: 9,
  });
});

test.each([
  [{ SVC_WEBHOOKS_HOST: '0.0.0.0' }, /svc\.webhooks\.host .*svc\.webhooks\.tls-certificate/],
  [{ SVC_WEBHOOKS_TLS_KEY: 'key' }, /tls-certificate and .*tls-key belong together/],
  [{ SVC_WEBHOOKS_ADMITTED_NETWORKS: '10.0.0.1' }, /svc\.webhooks\.admitted-networks/],
  [{ SVC_WEBHOOKS_ADMITTED_NETWORKS: '10.0.0.0/33' }, /svc\.webhooks\.admitted-networks/],
  [{ SVC_WEBHOOKS_ADMITTED_DOMAINS: '.example.com' }, /svc\.webhooks\.admitted-domains/],
  [{ SVC_WEBHOOKS_TENANTS_CLAIM: 'a..b' }, /svc\.webhooks\.tenants-claim/],
  [{ SVC_WEBHOOKS_PLATFORM_ROLE: 'tenant-admin' }, /svc\.webhooks\.platform-role/],
  [{ SVC_WEBHOOKS_MASTER_KEY_FILE: '' }, /svc\.webhooks\.master-key-file/],
  [{ SVC_WEBHOOKS_ATTEMPTS_MAX: '0' }, /svc\.webhooks\.attempts-max/],
  [{ SVC_AUTH_AUDIENCE: undefined }, /svc\.auth\.audience is missing/],
])('%j stops the start', (env, message) => {
  expect(() => read(env)).toThrow(refusal(message));
});

test('unknown flags, arguments and settings are mistakes of the command', () => {
  for (const args of [['--prot', '1'], ['folder'], ['--set', 'svc.webhooks.prot=1']])
    expect(() => read({}, args)).toThrow(refusal(/./, 'SVC_USAGE'));
});
