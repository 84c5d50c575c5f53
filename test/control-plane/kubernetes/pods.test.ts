// The pods of services: their lives, their variables, and who reaches them.
import { describe, expect, test } from 'vitest';
import {
  HTTP_PORT,
  MANAGEMENT_PORT,
  READINESS_PORT,
  REMOTING_PORT,
  RUNTIME_VARIABLES,
  type ServiceDescriptor,
} from '../../../client/index.ts';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import {
  desiredService,
  EMBEDDED,
  EVERY_HOSTING,
  installation,
  PROCESS,
  WASM,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import {
  admitted,
  ofKind,
  podOf,
  template,
  valueOf,
  workload,
} from '../../support/kubernetes/read-manifests.ts';

describe('pods', () => {
  test.each(EVERY_HOSTING)('are the same while the service $name is paused', (descriptor) => {
    const [running, paused] = [{}, { instances: 0, isPaused: true }].map((more) =>
      manifestsOf(desiredService(descriptor, more), installation()),
    );
    expect(template(paused!)).toEqual(template(running!));
    expect(workload(paused!)['spec']).toMatchObject({ replicas: 0 });
    expect(paused!.map(({ kind }) => kind)).toEqual(running!.map(({ kind }) => kind));
  });

  test.each(EVERY_HOSTING)('of $name are others after a restart', (descriptor) => {
    const [before, after] = [7, 8].map((generation) =>
      template(manifestsOf(desiredService(descriptor, { generation }), installation())),
    );
    expect(after).not.toEqual(before);
  });

  test.each<[ServiceDescriptor, string, number]>([
    [EMBEDDED, 'StatefulSet', 20],
    [PROCESS, 'StatefulSet', 20],
    [WASM, 'StatefulSet', 20],
    [{ ...WASM, database: { urlFrom: 'db' } }, 'Deployment', 30],
    [WEB, 'Deployment', 20],
  ])('of %j are in a %s, and have %i seconds to end', (descriptor, kind, seconds) => {
    const manifests = manifestsOf(desiredService(descriptor), installation());
    expect(workload(manifests).kind).toBe(kind);
    const pod = podOf(manifests);
    expect(pod.terminationGracePeriodSeconds).toBe(seconds);
    for (const { lifecycle } of pod.containers)
      expect(lifecycle!.preStop.sleep.seconds).toBeLessThan(seconds);
  });

  test('a grace period is longer than waiting, hand-over and drain, whatever those take', () => {
    const drainMs = 61_500;
    const pod = podOf(
      manifestsOf(
        desiredService({ ...PROCESS, instances: 2, database: { urlFrom: 'db' } }),
        installation({ drainMs }),
      ),
    );
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainMs / 1000 + 15);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan((2 * drainMs) / 1000 + 5);
    const [runtime, program] = pod.containers;
    expect(valueOf(runtime!, 'SVC_SUPERVISOR_STOP_GRACE_MS')).toBe(String(drainMs));
    // The process serves its runtime until that has ended.
    expect(program!.lifecycle!.preStop.sleep.seconds).toBe(5 + 2 * 62);
  });

  test('an older Kubernetes waits by a program of the image', () => {
    const cluster = { disruptionBudgets: 'policy/v1beta1', hasSleepAction: false } as const;
    const pod = podOf(manifestsOf(desiredService(WEB), installation({ cluster })));
    for (const { lifecycle } of pod.containers)
      expect(lifecycle).toEqual({ preStop: { exec: { command: ['sleep', '5'] } } });
  });
});

