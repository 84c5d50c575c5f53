// Services of a cluster whose journals are in databases: those that an operator of databases makes, and those that were declared.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { projectNamespace } from '../../../client/index.ts';
import type { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import {
  type DesiredService,
  WorkloadRefused,
} from '../../../control-plane/orchestration/orchestrator.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  PROCESS,
} from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { PASSWORD, ScriptedDatabases } from '../../support/kubernetes/scripted-databases.ts';
import { READY } from '../../support/kubernetes/scripted-node.ts';
import { namespacePath, newKey } from './cluster-services.ts';
import { ClusterUnderTest, INSTALLATION, until } from './cluster-under-test.ts';

const noKubernetes = printedMissingKubernetes('databases.long.test.ts');
const never = new AbortController().signal;
const LISTS = [
  ...['pods', 'services', 'events', 'persistentvolumeclaims'].map((one) => ['/api/v1', one]),
  ...['deployments', 'statefulsets', 'replicasets'].map((one) => ['/apis/apps/v1', one]),
  ['/apis/networking.k8s.io/v1', 'networkpolicies'],
] as const;
const DATABASES = ['/apis/postgresql.cnpg.io/v1', 'clusters'] as const;

const newModule = (more: object = {}): DesiredService => {
  const key = newKey();
  return desiredService({ ...PROCESS, name: 'cart', ...more }, { key, generation: 1 });
};

