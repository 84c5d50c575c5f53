// What runs the pods of services, and what is beside them: replicas, updates, volumes, budgets, names and hostnames.
import { describe, expect, test } from 'vitest';
import type { ServiceDescriptor } from '../../../client/index.ts';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  EMBEDDED,
  EVERY_HOSTING,
  installation,
  PROCESS,
  WASM,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { allContainers, ofKind, podOf, workload } from '../../support/kubernetes/read-manifests.ts';

const kindsOf = (...given: Parameters<typeof manifestsOf>) =>
  manifestsOf(...given).map(({ kind }) => kind);

test('what pods need and what protects them is applied before them, and what leads to them after them', () => {
  const desired = desiredService(
    { ...PROCESS, instances: 2, env: { a: '1' } },
    { hostnames: ['cart.example.com'] },
  );
  expect(kindsOf(desired, installation({ databases: CLOUD_NATIVE_PG }))).toEqual([
    'Namespace',
    'Cluster',
    'Secret',
    'Secret',
    'Secret',
    'NetworkPolicy',
    'Service',
    'PodDisruptionBudget',
    'Deployment',
    'Ingress',
  ]);
});

const filesOf = (...sources: readonly object[]) => ({
  name: 'database',
  projected: { sources, defaultMode: 0o440 },
});

const keyOf = (name: string, key: string, path: string) => ({
  secret: { name, items: [{ key, path }] },
});

describe('a service with its journal on a volume', () => {
  test.each([EMBEDDED, PROCESS, WASM])(
    'has one pod, which is replaced even if it was never ready: $name',
    (descriptor) => {
      // A descriptor with more instances is refused before, and a journal has one writer all the same.
      const desired = desiredService({ ...descriptor, instances: 3 });
      expect(workload(manifestsOf(desired, installation()))).toMatchObject({
        kind: 'StatefulSet',
        spec: {
          replicas: 1,
          serviceName: descriptor.name,
          podManagementPolicy: 'Parallel',
          updateStrategy: { type: 'RollingUpdate' },
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: '10Gi' } },
              },
            },
          ],
        },
      });
    },
  );

  test('has the storage class of the operator, or that of the cluster', () => {
    const claims = [undefined, 'fast'].map((storageClass) => {
      const where = installation({ journals: { storageClass, size: '1Gi' } });
      return JSON.stringify(workload(manifestsOf(desiredService(WASM), where)));
    });
    expect(claims[0]).not.toContain('storageClassName');
    expect(claims[1]).toContain('"storageClassName":"fast"');
  });
});

describe('every other service', () => {
  test.each([
    [{ ...WASM, database: { urlFrom: 'db' } }],
    [{ ...PROCESS, database: { urlFrom: 'db' } }],
    [WEB],
  ])('has a deployment that never has fewer pods than wanted: %j', (descriptor) => {
    const desired = desiredService({ ...descriptor, instances: 10 });
    expect(workload(manifestsOf(desired, installation()))).toMatchObject({
      kind: 'Deployment',
      spec: {
        replicas: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      },
    });
  });

  test('has a database that the cluster makes, and its URL as a file, unless it declares one', () => {
    const where = installation({ databases: CLOUD_NATIVE_PG });
    const trusted = installation({ databases: { ...CLOUD_NATIVE_PG, authority: undefined } });
    const made = manifestsOf(desiredService(WASM), where);
    expect(ofKind(made, 'Cluster')).toMatchObject({
      apiVersion: 'postgresql.cnpg.io/v1',
      metadata: { name: 'counter-database', namespace: 'svc-shop' },
      spec: CLOUD_NATIVE_PG.spec,
    });
    const volumesOf = (manifests: typeof made) => podOf(manifests).volumes;
    const url = keyOf('counter-database-app', 'uri', 'url');
    expect(volumesOf(made)).toContainEqual(
      filesOf(url, keyOf('counter-database-ca', 'ca.crt', 'ca.crt')),
    );
    expect(volumesOf(manifestsOf(desiredService(WASM), trusted))).toContainEqual(filesOf(url));
    const declared = manifestsOf(desiredService({ ...WASM, database: { urlFrom: 'db' } }), where);
    expect(declared.map(({ kind }) => kind)).not.toContain('Cluster');
    expect(volumesOf(declared)).toContainEqual(
      filesOf(keyOf('db', 'url', 'url'), {
        secret: { name: 'db', items: [{ key: 'ca.crt', path: 'ca.crt' }], optional: true },
      }),
    );
    expect(kindsOf(desiredService(EMBEDDED), where)).toContain('StatefulSet');
    expect(kindsOf(desiredService(WEB), where)).not.toContain('Cluster');
  });

  test('has a note of its database, which holds no value', () => {
    const where = installation({ databases: CLOUD_NATIVE_PG });
    const noteOf = (descriptor: ServiceDescriptor) =>
      manifestsOf(desiredService(descriptor), where).find(
        ({ metadata }) => metadata.name === `${descriptor.name}-journal`,
      );
    expect(noteOf(WASM)).toMatchObject({
      kind: 'Secret',
      type: 'svc.dev/journal',
      metadata: { annotations: { 'svc.dev/journal': 'provisioned' } },
    });
    const declared = noteOf({ ...WASM, database: { urlFrom: 'db' } });
    expect(declared!.metadata.annotations).toEqual({
      'svc.dev/journal': 'supplied',
      'svc.dev/journal-secret': 'db',
    });
    expect(declared!['data']).toBeUndefined();
    for (const descriptor of [EMBEDDED, WEB]) expect(noteOf(descriptor)).toBeUndefined();
  });
});

