import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeError } from '../../../control-plane/kubernetes/api/kube-error.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { ObjectWatch } from '../../../control-plane/kubernetes/api/object-watch.ts';
import { readPodLogs } from '../../../control-plane/kubernetes/api/pod-logs.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { KubernetesServer } from '../../support/kubernetes/kubernetes-server.ts';
import { READY, ScriptedNode } from '../../support/kubernetes/scripted-node.ts';

const noKubernetes = printedMissingKubernetes('kubernetes-server.long.test.ts');
const never = new AbortController().signal;
const CRASH = { exitCode: 137, reason: 'OOMKilled' };

function deployment(namespaceName: string, name: string, replicas = 2): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: namespaceName },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'service', image: 'registry.example/shop/cart:1' }] },
      },
    },
  };
}

function configMap(namespaceName: string, name: string, data: Record<string, string> = {}) {
  const metadata = { name, namespace: namespaceName };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

describe.skipIf(noKubernetes !== undefined)('a Kubernetes API server', () => {
  let server: KubernetesServer;
  let node: ScriptedNode;
  let client: KubeClient;
  let namespaces = 0;

  beforeAll(async () => {
    server = await KubernetesServer.start();
    node = await ScriptedNode.start(server);
    client = server.client();
  });
  afterAll(async () => {
    await node?.stop();
    await server?.stop();
  });

  /** Makes a namespace, and returns the path of a kind of object in it. */
  async function namespace(): Promise<{
    readonly name: string;
    readonly path: (kind: string) => string;
  }> {
    const name = `svc-test-${++namespaces}`;
    await server.createNamespace(name);
    const inApps = new Set(['deployments']);
    return {
      name,
      path: (kind) =>
        `${inApps.has(kind) ? '/apis/apps/v1' : '/api/v1'}/namespaces/${name}/${kind}`,
    };
  }

  async function readyReplicas(path: string): Promise<unknown> {
    const found = await client.get(path);
    const status = found?.['status'] as { readonly readyReplicas?: number } | undefined;
    return status?.readyReplicas ?? 0;
  }

  async function podsOf(path: string): Promise<readonly KubeObject[]> {
    return (await client.list(path)).items;
  }

  test('a Deployment becomes ready, shrinks, and is deleted with its pods', async () => {
    const { name, path } = await namespace();
    const cart = `${path('deployments')}/cart`;
    await client.apply(cart, deployment(name, 'cart'), { force: true });
    await expect.poll(() => readyReplicas(cart)).toBe(2);
    await client.apply(cart, deployment(name, 'cart', 1), { force: true });
    await expect.poll(async () => (await podsOf(path('pods'))).length).toBe(1);
    expect(await client.delete(cart)).toBe(true);
    await expect.poll(() => podsOf(path('pods'))).toEqual([]);
    expect(await client.get(cart)).toBeUndefined();
  });

  test('the node reports containers as a test scripts them', async () => {
    const { name, path } = await namespace();
    const cart = `${path('deployments')}/cart`;
    const message = 'Back-off pulling image "registry.example/shop/cart:1"';
    node.script((pod) =>
      pod.metadata.namespace === name
        ? { kind: 'waiting', reason: 'ImagePullBackOff', message }
        : READY,
    );
    await client.apply(cart, deployment(name, 'cart', 1), { force: true });
    const containerOf = async () => {
      const [pod] = await podsOf(path('pods'));
      const status = pod?.['status'] as { readonly containerStatuses?: readonly unknown[] };
      return status?.containerStatuses?.[0];
    };
    await expect
      .poll(containerOf)
      .toMatchObject({ state: { waiting: { reason: 'ImagePullBackOff', message } } });
    node.script((pod) =>
      pod.metadata.namespace === name
        ? { kind: 'waiting', reason: 'CrashLoopBackOff', restarts: 3, lastEnd: CRASH }
        : READY,
    );
    await expect.poll(containerOf).toMatchObject({
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: CRASH },
    });
    node.script((pod) => (pod.metadata.namespace === name ? { kind: 'not-ready' } : READY));
    await expect.poll(containerOf).toMatchObject({ ready: false, state: { running: {} } });
    expect(await readyReplicas(cart)).toBe(0);
    node.script(() => READY);
    await expect.poll(() => readyReplicas(cart)).toBe(1);
  });

  test('a pod that is deleted stays until its node has ended it', async () => {
    const { name, path } = await namespace();
    const cart = `${path('deployments')}/cart`;
    await client.apply(cart, deployment(name, 'cart', 1), { force: true });
    await expect.poll(() => readyReplicas(cart)).toBe(1);
    node.endAfter(() => 1000);
    const [pod] = await podsOf(path('pods'));
    const deletedMs = performance.now();
    await client.delete(`${path('pods')}/${pod!.metadata.name}`, { uid: pod!.metadata.uid });
    expect((await client.get(`${path('pods')}/${pod!.metadata.name}`))?.metadata).toHaveProperty(
      'deletionTimestamp',
    );
    await expect.poll(() => client.get(`${path('pods')}/${pod!.metadata.name}`)).toBeUndefined();
    expect(performance.now() - deletedMs).toBeGreaterThan(900);
    node.endAfter(() => 0);
  });

  test('logs are read by tail, time, bytes and restart', async () => {
    const { name, path } = await namespace();
    const cart = `${path('deployments')}/cart`;
    await client.apply(cart, deployment(name, 'cart', 1), { force: true });
    await expect.poll(() => readyReplicas(cart)).toBe(1);
    const [found] = await podsOf(path('pods'));
    const pod = found!.metadata.name;
    const read = (query: {
      tail?: number;
      sinceS?: number;
      previous?: boolean;
      bytesMax?: number;
    }) =>
      readPodLogs(
        client,
        { namespace: name, pod, container: 'service', previous: false, bytesMax: 1000, ...query },
        never,
      );
    await expect(read({ previous: true })).rejects.toThrow(
      `previous terminated container "service" in pod "${pod}" not found`,
    );
    node.logs.write(pod, 'service', 'before the crash');
    node.logs.restart(pod, 'service');
    node.logs.write(pod, 'service', 'an hour ago', Date.now() - 3_600_000);
    node.logs.write(pod, 'service', 'now');
    expect(await read({})).toBe('an hour ago\nnow\n');
    expect(await read({ tail: 1 })).toBe('now\n');
    expect(await read({ tail: 0 })).toBe('');
    expect(await read({ sinceS: 60 })).toBe('now\n');
    expect(await read({ sinceS: 0 })).toBe('');
    expect(await read({ bytesMax: 6 })).toBe('o\nnow\n'.slice(-6));
    expect(await read({ previous: true })).toBe('before the crash\n');
    node.logs.fail(pod, 500, 'the disk of the node is broken');
    await expect(read({})).rejects.toThrow('the disk of the node is broken');
    const other = { namespace: name, pod: 'gone', container: 'service', previous: false };
    await expect(readPodLogs(client, { ...other, bytesMax: 10 }, never)).rejects.toThrow(
      'pods "gone" not found',
    );
  });

  test('an apply keeps the fields of others, and removes what it no longer has', async () => {
    const { name, path } = await namespace();
    const map = `${path('configmaps')}/cart`;
    const first = await client.apply(map, configMap(name, 'cart', { a: '1', b: '2' }), {
      force: true,
    });
    const again = await client.apply(map, configMap(name, 'cart', { a: '1', b: '2' }), {
      force: true,
    });
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await server.transport(server.administrator).send({
      method: 'PATCH',
      path: map,
      query: { fieldManager: 'somebody' },
      contentType: 'application/merge-patch+json',
      body: { data: { a: '7', foreign: 'stays' } },
    });
    const conflict = client.apply(map, configMap(name, 'cart', { a: '1' }), { force: false });
    await expect(conflict).rejects.toMatchObject({
      status: 409,
      reason: 'Conflict',
      message: expect.stringContaining('conflict with "somebody"'),
    });
    const forced = await client.apply(map, configMap(name, 'cart', { a: '1' }), { force: true });
    expect(forced['data']).toEqual({ a: '1', foreign: 'stays' });
  });

  test('a deletion of another object of the same name is refused', async () => {
    const { name, path } = await namespace();
    const map = `${path('configmaps')}/cart`;
    await client.apply(map, configMap(name, 'cart'), { force: true });
    const refused = client.delete(map, { uid: '00000000-0000-0000-0000-000000000000' });
    await expect(refused).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
    expect(await client.get(map)).toBeDefined();
  });

  test('what a ServiceAccount may not do is refused in the words of the server', async () => {
    const { name, path } = await namespace();
    const user = await server.serviceAccount({
      namespace: name,
      name: 'driver',
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'patch'] }],
    });
    const driver = server.client(user);
    const map = `${path('configmaps')}/cart`;
    // Its rights follow within moments.
    await expect
      .poll(() =>
        driver.get(map).then(
          () => 'allowed',
          () => 'refused',
        ),
      )
      .toBe('allowed');
    await expect(driver.list(path('secrets'))).rejects.toMatchObject({
      status: 403,
      reason: 'Forbidden',
      message: `secrets is forbidden: User "system:serviceaccount:${name}:driver" cannot list resource "secrets" in API group "" in the namespace "${name}"`,
    });
    const { kubectl } = server.programs;
    const args = [`--kubeconfig=${user.kubeconfig}`, 'auth', 'can-i', '-n', name];
    const can = (...what: readonly string[]) =>
      spawnSync(kubectl, [...args, ...what], { encoding: 'utf8' }).stdout.trim();
    expect(can('list', 'configmaps')).toBe('yes');
    expect(can('delete', 'configmaps')).toBe('no');
  });

  test('a client without a certificate, or of another authority, is refused', async () => {
    const { credentials: _, ...anonymous } = server.administrator.connection;
    const refused = server.client({ connection: anonymous, kubeconfig: '' });
    await expect(refused.list('/api/v1/namespaces')).rejects.toMatchObject({ status: 403 });
    const { authority: __, ...untrusting } = server.administrator.connection;
    const unsafe = server.client({ connection: untrusting, kubeconfig: '' });
    await expect(unsafe.list('/api/v1/namespaces')).rejects.toMatchObject({ kind: 'untrusted' });
  });

  /** Follows the ConfigMaps of a namespace as a cache does. */
  function followed(path: string) {
    const names = new Set<string>();
    const failures: KubeError[] = [];
    let lists = 0;
    const watch = new ObjectWatch({
      client,
      path,
      limits: { pauseMaxMs: 500 },
      onList: (objects) => {
        lists++;
        names.clear();
        for (const { metadata } of objects) names.add(metadata.name);
      },
      onChange: (change, { metadata }) => {
        if (change === 'DELETED') names.delete(metadata.name);
        else names.add(metadata.name);
      },
      onFailure: (error) => failures.push(error),
    });
    // A namespace has a ConfigMap of its own in some versions.
    const seen = () => [...names].filter((name) => name !== 'kube-root-ca.crt').toSorted();
    return { watch, seen, failures, lists: () => lists };
  }

  test('a watch goes on after the API server was killed', async () => {
    const { name, path } = await namespace();
    const maps = path('configmaps');
    await client.apply(`${maps}/a`, configMap(name, 'a'), { force: true });
    const { watch, seen, failures } = followed(maps);
    await expect.poll(seen).toEqual(['a']);
    await server.killProgram('api-server');
    await expect.poll(() => failures.length).toBeGreaterThan(0);
    expect(failures[0]!.kind).toBe('unreachable');
    await server.startProgram('api-server');
    await client.apply(`${maps}/b`, configMap(name, 'b'), { force: true });
    await client.delete(`${maps}/a`);
    await expect.poll(seen).toEqual(['b']);
    await watch[Symbol.asyncDispose]();
  });

  test('a watch lists again after its version was compacted', async () => {
    const { name, path } = await namespace();
    const maps = path('configmaps');
    await client.apply(`${maps}/a`, configMap(name, 'a'), { force: true });
    const { watch, seen, failures, lists } = followed(maps);
    await expect.poll(seen).toEqual(['a']);
    await client.delete(`${maps}/a`);
    await expect.poll(seen).toEqual([]);
    const before = lists();
    await server.killProgram('api-server');
    await server.increaseVersion();
    await server.compact();
    await server.startProgram('api-server');
    await client.apply(`${maps}/b`, configMap(name, 'b'), { force: true });
    await expect.poll(seen).toEqual(['b']);
    expect(failures.some(({ status }) => status === 410)).toBe(true);
    expect(lists()).toBeGreaterThan(before);
    await watch[Symbol.asyncDispose]();
  });

  test('everything goes on after etcd was killed', async () => {
    const { name, path } = await namespace();
    const maps = path('configmaps');
    await client.apply(`${maps}/a`, configMap(name, 'a'), { force: true });
    const { watch, seen } = followed(maps);
    await expect.poll(seen).toEqual(['a']);
    await server.killProgram('etcd');
    const limited = server.client(server.administrator, { answerTimeoutMs: 1000 });
    await expect(
      limited.apply(`${maps}/b`, configMap(name, 'b'), { force: true }),
    ).rejects.toBeInstanceOf(Error);
    await server.startProgram('etcd');
    await expect
      .poll(() =>
        client.apply(`${maps}/b`, configMap(name, 'b'), { force: true }).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await expect.poll(seen).toEqual(['a', 'b']);
    await watch[Symbol.asyncDispose]();
  });
});

test.skipIf(noKubernetes !== undefined)('a server leaves no process and no file', async () => {
  const server = await KubernetesServer.start();
  const pids = (['etcd', 'api-server', 'controller-manager'] as const).map((name) =>
    server.pid(name),
  );
  const folder = server.certificates.folder;
  expect(pids.every(isAlive)).toBe(true);
  await server.stop();
  expect(pids.some(isAlive)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
