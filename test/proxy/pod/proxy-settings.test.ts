// The settings of `svc proxy`: flags, environment, defaults, and what is refused.
import { describe, expect, test } from 'vitest';
import { PROXY_DEFAULTS } from '../../../proxy/pod/proxy-section.ts';
import { readProxySettings } from '../../../proxy/pod/proxy-settings.ts';

const NAMED = {
  SVC_NAME: 'web',
  SVC_PROJECT: 'shop',
  SVC_IDENTITY_FOLDER: '/none',
  SVC_IDENTITY_TRUST_DOMAIN: 'td',
  SVC_IDENTITY_GATEWAY: 'spiffe://td/gateway',
};

function read(args: readonly string[], env: Readonly<Record<string, string>> = NAMED) {
  return readProxySettings({ args, env, stderrIsTerminal: false });
}

test('the least that is needed gives the defaults', () => {
  const settings = read([]);
  expect(settings.section).toEqual(PROXY_DEFAULTS);
  expect(settings).toMatchObject({
    service: 'web',
    identity: {
      project: 'shop',
      folder: '/none',
      ownId: 'spiffe://td/ns/svc-shop/sa/web',
      rules: { trustDomain: 'td', gatewayId: 'spiffe://td/gateway' },
    },
    host: '0.0.0.0',
    mounts: [],
    baseDomain: undefined,
    servicesFile: undefined,
    logFormat: 'json',
  });
});

test('flags come before the environment', () => {
  const { section, service } = read(
    ['--port', '1', '--process-port', '2', '--name', 'api', '--set', 'svc.proxy.callers=a,b.c'],
    { ...NAMED, SVC_PROXY_PORT: '3', SVC_PROXY_REQUESTS_MAX: '4' },
  );
  expect([service, section.port, section.processPort]).toEqual(['api', 1, 2]);
  expect([section.callers, section.requestsMax]).toEqual([['a', 'b.c'], 4]);
});

test('a mount may have any path of a descriptor', () => {
  const { mounts } = read(['--set', 'svc.proxy.mounts=/cart=cart,/a%2Cb/c=d=billing']);
  expect(mounts).toEqual([
    { path: '/cart', service: 'cart' },
    { path: '/a,b/c=d', service: 'billing' },
  ]);
});

describe('refused is', () => {
  test.each([
    ['a missing name', { ...NAMED, SVC_NAME: undefined }, /needs the settings svc\.name, svc\./],
    ['a missing folder', { ...NAMED, SVC_IDENTITY_FOLDER: undefined }, /svc\.identity\.folder/],
    ['a wrong name', { ...NAMED, SVC_NAME: 'Web' }, /svc\.name/],
    [
      'a mount without a service',
      { SVC_PROXY_MOUNTS: '/cart' },
      /svc\.proxy\.mounts .*\/cart=cart/,
    ],
    [
      'a mount with a dot segment',
      { SVC_PROXY_MOUNTS: '/a/../b=c' },
      /svc\.proxy\.mounts\/0\/path /,
    ],
    [
      'a mount of another project',
      { SVC_PROXY_MOUNTS: '/a=b.c' },
      /mounts\/0\/service .*another project/,
    ],
    ['a mount of the service itself', { SVC_PROXY_MOUNTS: '/a=web' }, /svc\.proxy\.mounts\/0/],
    ['a mount twice', { SVC_PROXY_MOUNTS: '/a=b,/a=c' }, /svc\.proxy\.mounts\/1 .*same/],
    ['a caller that is no service', { SVC_PROXY_CALLERS: 'A' }, /svc\.proxy\.callers\/0 /],
    [
      'a port that is taken',
      { SVC_PROXY_PROCESS_PORT: '9000' },
      /svc\.proxy\.process-port is 9000/,
    ],
    ['a port of the platform', { SVC_PROXY_PORT: '7630' }, /svc\.proxy\.port is 7630/],
    [
      'one port for two purposes',
      { SVC_PROXY_CALLING_PORT: '8081', SVC_PROXY_READINESS_PORT: '8081' },
      /svc\.proxy\.readiness-port and svc\.proxy\.calling-port are both 8081/,
    ],
    ['a base domain with a scheme', { SVC_PROXY_BASE_DOMAIN: 'https://a.b' }, /base-domain/],
    [
      'a name server by its name',
      { SVC_PROXY_NAME_SERVERS: 'ns.a' },
      /name-servers .*10\.0\.0\.10/,
    ],
    ['a format of the log', { SVC_LOG: 'xml' }, /svc\.log/],
    ['an empty value', { SVC_PROXY_HOST: '' }, /svc\.proxy\.host/],
  ])('%s', (_what, env, expected) => {
    expect(() => read([], { ...NAMED, ...env } as Record<string, string>)).toThrow(expected);
  });

  test('an unknown flag and an unknown setting, with where to look', () => {
    for (const args of [['--prot', '1'], ['--set', 'svc.proxy.prot=1'], ['word']])
      expect(() => read(args)).toThrow(expect.objectContaining({ code: 'SVC_USAGE' }));
    expect(() => read(['--prot', '1'])).toThrow(/svc proxy --help lists the options/);
  });

  test('several settings at once', () => {
    const env = { ...NAMED, SVC_PROXY_MOUNTS: '/a/../b=c', SVC_PROXY_CALLERS: 'A' };
    expect(() => read([], env)).toThrow(/callers\/0 .*; svc\.proxy\.mounts\/0\/path/);
  });
});