const namespaceOf = ({ key }: DesiredService) => projectNamespace(key.project);

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;
  let databases: ScriptedDatabases;
  let orchestrator: KubernetesOrchestrator;
  const logged: unknown[] = [];

  beforeAll(async () => {
    cluster = await ClusterUnderTest.start();
    databases = new ScriptedDatabases(cluster.server);
    orchestrator = cluster.newOrchestrator({
      installation: { ...INSTALLATION, databases: CLOUD_NATIVE_PG },
      log: (entry) => logged.push(entry),
    });
    reportMounts();
  });
  afterAll(async () => {
    await orchestrator?.[Symbol.asyncDispose]();
    await databases?.stop();
    await cluster?.stop();
  });

  /** Namespaces whose pods have what they mount. */
  const mounted = new Set<string>();
  /** As a node does, which mounts the secrets before it starts a container. */
  const reportMounts = () =>
    cluster.node.script(({ metadata }) =>
      mounted.has(metadata.namespace!) ? READY : { kind: 'waiting', reason: 'ContainerCreating' },
    );
  const mountAll = (namespace: string) => {
    mounted.add(namespace);
    reportMounts();
  };
  const reconcile = (desired: DesiredService) => orchestrator.reconcile(desired, never);
  const observe = ({ key }: DesiredService) => orchestrator.observe(key, never);
  const isThere = async (path: string) => (await cluster.client.get(path)) !== undefined;

  async function untilDetail(desired: DesiredService, words: string): Promise<void> {
    let detail: string | undefined;
    await until(
      async () => {
        ({ detail } = await observe(desired));
        return detail?.includes(words) === true;
      },
      () => `the detail is ${detail}`,
    );
  }

  async function untilReady(desired: DesiredService): Promise<void> {
    let found = await observe(desired);
    await until(
      async () => {
        found = await observe(desired);
        return cluster.stateOf(desired, found) === 'ready';
      },
      () => JSON.stringify(found),
    );
  }

  /** What anybody sees of a service who may not read its secrets, and the log of the control plane. */
  async function shown(
    desired: DesiredService,
    ...more: readonly (typeof DATABASES)[]
  ): Promise<string> {
    const lists = await Promise.all(
      [...LISTS, ...more].map(([api, kind]) =>
        cluster.client.list(`${api}/namespaces/${namespaceOf(desired)}/${kind}`),
      ),
    );
    return JSON.stringify([await observe(desired), lists, logged]);
  }

  test('a cluster without the kind of databases refuses the service, with what its operator has to do', async () => {
    const desired = newModule();
    const refusal = await reconcile(desired).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(WorkloadRefused);
    expect((refusal as Error).message).toContain(
      'the cluster has no kind Cluster of postgresql.cnpg.io/v1',
    );
    expect(await isThere(namespacePath(desired.key))).toBe(false);
  });

  test('a declared database is waited for, noted once its secret is there, and not left then', async () => {
    const desired = newModule({ database: { urlFrom: 'cart.url' } });
    const namespace = namespaceOf(desired);
    await reconcile(desired);
    await untilDetail(desired, `it waits for the secret cart.url (database.urlFrom)`);
    expect(await observe(desired)).toMatchObject({ database: 'supplied' });
    const { database: _, ...without } = desired.descriptor;
    const dropped = { ...desired, descriptor: without as DesiredService['descriptor'] };
    expect(await orchestrator.problems(dropped, never)).toEqual([]);
    await cluster.server.create(`${namespacePath(desired.key)}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cart.url' },
      stringData: { url: `postgresql://cart:${PASSWORD}@db.example.org/cart` },
    });
    mountAll(namespace);
    await untilReady(desired);
    await orchestrator.reconcile({ kind: 'removed', key: desired.key }, never);
    await until(async () => (await observe(desired)).kind === 'none');
    expect(await orchestrator.problems(dropped, never)).toMatchObject([
      { path: '/database', reason: expect.stringContaining('database.urlFrom: cart.url') },
    ]);
    await expect(reconcile(dropped)).rejects.toBeInstanceOf(WorkloadRefused);
    const next = { ...desired, incarnation: 'next', generation: 2 };
    await reconcile(next);
    await untilReady(next);
    expect(await shown(next)).not.toContain(PASSWORD);
  });

  test('SVC_UPGRADE_UNSAFE of a new pod is the detail of the service, and the pods before it go on', async () => {
    const desired = newModule({ instances: 2, database: { urlFrom: 'cart.url' } });
    const two = { ...desired, instances: 2 };
    mountAll(namespaceOf(desired));
    await reconcile(two);
    await untilReady(two);
    const message = JSON.stringify({
      level: 'error',
      message: 'The nodes that run do not understand events of this module.',
      code: 'SVC_UPGRADE_UNSAFE',
    });
    const end = { exitCode: 1, reason: 'Error', message };
    onTestFinished(reportMounts);
    cluster.node.script(({ metadata }) => {
      if (metadata.annotations?.['svc.dev/generation'] !== '2') return READY;
      return {
        runtime: { kind: 'waiting', reason: 'CrashLoopBackOff', lastEnd: end, restarts: 3 },
        service: READY,
      };
    });
    const next = { ...two, generation: 2 };
    await reconcile(next);
    await untilDetail(
      next,
      'CrashLoopBackOff: the container runtime ends again and again: Error, exit code 1; its last line: SVC_UPGRADE_UNSAFE: The nodes that run do not understand events of this module.',
    );
    expect(await observe(next)).toMatchObject({ readyInstances: 2, updatedInstances: 0 });
  });

  describe('and an operator of databases', () => {
    beforeAll(() => databases.install());

    test('pods wait for their database in the words of its operator, and its URL is only in its secret', async () => {
      const desired = newModule({ instances: 2 });
      const namespace = namespaceOf(desired);
      const two = { ...desired, instances: 2 };
      await reconcile(two);
      await untilDetail(
        two,
        'it waits for the secret cart-database-app of its database, the Cluster cart-database: nothing has taken it up yet',
      );
      await databases.report(namespace, 'cart-database', 'Setting up primary');
      await untilDetail(two, 'the Cluster cart-database: Setting up primary');
      await databases.finish(namespace, 'cart-database');
      // The node has not mounted it yet, and says what it lacks.
      const [pod] = await cluster.pods(two.key);
      const message =
        'MountVolume.SetUp failed for volume "identity" : secret "cart-identity" not found';
      await cluster.send('POST', `${namespacePath(two.key)}/events`, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'cart.1' },
        involvedObject: {
          apiVersion: 'v1',
          kind: 'Pod',
          namespace,
          name: pod!.metadata.name,
          uid: pod!.metadata.uid,
        },
        type: 'Warning',
        reason: 'FailedMount',
        message,
        lastTimestamp: new Date().toISOString(),
      });
      await until(async () => {
        const found = await observe(two);
        return found.detail === `FailedMount: ${message}`;
      });
      mountAll(namespace);
      await untilReady(two);
      const found = await observe(two);
      expect(found).toMatchObject({ database: 'provisioned', readyInstances: 2 });
      expect(found.detail).toBeUndefined();
      expect(await shown(two, DATABASES)).not.toContain(PASSWORD);
    });

    test('a deleted service leaves its database and the secret of it, and finds them again', async () => {
      const desired = newModule();
      const namespace = namespaceOf(desired);
      await reconcile(desired);
      await databases.finish(namespace, 'cart-database');
      mountAll(namespace);
      await untilReady(desired);
      const path = databases.pathOf(namespace, 'cart-database');
      const uid = (await cluster.client.get(path))!.metadata.uid;
      await orchestrator.reconcile({ kind: 'removed', key: desired.key }, never);
      await until(async () => (await observe(desired)).kind === 'none');
      expect(await isThere(`${namespacePath(desired.key)}/secrets/cart-database-app`)).toBe(true);
      const supplied = { ...desired.descriptor, database: { urlFrom: 'cart-url' } };
      expect(
        await orchestrator.problems({ ...desired, descriptor: supplied }, never),
      ).toMatchObject([{ path: '/database' }]);
      const next = { ...desired, incarnation: 'next', generation: 2 };
      await reconcile(next);
      await untilReady(next);
      expect((await cluster.client.get(path))!.metadata.uid).toBe(uid);
      const { resourceVersion } = (await cluster.client.get(path))!.metadata;
      await reconcile(next);
      expect((await cluster.client.get(path))!.metadata.resourceVersion).toBe(resourceVersion);
    });

    test('the refusal of a database by an admission webhook is quoted, and nothing of it is left', async () => {
      const desired = newModule();
      await databases.refuse('storage class gold does not exist');
      const refusal = await reconcile(desired).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(WorkloadRefused);
      expect((refusal as Error).message).toContain('storage class gold does not exist');
      const notes = `${namespacePath(desired.key)}/secrets/cart-journal`;
      expect(await isThere(notes)).toBe(false);
      await databases.admit();
      await until(async () => {
        await reconcile(desired).catch(() => undefined);
        return isThere(notes);
      });
    });

    test('a spec that the kind does not take is refused in the words of the cluster', async () => {
      await using bad = cluster.newOrchestrator({
        installation: {
          ...INSTALLATION,
          databases: { ...CLOUD_NATIVE_PG, spec: { instances: 0 } },
        },
      });
      await expect(bad.reconcile(newModule(), never)).rejects.toThrow(
        /the cluster refuses the service: .*spec\.instances/,
      );
    });

    test('a journal on a volume stays there though the installation makes databases later, also over a deletion', async () => {
      const desired = newModule();
      mountAll(namespaceOf(desired));
      await cluster.orchestrator.reconcile(desired, never);
      await untilReady(desired);
      expect(await observe(desired)).toMatchObject({ database: 'provisioned' });
      const claim = `${namespacePath(desired.key)}/persistentvolumeclaims/data-cart-0`;
      expect(await isThere(claim)).toBe(true);
      const declared = { ...desired.descriptor, database: { urlFrom: 'cart-url' } };
      for (const generation of [2, 3]) {
        const next = { ...desired, generation };
        await reconcile(next);
        await untilReady(next);
        expect(await isThere(databases.pathOf(namespaceOf(desired), 'cart-database'))).toBe(false);
        await expect(reconcile({ ...next, descriptor: declared })).rejects.toThrow('data-cart-0');
        await orchestrator.reconcile({ kind: 'removed', key: desired.key }, never);
        await until(async () => (await observe(desired)).kind === 'none');
      }
    });
  });
});
