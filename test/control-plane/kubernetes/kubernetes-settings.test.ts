// The settings svc.kubernetes.*: how an installation chooses a cluster, what they make of an installation, and what stops the start.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KUBERNETES_DEFAULTS } from '../../../control-plane/kubernetes/kubernetes-section.ts';
import { installationOf } from '../../../control-plane/kubernetes/open-kubernetes-orchestrator.ts';
import { readControlPlaneSettings } from '../../../control-plane/program/control-plane-settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LEAST = {
  SVC_AUTH_ISSUER: 'https://id.example.org',
  SVC_AUTH_CLIENT_ID: 'svc-cli',
  SVC_CONTROL_PLANE_BASE_DOMAIN: 'apps.example.org:8443',
};
const IMAGE = 'registry.example/svc:1';

type Values = Readonly<Record<string, string>>;

/** `values`: by the ends of the names of their variables. */
function read(values: Values, more: Values = {}) {
  const env = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`SVC_KUBERNETES_${name}`, value]),
  );
  return readControlPlaneSettings({
    args: [],
    env: { ...LEAST, ...env, ...more },
    stderrIsTerminal: true,
  });
}

function installation(values: Values, podNamespace?: string) {
  const { kubernetes, baseDomain, tokens } = read({ IMAGE, ...values });
  return installationOf(kubernetes!, { podNamespace }, { baseDomain, provider: tokens });
}

function fileWith(content: string): string {
  const file = join(temporaryFolder(), 'file.yaml');
  writeFileSync(file, content);
  return file;
}

test('without settings of a cluster nothing runs, and an image chooses the cluster', () => {
  expect(read({}).kubernetes).toBeUndefined();
  expect(read({ IMAGE }).kubernetes).toMatchObject({
    image: IMAGE,
    kubeconfig: undefined,
    context: undefined,
    isNewCluster: false,
    section: KUBERNETES_DEFAULTS,
  });
  expect(read({ IMAGE }).local).toBeUndefined();
});

test('one machine and a cluster at once are refused', () => {
  expect(() => read({ IMAGE }, { SVC_LOCAL_FOLDER: '/m' })).toThrow(
    /svc\.kubernetes\.image .*no value beside svc\.local\.folder/,
  );
});

test('a setting of a cluster without the image says what is missing', () => {
  expect(() => read({ KUBECONFIG: '/k' })).toThrow(
    /svc\.kubernetes\.image .*because svc\.kubernetes\.kubeconfig is set/,
  );
  expect(() => read({ IMAGE, INGRESS_CERTIFICATES: 'service' })).toThrow(
    /svc\.kubernetes\.ingress-class .*because svc\.kubernetes\.ingress-certificates is set/,
  );
});

test('the least that is needed makes an installation', () => {
  expect(installation({})).toEqual({
    image: IMAGE,
    namespace: 'svc-platform',
    pullSecrets: [],
    registry: undefined,
    baseDomain: 'apps.example.org:8443',
    trustDomain: 'apps.example.org',
    gatewayId: 'spiffe://apps.example.org/gateway',
    ingress: undefined,
    journals: { storageClass: undefined, size: '10Gi' },
    databases: undefined,
    remotingFrom: 'cluster',
    tokens: undefined,
    drainMs: 10_000,
    defaultResources: { cpu: '100m', memory: '512Mi' },
    sidecarResources: { cpu: '100m', memory: '512Mi' },
  });
  expect(installation({}, 'svc-here').namespace).toBe('svc-here');
  expect(installation({ NAMESPACE: 'svc-there' }, 'svc-here').namespace).toBe('svc-there');
});

