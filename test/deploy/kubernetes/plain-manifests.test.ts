// The manifests by which svc is installed in a cluster: their fields, what they name of one another, the rights of their containers, and the
// settings that the programs in them have.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MANAGEMENT_PORT } from '../../../client/index.ts';
import {
  readAnnotationsFile,
  readDatabasesFile,
} from '../../../control-plane/kubernetes/installation-files.ts';
import type { JsonObject, Manifest } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import {
  PLATFORM_SECURITY,
  POD_SECURITY,
  readiness,
} from '../../../control-plane/kubernetes/manifests/pod-settings.ts';
import { CONTROL_PLANE_DEFAULTS } from '../../../control-plane/program/control-plane-section.ts';
import { readControlPlaneSettings } from '../../../control-plane/program/control-plane-settings.ts';
import { GATEWAY_DEFAULTS } from '../../../gateway/gateway-section.ts';
import { readGatewaySettings } from '../../../gateway/gateway-settings.ts';
import { readRouteFile } from '../../../routing/route-file.ts';
import { EMPTY_TABLE } from '../../../routing/route-table.ts';
import { PLAIN_MANIFESTS } from '../../../scripts/plain-manifests.ts';
import { WEBHOOKS_DEFAULTS } from '../../../webhooks/program/webhooks-section.ts';
import { readWebhooksSettings } from '../../../webhooks/program/webhooks-settings.ts';
import {
  DRIVER_ACCOUNT,
  driverRoles,
  INSTALLATION_FOLDER,
  objectsIn,
} from '../../support/kubernetes/installation-files.ts';
import { CLOUD_NATIVE_PG } from '../../support/kubernetes/installation-under-test.ts';
import { publishedTypes } from '../../support/kubernetes/published-types.ts';
import { type Container, ofKind, podOf } from '../../support/kubernetes/read-manifests.ts';
import { structuralProblems } from '../../support/kubernetes/structural-check.ts';
import { WatchedEnvironment } from '../../support/kubernetes/watched-environment.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { path: string }[] };
  readonly configMap?: { readonly name: string };
  readonly projected?: { readonly sources: readonly object[] };
}

const NAMESPACE = DRIVER_ACCOUNT.namespace;
const OF_THE_CLUSTER = new Set(['Namespace', 'ClusterRole', 'ClusterRoleBinding']);
const published = publishedTypes();
const without = published === undefined ? ' (@kubernetes/client-node is not installed)' : '';
const filesOf = () =>
  PLAIN_MANIFESTS.map(({ file }) => {
    const text = readFileSync(join(INSTALLATION_FOLDER, file), 'utf8');
    return [file, objectsIn(text)] as const;
  });

