// The programs of pods read their own settings from the variables of their containers, as they read them at their start.
import { expect, test } from 'vitest';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../../host/service/section-settings.ts';
import { readSettings } from '../../../host/service/settings.ts';
import { readProxySettings } from '../../../proxy/pod/proxy-settings.ts';
import { GOLDEN_SERVICES } from '../../support/kubernetes/golden-services.ts';
import { type Container, podOf } from '../../support/kubernetes/read-manifests.ts';
import {
  containerEnvironment,
  WatchedEnvironment,
} from '../../support/kubernetes/watched-environment.ts';

function containerOf(service: string, name: string): Container {
  const { desired, installation } = GOLDEN_SERVICES[service]!;
  return podOf(manifestsOf(desired, installation)).containers.find((one) => one.name === name)!;
}

function runtimeSettings(service: string, container = 'runtime') {
  const found = containerOf(service, container);
  const args = found.command?.slice(2) ?? ['--deployed'];
  const watched = new WatchedEnvironment(found);
  const inputs = { args, env: watched.env, stderrIsTerminal: false, cores: 1 };
  const settings = readSettings(inputs, SECTION_DEFAULTS, SECTION_RANGES);
  return { settings, unread: watched.unread };
}

test.each(Object.keys(GOLDEN_SERVICES).filter((name) => !name.startsWith('web')))(
  'the runtime of %s takes its variables',
  (service) => {
    const isEmbedded = service.startsWith('embedded');
    const { settings, unread } = runtimeSettings(service, isEmbedded ? 'service' : 'runtime');
    expect(unread).toEqual(isEmbedded ? [] : ['NODE_OPTIONS']);
    expect(settings).toMatchObject({
      identity: {
        folder: '/etc/svc/identity',
        project: 'shop',
        rules: { trustDomain: 'example.org' },
      },
      sections: { supervisor: { stopGraceMs: 10_000 } },
    });
  },
);

test('a node is reached at the address of its pod, and reads the URL of its database from a file', () => {
  expect(runtimeSettings('wasm-with-a-database').settings).toMatchObject({
    database: {
      kind: 'file',
      path: '/etc/svc/database/url',
      authoritiesFile: '/etc/svc/database/ca.crt',
    },
    remoting: { advertisedHost: '10.0.0.7', listened: { host: '0.0.0.0', port: 17_355 } },
  });
});

test('a node of a declared database trusts what its URL says', () => {
  const { database } = runtimeSettings('process-with-a-database').settings;
  expect(database).toEqual({ kind: 'file', path: '/etc/svc/database/url', schema: undefined });
});

test.each(['web-exposed', 'web-on-kubernetes-1.20'])(
  'the proxy of %s takes its variables',
  (name) => {
    const found = containerOf(name, 'proxy');
    const watched = new WatchedEnvironment(found);
    const settings = readProxySettings({
      args: found.command!.slice(2),
      env: watched.env,
      stderrIsTerminal: false,
    });
    expect(watched.unread).toEqual([]);
    expect(settings).toMatchObject({
      service: 'site',
      logFormat: 'json',
      section: { readinessPort: 7627, callingPort: 7630, stopTimeoutMs: 10_000 },
    });
  },
);

test('a mount reaches the proxy as it was declared', () => {
  const found = containerOf('web-exposed', 'proxy');
  const { mounts } = readProxySettings({
    args: [],
    env: containerEnvironment(found),
    stderrIsTerminal: false,
  });
  expect(mounts).toEqual([
    { path: '/cart', service: 'cart' },
    { path: '/$(SVC_NAME),1', service: 'counter' },
  ]);
});