test('every part of an installation can be set', () => {
  const annotations = fileWith('nginx.ingress.kubernetes.io/backend-protocol: HTTPS\n');
  const databases = fileWith(
    'apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nspec: { instances: 2 }\nnameLengthMax: 50\nsecretSuffix: -app\nurlKey: uri\nauthority: { secretSuffix: -ca, key: ca.crt }\n',
  );
  expect(
    installation({
      NAMESPACE: 'svc-here',
      PULL_SECRETS: 'one,two',
      PLATFORM_REGISTRY: 'registry.example:5000',
      TRUST_DOMAIN: 'example.org',
      GATEWAY: 'spiffe://example.org/ns/ingress/sa/controller',
      INGRESS_CLASS: 'nginx',
      INGRESS_ANNOTATIONS_FILE: annotations,
      INGRESS_CERTIFICATES: 'service',
      STORAGE_CLASS: 'fast',
      JOURNAL_SIZE: '50Gi',
      DATABASES_FILE: databases,
      REMOTING_FROM: 'service',
      DEFAULT_CPU: '0.5',
      DEFAULT_MEMORY: '1Gi',
      SIDECAR_CPU: '50m',
      SIDECAR_MEMORY: '256Mi',
      SERVICE_AUDIENCE: 'https://services.example.org',
      DRAIN_MS: '5000',
    }),
  ).toMatchObject({
    namespace: 'svc-here',
    pullSecrets: ['one', 'two'],
    registry: 'registry.example:5000',
    trustDomain: 'example.org',
    gatewayId: 'spiffe://example.org/ns/ingress/sa/controller',
    ingress: {
      className: 'nginx',
      annotations: { 'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS' },
      certificates: 'service',
    },
    journals: { storageClass: 'fast', size: '50Gi' },
    databases: {
      kind: 'Cluster',
      nameLengthMax: 50,
      urlKey: 'uri',
      authority: { secretSuffix: '-ca', key: 'ca.crt' },
    },
    remotingFrom: 'service',
    tokens: { SVC_AUTH_AUDIENCE: 'https://services.example.org' },
    drainMs: 5000,
    defaultResources: { cpu: '0.5', memory: '1Gi' },
    sidecarResources: { cpu: '50m', memory: '256Mi' },
  });
});

test.each([
  ['IMAGE', 'two words'],
  ['NAMESPACE', 'Upper'],
  ['PULL_SECRETS', 'a b'],
  ['PLATFORM_REGISTRY', 'https://registry.example'],
  ['TRUST_DOMAIN', 'a/b'],
  ['GATEWAY', 'gateway'],
  ['INGRESS_CLASS', 'a_b'],
  ['STORAGE_CLASS', 'a_b'],
  ['JOURNAL_SIZE', '10 GB'],
  ['REMOTING_FROM', 'everybody'],
  ['DEFAULT_CPU', 'fast'],
  ['DEFAULT_MEMORY', '-1'],
  ['SIDECAR_MEMORY', '0'],
  ['NEW_CLUSTER', 'yes'],
  ['PLUGIN_TIMEOUT_MS', '0'],
  ['WATCH_PAUSE_MAX_MS', '1'],
  ['SERVICE_AUDIENCE', 'svc-cli'],
])('%s takes no %j', (name, value) => {
  expect(() => read({ IMAGE, [name]: value })).toThrow(
    expect.objectContaining({
      code: 'SVC_SETTING_INVALID',
      message: expect.stringContaining(`SVC_KUBERNETES_${name}`) as string,
    }),
  );
});

test.each([
  ['missing', undefined, /cannot be read: ENOENT/],
  ['not YAML', 'a: [', /is not YAML, which line 1 shows/],
  ['a list', '- a', /has no fields/],
  ['without a kind', 'apiVersion: v1', /has no text `kind`/],
  ['with another field', 'apiVersion: v1\nimage: x', /unknown field "image"/],
])('a file of databases that is %s is refused', (_, content, expected) => {
  const file = content === undefined ? join(temporaryFolder(), 'none') : fileWith(content);
  expect(() => installation({ DATABASES_FILE: file })).toThrow(expected);
  expect(() => installation({ DATABASES_FILE: file })).toThrow(
    /which the setting svc\.kubernetes\.databases-file names/,
  );
});

test('annotations of Ingresses are texts', () => {
  const file = fileWith('a/b: true');
  expect(() => installation({ INGRESS_CLASS: 'n', INGRESS_ANNOTATIONS_FILE: file })).toThrow(
    /has "a\/b", which is no text: write the value in quotation marks/,
  );
});