describe.each(filesOf())('%s', (file, manifests) => {
  const pod = podOf(manifests);
  const containerOf = (name: string): Container =>
    pod.containers.find((container) => container.name === name)!;
  const volumes = pod.volumes as readonly Volume[];
  const ofKinds = (kind: string) => manifests.filter((one) => one.kind === kind);
  const specOf = (kind: string) => ofKind(manifests, kind)['spec'] as JsonObject;

  test.skipIf(published === undefined)(
    `has only published fields, of their types${without}`,
    async () => {
      const found = await Promise.all(manifests.map((one) => structuralProblems(one, published!)));
      expect(found.flat()).toEqual([]);
    },
  );

  test('has each object once, in the namespace of the platform', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { kind, metadata } of manifests)
      expect(metadata.namespace).toBe(OF_THE_CLUSTER.has(kind) ? undefined : NAMESPACE);
    expect(ofKind(manifests, 'Namespace').metadata).toEqual({
      name: NAMESPACE,
      labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    });
  });

  test('gives the account of the control plane its roles, and no other account anything', () => {
    const { platform, databases } = driverRoles();
    const roles = file.includes('cloudnativepg') ? [platform, databases] : [platform];
    expect(ofKinds('ClusterRole')).toEqual(roles);
    expect(ofKinds('ClusterRoleBinding')).toMatchObject(
      roles.map(({ metadata: { name } }) => ({
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', ...DRIVER_ACCOUNT }],
      })),
    );
    expect(ofKinds('ServiceAccount').map(({ metadata }) => metadata.name)).toEqual([
      DRIVER_ACCOUNT.name,
    ]);
    expect(pod).toMatchObject({ serviceAccountName: DRIVER_ACCOUNT.name });
  });

  test('gives the token of the cluster to the control plane alone', () => {
    expect(ofKind(manifests, 'ServiceAccount')).toMatchObject({
      automountServiceAccountToken: false,
    });
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    const tokens = new Set(
      volumes
        .filter(({ projected }) =>
          projected?.sources.some((source) => 'serviceAccountToken' in source),
        )
        .map(({ name }) => name),
    );
    const withToken = pod.containers.filter(({ volumeMounts }) =>
      volumeMounts.some(({ name }) => tokens.has(name)),
    );
    expect(withToken.map(({ name }) => name)).toEqual(['control-plane']);
  });

  test('has containers with the rights and the probe of those of services', () => {
    expect(pod.securityContext).toEqual(POD_SECURITY);
    for (const container of pod.containers) {
      expect(container.securityContext).toEqual(PLATFORM_SECURITY);
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    }
    expect(containerOf('control-plane')).toMatchObject({ readinessProbe: readiness('management') });
  });

  test('has every volume that a container mounts, and no other', () => {
    const mounted = pod.containers.flatMap((one) => one.volumeMounts.map(({ name }) => name));
    expect(new Set(mounted)).toEqual(new Set(volumes.map(({ name }) => name)));
    const maps = manifests.filter(({ kind }) => kind === 'ConfigMap');
    for (const { configMap } of volumes.filter((volume) => volume.configMap !== undefined))
      expect(maps.map(({ metadata }) => metadata.name)).toContain(configMap!.name);
  });

  test('leads to ports that its containers have', () => {
    const ports = pod.containers.flatMap((one) => (one.ports ?? []) as readonly JsonObject[]);
    const numbers = ports.map(({ containerPort }) => containerPort);
    expect(new Set(numbers).size).toBe(numbers.length);
    const targets = (specOf('Service')['ports'] as readonly JsonObject[]).map(
      ({ targetPort }) => targetPort,
    );
    const names = new Set(ports.map(({ name }) => name));
    expect(targets.filter((name) => !names.has(name))).toEqual([]);
    const { ingress } = specOf('NetworkPolicy') as unknown as {
      readonly ingress: readonly { readonly ports: readonly { readonly port: number }[] }[];
    };
    const admitted = ingress.flatMap((rule) => rule.ports.map(({ port }) => port));
    expect(new Set(admitted)).toEqual(new Set(numbers));
    const { template } = specOf('Deployment') as unknown as { readonly template: Manifest };
    const { labels } = template.metadata;
    for (const selector of [
      (specOf('Deployment')['selector'] as JsonObject)['matchLabels'],
      (specOf('NetworkPolicy')['podSelector'] as JsonObject)['matchLabels'],
      specOf('Service')['selector'],
    ])
      expect(labels).toMatchObject(selector as object);
  });

  /** Reads the settings of a container, which has to take all of its variables. */
  function settingsOf<Settings>(
    name: string,
    command: readonly string[],
    read: (inputs: {
      args: readonly string[];
      env: Record<string, string>;
      stderrIsTerminal: boolean;
    }) => Settings,
  ): Settings {
    const container = containerOf(name);
    expect(container.command?.slice(0, command.length)).toEqual(command);
    const watched = new WatchedEnvironment(container);
    const settings = read({
      args: container.command!.slice(command.length),
      env: watched.env,
      stderrIsTerminal: false,
    });
    expect(watched.unread).toEqual([]);
    return settings;
  }
  const dataOf = (name: string) => {
    const map = ofKinds('ConfigMap').find(({ metadata }) => metadata.name === name);
    return map!['data'] as Readonly<Record<string, string>>;
  };
  const hasDatabases = file.includes('cloudnativepg');
  const database = {
    urlFile: '/etc/svc/database/url',
    ...(hasDatabases && { authoritiesFile: '/etc/svc/database/ca.crt' }),
  };

  test('the control plane takes its variables', () => {
    const settings = settingsOf(
      'control-plane',
      ['svc', 'control-plane'],
      readControlPlaneSettings,
    );
    expect(settings).toMatchObject({
      deployed: true,
      host: '127.0.0.1',
      tls: undefined,
      dataFolder: '/data',
      database,
      baseDomain: 'example.org',
      policy: { creation: 'platform-admin' },
      tokens: { issuer: 'https://id.example.org', audience: 'https://api.example.org' },
      management: { port: MANAGEMENT_PORT },
      logFormat: 'json',
      kubernetes: {
        image: 'registry.example.com/svc:0.1.0',
        // The pod says it.
        namespace: undefined,
        kubeconfig: undefined,
        trustDomain: 'example.org',
        gatewayId: 'spiffe://example.org/gateway',
        certificates: {
          kind: 'control-plane',
          authority: { kind: 'given', folder: '/etc/svc/authority' },
          gatewaySecret: 'gateway-identity',
        },
        ingress: {
          className: 'nginx',
          annotationsFile: '/etc/svc/control-plane/ingress-annotations.yaml',
          certificates: 'controller',
        },
        databasesFile: hasDatabases ? '/etc/svc/control-plane/databases.yaml' : undefined,
      },
    });
  });

  test('the control plane takes the files that its settings name', () => {
    const folder = temporaryFolder();
    const data = dataOf('control-plane-files');
    const written = (name: string) => {
      writeFileSync(join(folder, name), data[name]!);
      return join(folder, name);
    };
    expect(readAnnotationsFile(written('ingress-annotations.yaml'))).toEqual({});
    expect(readDatabasesFile(written('databases.yaml'))).toEqual(CLOUD_NATIVE_PG);
    const mount = containerOf('control-plane').volumeMounts.find(
      ({ name }) => name === 'control-plane-files',
    );
    expect(mount).toMatchObject({ mountPath: '/etc/svc/control-plane' });
  });

  test('the gateway takes its variables, and finds the other programs', async () => {
    const { platform, ...settings } = settingsOf(
      'gateway',
      ['svc', 'gateway'],
      readGatewaySettings,
    );
    expect(settings).toMatchObject({
      domain: 'example.org',
      identity: { ownId: 'spiffe://example.org/gateway' },
      logFormat: 'json',
    });
    expect(containerOf('gateway').ports).toMatchObject([
      { containerPort: GATEWAY_DEFAULTS.port },
      { containerPort: GATEWAY_DEFAULTS.plainPort },
    ]);
    expect([...platform.byHostname]).toEqual([
      ['api.example.org', { host: '127.0.0.1', port: CONTROL_PLANE_DEFAULTS.port }],
    ]);
    expect(platform.webhooks).toEqual({ host: '127.0.0.1', port: WEBHOOKS_DEFAULTS.port });
    expect(settings.routesFile).toBe('/etc/svc/routes/routes.json');
    const routes = join(temporaryFolder(), 'routes.json');
    writeFileSync(routes, dataOf('gateway-routes')['routes.json']!);
    expect(await readRouteFile(routes)).toEqual(EMPTY_TABLE);
  });

  test('the webhook service takes its variables', () => {
    const settings = settingsOf(
      'webhook-service',
      ['svc', 'webhook-service'],
      readWebhooksSettings,
    );
    expect(settings).toMatchObject({
      deployed: true,
      host: '127.0.0.1',
      database,
      masterKeyFile: '/etc/svc/master-key/master-key',
      tokens: { audience: 'https://api.example.org' },
    });
    expect(containerOf('webhook-service').ports).toMatchObject([
      { containerPort: settings.management.port },
    ]);
  });
});