describe('variables', () => {
  test('Kubernetes expands nothing in a value of a member', () => {
    const path = '/$(SVC_NAME)$$';
    const descriptor = { ...WEB, mounts: [{ path, service: 'cart' }] };
    const [proxy] = podOf(manifestsOf(desiredService(descriptor), installation())).containers;
    expect(valueOf(proxy!, 'SVC_PROXY_MOUNTS')).toBe('/$$(SVC_NAME)$$$$=cart');
  });

  test('a program has those of the descriptor from a secret, and those of the platform over them', () => {
    const env = { A: '1', B: 'ü' };
    const manifests = manifestsOf(desiredService({ ...WEB, env }), installation());
    expect(ofKind(manifests, 'Secret')).toMatchObject({
      metadata: { name: 'site-env' },
      data: { A: 'MQ==', B: 'w7w=' },
    });
    const [, program] = podOf(manifests).containers;
    expect(program).toMatchObject({
      envFrom: [{ secretRef: { name: 'site-env' } }],
      env: [
        { name: 'PORT', value: '8080' },
        { name: 'SVC_SERVICES_URL', value: 'http://127.0.0.1:7630' },
      ],
    });
  });

  test('a service without variables has no secret', () => {
    for (const descriptor of EVERY_HOSTING) {
      const manifests = manifestsOf(desiredService({ ...descriptor, env: {} }), installation());
      expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
    }
  });

  test('the values of a configuration are a file of the runtime, for a module and for a process', () => {
    const env = { b: '2', a: '1', SVC_LOG: 'json' };
    for (const descriptor of [WASM, PROCESS]) {
      const manifests = manifestsOf(desiredService({ ...descriptor, env }), installation());
      const secret = manifests.find(
        ({ metadata }) => metadata.name === `${descriptor.name}-configuration`,
      );
      const text = (secret!['data'] as Record<string, string>)['variables.json']!;
      expect(Buffer.from(text, 'base64').toString()).toBe('{"a":"1","b":"2"}');
      const [runtime] = podOf(manifests).containers;
      expect(valueOf(runtime!, 'SVC_CONFIGURATION_VARIABLES')).toBe(
        '/etc/svc/configuration/variables.json',
      );
      expect(valueOf(runtime!, 'SVC_LOG')).toBe('json');
    }
  });

  test('a limit of the runtime follows from the memory of its container', () => {
    const [runtime] = podOf(
      manifestsOf(desiredService({ ...WASM, resources: { memory: '1Gi' } }), installation()),
    ).containers;
    expect(valueOf(runtime!, 'NODE_OPTIONS')).toBe('--max-old-space-size=128');
    expect(valueOf(runtime!, 'SVC_SUPERVISOR_SHARD_HEAP_MIB')).toBe('384');
    expect(RUNTIME_VARIABLES).toContain('SVC_SUPERVISOR_SHARD_HEAP_MIB');
  });

  test('tokens are taken by a service with auth alone', () => {
    const where = installation({ tokens: { SVC_AUTH_ISSUER: 'https://login.example.org' } });
    const issuers = [WASM, { ...WASM, auth: 'platform' as const }].map((descriptor) =>
      valueOf(
        podOf(manifestsOf(desiredService(descriptor), where)).containers[0]!,
        'SVC_AUTH_ISSUER',
      ),
    );
    expect(issuers).toEqual([undefined, 'https://login.example.org']);
  });
});

describe('the network policy', () => {
  const CLUSTER = '[{"namespaceSelector":{}}]';
  test('admits every pod of the cluster to requests, management and remoting of components', () => {
    for (const descriptor of [EMBEDDED, PROCESS, WASM])
      expect(admitted(manifestsOf(desiredService(descriptor), installation()))).toEqual({
        [HTTP_PORT]: CLUSTER,
        [MANAGEMENT_PORT]: CLUSTER,
        [REMOTING_PORT]: CLUSTER,
      });
  });

  test('admits everybody to the readiness of a web-hosted pod, and the cluster to its requests', () => {
    expect(admitted(manifestsOf(desiredService(WEB), installation()))).toEqual({
      [HTTP_PORT]: CLUSTER,
      [READINESS_PORT]: 'anyone',
    });
  });

  test('admits the pods of the service alone to remoting, if the operator says so', () => {
    const where = installation({ remotingFrom: 'service' });
    const ports = admitted(manifestsOf(desiredService(WASM), where));
    expect(JSON.parse(ports[REMOTING_PORT]!)).toEqual([
      {
        podSelector: {
          matchLabels: {
            'app.kubernetes.io/managed-by': 'svc',
            'svc.dev/project': 'shop',
            'svc.dev/service': 'counter',
          },
        },
      },
    ]);
    expect(ports[MANAGEMENT_PORT]).toBe(CLUSTER);
  });

  test('admits nobody to a port of requests that is not there', () => {
    const ports = admitted(manifestsOf(desiredService({ ...WASM, http: false }), installation()));
    expect(new Set(Object.keys(ports).map(Number))).toEqual(
      new Set([MANAGEMENT_PORT, REMOTING_PORT]),
    );
  });
});