test('a service with two instances or more has a budget, which a pause does not take away', () => {
  expect(kindsOf(desiredService(WEB), installation())).not.toContain('PodDisruptionBudget');
  for (const more of [{}, { instances: 0, isPaused: true }]) {
    const desired = desiredService({ ...WEB, instances: 2 }, more);
    expect(ofKind(manifestsOf(desired, installation()), 'PodDisruptionBudget')).toMatchObject({
      apiVersion: 'policy/v1',
      spec: { maxUnavailable: 1 },
    });
  }
});

describe('the Ingress', () => {
  const hostnames = ['site-shop.apps.example.org', 'www.example.com', 'www.example.com'];

  test('has every hostname once, and leads to the port of requests', () => {
    const manifests = manifestsOf(desiredService(WEB, { hostnames }), installation());
    const { rules, tls } = ofKind(manifests, 'Ingress')['spec'] as unknown as {
      readonly rules: readonly { readonly host: string; readonly http: object }[];
      readonly tls: object;
    };
    expect(rules.map(({ host }) => host)).toEqual(hostnames.slice(0, 2));
    const backend = { service: { name: 'site', port: { name: 'http' } } };
    for (const { http } of rules)
      expect(http).toEqual({ paths: [{ path: '/', pathType: 'Prefix', backend }] });
    expect(tls).toEqual([{ hosts: hostnames.slice(0, 2) }]);
  });

  test('is there for one hostname, and for none it is not', () => {
    const one = hostnames.slice(0, 1);
    expect(kindsOf(desiredService(WEB, { hostnames: one }), installation())).toContain('Ingress');
    expect(kindsOf(desiredService(WEB, { hostnames: [] }), installation())).not.toContain(
      'Ingress',
    );
    const without = installation({ ingress: undefined });
    expect(kindsOf(desiredService(WEB, { hostnames }), without)).not.toContain('Ingress');
  });
});

test.each(EVERY_HOSTING)(
  'certificates are read-only, and the program of $name has them only with the runtime in it',
  (descriptor) => {
    const containers = allContainers(
      podOf(manifestsOf(desiredService(descriptor), installation())),
    );
    const withThem = containers.filter(({ volumeMounts }) =>
      volumeMounts.some(({ mountPath }) => mountPath === '/etc/svc/identity'),
    );
    const expected = descriptor === EMBEDDED ? 'service' : descriptor === WEB ? 'proxy' : 'runtime';
    expect(withThem.map(({ name }) => name)).toEqual([expected]);
    const mounts = withThem[0]!.volumeMounts.filter(({ mountPath }) =>
      mountPath.startsWith('/etc/'),
    );
    for (const mount of mounts) expect(mount).toMatchObject({ readOnly: true });
  },
);

/** Names and ports of the Service of a module. */
function portsOf(http: boolean): readonly (readonly [string, number])[] {
  const manifests = manifestsOf(desiredService({ ...WASM, http, port: 8443 }), installation());
  const { ports } = ofKind(manifests, 'Service')['spec'] as unknown as {
    readonly ports: readonly { readonly name: string; readonly port: number }[];
  };
  return ports.map(({ name, port }) => [name, port]);
}

test('a Service names its port of requests http, and has no such port without HTTP', () => {
  expect(portsOf(true)).toEqual([
    ['http', 8443],
    ['management', 7626],
  ]);
  expect(portsOf(false)).toEqual([['management', 7626]]);
});
