// The orchestrator of a cluster does what every orchestrator does, and what a real API server and its controllers ask of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';
import {
  type DesiredService,
  type LogQuery,
  WorkloadRefused,
} from '../../../control-plane/orchestration/orchestrator.ts';
import { projectNamespace } from '../../../client/index.ts';
import { desiredService, EVERY_HOSTING } from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { orchestratorSuite } from '../../suites/orchestrator-suite.ts';
import {
  type ChangedDeployment,
  changedDeployment,
  deploymentPath,
  namespacePath,
  newKey,
  newService,
  pathsOf,
  withImage,
} from './cluster-services.ts';
import { ClusterUnderTest, INSTALLATION, until } from './cluster-under-test.ts';
import { IMAGES } from './scripted-programs.ts';

const noKubernetes = printedMissingKubernetes('kubernetes-orchestrator.long.test.ts');
const never = new AbortController().signal;
const MERGE = 'application/merge-patch+json';

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;

  beforeAll(async () => {
    cluster = await ClusterUnderTest.start();
  });
  afterAll(() => cluster?.stop());

  orchestratorSuite('of a cluster', async () => {
    const orchestrator = cluster.newOrchestrator();
    return {
      orchestrator,
      hosting: { hosting: 'process', protocol: 'http/1.1' },
      images: IMAGES,
      until,
      async crash(key) {
        const [pod] = await cluster.pods(key);
        cluster.programs.crash(pod!.metadata.uid!);
      },
      async discard() {
        await orchestrator[Symbol.asyncDispose]();
        await cluster.remove(
          { project: 'web', service: 'cart' },
          { project: 'web', service: 'shop' },
        );
      },
    };
  });

  async function running(desired = newService()): Promise<DesiredService> {
    await cluster.reconcile(desired);
    await cluster.untilState(desired, 'ready');
    return desired;
  }
  const workloadOf = async ({ key }: DesiredService) =>
    (await cluster.client.get(deploymentPath(key)))!;
  const uidsOf = async ({ key }: DesiredService) =>
    (await cluster.pods(key))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid!)
      .toSorted();
  const logs = ({ key }: DesiredService, query: Partial<LogQuery> = {}) =>
    cluster.orchestrator.logs(key, { previous: false, bytesMax: 1_000_000, ...query }, never);

  test.each(EVERY_HOSTING)(
    'apply -> ready, every manifest admitted by a real API server: $name',
    async (descriptor) => {
      const key = newKey(descriptor.name);
      const desired = desiredService(descriptor, { key });
      const startedMs = performance.now();
      await running(desired);
      expect(performance.now() - startedMs).toBeLessThan(20_000);
    },
  );

  test('reconcile again changes nothing (resourceVersion kept)', async () => {
    for (const descriptor of EVERY_HOSTING) {
      const key = newKey(descriptor.name);
      const desired = await running(
        desiredService(descriptor, { key, hostnames: [`${key.project}.example`] }),
      );
      const versions = () =>
        Promise.all(
          pathsOf(desired).map(async (path) => (await cluster.client.get(path))!.metadata),
        );
      let before = await versions();
      // The status of a workload may still be written after it is ready.
      await until(async () => {
        const last = before;
        before = await versions();
        return JSON.stringify(last) === JSON.stringify(before);
      });
      // The server has the time of the last change in seconds.
      const second = Math.floor(Date.now() / 1000);
      await until(async () => Math.floor(Date.now() / 1000) > second);
      await cluster.reconcile(desired);
      await cluster.reconcile(desired);
      expect(await versions()).toEqual(before);
    }
  });

  test('apply with nothing changed but generation+1 rolls every pod, never below desired ready', async () => {
    const first = await running();
    const before = await uidsOf(first);
    const next = { ...first, generation: 2 };
    await cluster.reconcile(next);
    let readyMin = Infinity;
    await cluster.untilState(next, 'ready', (found) => {
      if (found.kind === 'workload') readyMin = Math.min(readyMin, found.readyInstances);
    });
    expect(readyMin).toBe(2);
    const after = await uidsOf(next);
    expect(after).toHaveLength(2);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
  });

  test('another image of svc, at the same generation, rolls every pod, and is ready once all are new', async () => {
    const desired = await running();
    const installation = { ...INSTALLATION, image: 'registry.example/svc:0.2.0' };
    for (const where of [installation, INSTALLATION]) {
      const before = await cluster.uids(desired.key);
      await using next = cluster.newOrchestrator({ installation: where });
      await next.reconcile(desired, never);
      expect(cluster.stateOf(desired, await cluster.observe(desired.key))).toBe('deploying');
      await cluster.untilState(desired, 'ready');
      const after = await cluster.uids(desired.key);
      expect(after.filter((uid) => before.includes(uid))).toEqual([]);
    }
  });

  test('hard case 16: status straight after apply is never the old ready (observedGeneration race)', async () => {
    let desired = await running();
    // Another number of instances has the controllers scale before they make new pods.
    for (const instances of [3, 2, 3]) {
      desired = { ...desired, generation: desired.generation + 1, instances };
      await cluster.reconcile(desired);
      await cluster.untilState(desired, 'ready', (found) => {
        if (found.kind !== 'workload' || found.rollout.kind !== 'complete') return;
        expect(found.updatedInstances).toBe(instances);
      });
    }
  });

  test('pause -> zero pods, namespace, secret and service kept; apply while paused stays paused; resume', async () => {
    const first = await running();
    const paused = { ...first, instances: 0, isPaused: true };
    await cluster.reconcile(paused);
    await until(async () => (await cluster.pods(first.key)).length === 0);
    expect(await cluster.observe(first.key)).toMatchObject({
      readyInstances: 0,
      wantedInstances: 0,
      rollout: { kind: 'complete' },
    });
    expect(await logs(first)).toEqual([]);
    for (const path of pathsOf(first)) expect(await cluster.client.get(path)).toBeDefined();
    const applied = { ...paused, generation: 2 };
    await cluster.reconcile(applied);
    await until(async () => {
      const found = await cluster.observe(first.key);
      return found.kind === 'workload' && found.rollout.kind === 'complete';
    });
    expect(await cluster.pods(first.key)).toEqual([]);
    const resumed = { ...first, generation: 2 };
    await cluster.reconcile(resumed);
    expect(await cluster.observe(first.key)).toMatchObject({ rollout: { kind: 'progressing' } });
    await cluster.untilState(resumed, 'ready');
  });

  test('hard case 20: image that cannot be pulled: deploying with the orchestrator’s words, old pods keep serving; progress deadline -> failed', async () => {
    const first = await running();
    const stuck = withImage({ ...first, generation: 2 }, IMAGES.missing);
    await cluster.reconcile(stuck);
    await until(async () => {
      const found = await cluster.observe(first.key);
      return found.kind === 'workload' && found.detail !== undefined;
    });
    const found = await cluster.observe(first.key);
    expect(found).toMatchObject({
      detail: `ImagePullBackOff: Back-off pulling image "${IMAGES.missing}"`,
      readyInstances: 2,
      updatedInstances: 0,
    });
    expect(cluster.stateOf(stuck, found)).toBe('deploying');
    await cluster.send(
      'PATCH',
      deploymentPath(first.key),
      { spec: { progressDeadlineSeconds: 1 } },
      MERGE,
    );
    const failed = await cluster.untilState(stuck, 'failed');
    expect(failed.readyInstances).toBe(2);
    expect(failed.rollout).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/ImagePullBackOff.*has timed out progressing/),
    });
    await running({ ...first, generation: 3 });
    expect(await workloadOf(first)).toMatchObject({ spec: { progressDeadlineSeconds: 600 } });
  });

  test('readiness lost after the rollout -> degraded, regained -> ready', async () => {
    const image = 'registry.example/p/flaky:1';
    const desired = await running(withImage(newService(), image));
    cluster.programs.setReady(image, false);
    const lost = await cluster.untilState(desired, 'unavailable');
    expect(lost).toMatchObject({
      readyInstances: 0,
      rollout: { kind: 'complete' },
      detail: 'the process is not listening on port 8080',
    });
    cluster.programs.setReady(image, true);
    await cluster.untilState(desired, 'ready');
    const [pod] = await cluster.pods(desired.key);
    cluster.programs.crash(pod!.metadata.uid!);
    await cluster.untilState(desired, 'degraded');
    await cluster.untilState(desired, 'ready');
  });

  test('hard case 21: logs through the real pods/log subresource: all, one, tail, previous; one unreadable instance carries its own error', async () => {
    const desired = await running();
    const [first, second] = (await cluster.pods(desired.key))
      .map(({ metadata }) => metadata)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const output = 'starting\nrun 0 listens\n';
    expect(await logs(desired)).toEqual([
      { instance: first!.name, output, error: null },
      { instance: second!.name, output, error: null },
    ]);
    expect(await logs(desired, { instance: first!.name, tail: 1 })).toEqual([
      { instance: first!.name, output: 'run 0 listens\n', error: null },
    ]);
    expect(await logs(desired, { instance: 'nobody' })).toEqual([]);
    const tail = await logs(desired, { tail: 0 });
    expect(tail.map((one) => one.output)).toEqual(['', '']);
    const other = await running();
    const [foreign] = await cluster.pods(other.key);
    expect(await logs(desired, { instance: foreign!.metadata.name })).toEqual([]);
    cluster.node.logs.write(first!.name, 'service', 'long ago', Date.now() - 3_600_000);
    const recent = await logs(desired, { instance: first!.name, sinceS: 60 });
    expect(recent[0]!.output).toBe(output);
    // Two instances share the bytes.
    const short = await logs(desired, { bytesMax: 20 });
    expect(short.map((one) => one.output.length)).toEqual([10, 10]);
    cluster.programs.crash(first!.uid!);
    await cluster.untilState(desired, 'ready');
    const previous = await logs(desired, { previous: true });
    expect(previous[0]).toMatchObject({ instance: first!.name, error: null });
    expect(previous[0]!.output).toContain('run 0 listens');
    expect(previous[1]).toMatchObject({
      instance: second!.name,
      output: '',
      error: expect.stringContaining('previous terminated container'),
    });
    cluster.node.logs.fail(second!.name, 500, 'the disk of the node is broken');
    const broken = await logs(desired);
    expect(broken.map(({ error }) => error)).toEqual([
      null,
      expect.stringContaining('the disk of the node is broken'),
    ]);
  });

  test('expose / unexpose: ingress appears and goes; nothing else changes', async () => {
    const desired = await running();
    const { generation } = (await workloadOf(desired)).metadata;
    const path = `/apis/networking.k8s.io/v1/namespaces/${projectNamespace(desired.key.project)}/ingresses/cart`;
    await cluster.reconcile({ ...desired, hostnames: ['cart.example.org'] });
    expect(await cluster.client.get(path)).toMatchObject({
      spec: { rules: [{ host: 'cart.example.org' }] },
    });
    await cluster.reconcile(desired);
    expect(await cluster.client.get(path)).toBeUndefined();
    expect((await workloadOf(desired)).metadata.generation).toBe(generation);
  });

  test('drift: someone scales, deletes a pod, edits our field -> the next reconcile wins it back; a foreign field survives', async () => {
    const desired = await running();
    const path = deploymentPath(desired.key);
    await cluster.send(
      'PATCH',
      path,
      { metadata: { annotations: { 'autoscaler.example/x': '1' } }, spec: { replicas: 4 } },
      MERGE,
    );
    const [pod] = await cluster.pods(desired.key);
    await cluster.client.delete(`${namespacePath(desired.key)}/pods/${pod!.metadata.name}`);
    await cluster.reconcile(desired);
    expect(await cluster.client.get(path)).toMatchObject({
      metadata: { annotations: { 'autoscaler.example/x': '1' } },
      spec: { replicas: 2 },
    });
    await until(async () => (await cluster.pods(desired.key)).length === 2);
    await cluster.untilState(desired, 'ready');
  });

  test('hard case 27: a removed env var really goes with data; with stringData it does not, and every apply rewrites the object', async () => {
    const first = await running();
    const path = `${namespacePath(first.key)}/secrets/cart-env`;
    await running({
      ...first,
      generation: 2,
      descriptor: { ...first.descriptor, env: { B: '2' } },
    });
    expect(Object.keys((await cluster.client.get(path))!['data'] as object)).toEqual(['B']);
    await running({ ...first, generation: 3, descriptor: { ...first.descriptor, env: {} } });
    expect(await cluster.client.get(path)).toBeUndefined();
    const trap = path.replace(/cart-env$/, 'trap');
    const keysWith = async (stringData: JsonObject) => {
      const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'trap' }, stringData };
      const { data } = await cluster.client.apply(trap, object, { force: true });
      return Object.keys(data as object);
    };
    await keysWith({ A: '1', B: '1' });
    expect(await keysWith({ B: '1' })).toEqual(['A', 'B']);
  });

  test('hard case 26: objects that are not ours are not taken over', async () => {
    const desired = newService();
    const path = namespacePath(desired.key);
    await cluster.server.createNamespace(projectNamespace(desired.key.project));
    const before = await cluster.client.get(path);
    await expect(cluster.reconcile(desired)).rejects.toBeInstanceOf(WorkloadRefused);
    expect((await cluster.client.get(path))!.metadata.labels).toEqual(before!.metadata.labels);
    expect(await cluster.observe(desired.key)).toEqual({ kind: 'none', key: desired.key });
  });

  test('what only a real server refuses: bad names, bad image, bad ports, force on a merge patch', async () => {
    const desired = await running();
    const refused = async (change: (object: ChangedDeployment) => void): Promise<string> => {
      const object = changedDeployment(desired, change);
      const path = deploymentPath({ ...desired.key, service: object.metadata.name });
      const failure = await cluster.client
        .apply(path, object, { force: true, isDryRun: true })
        .catch((error: unknown) => error as Error);
      return (failure as Error).message;
    };
    expect(await refused((one) => (one.metadata.name = 'Cart'))).toContain('RFC 1123');
    expect(await refused((one) => (one.spec.template.spec.containers[0]!.image = ''))).toContain(
      'Required value',
    );
    expect(
      await refused(
        (one) => (one.spec.template.spec.containers[0]!.ports[0]!.name = 'management-port-x'),
      ),
    ).toContain('no more than 15');
    expect(await refused((one) => (one.spec.selector.matchLabels = { other: 'label' }))).toContain(
      'selector',
    );
    await expect(
      cluster.send(
        'PATCH',
        `${deploymentPath(desired.key)}?force=true`,
        { spec: { replicas: 2 } },
        MERGE,
      ),
    ).rejects.toThrow('non-apply patch');
  });

  test('service name that is legal for us but not for a Kubernetes Service: 64+ chars, leading digit', async () => {
    for (const service of ['a'.repeat(64), '1cart', 'cart-']) {
      const desired = newService();
      const named: DesiredService = {
        ...desired,
        key: { ...desired.key, service },
        descriptor: { ...desired.descriptor, name: service },
      };
      expect(await cluster.orchestrator.problems(named, never)).toMatchObject([{ path: '/name' }]);
      await expect(cluster.reconcile(named)).rejects.toBeInstanceOf(WorkloadRefused);
      const path = namespacePath(desired.key);
      expect(await cluster.client.get(path)).toBeUndefined();
    }
  });

  test('destroy removes the workload; foreign objects and the namespace stay; destroy twice is fine', async () => {
    const desired = await running();
    const namespace = namespacePath(desired.key);
    await cluster.send('POST', `${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'theirs' },
    });
    await cluster.remove(desired.key);
    await cluster.remove(desired.key);
    expect(await cluster.pods(desired.key)).toEqual([]);
    expect(await cluster.client.get(namespace)).toBeDefined();
    expect(await cluster.client.get(`${namespace}/configmaps/theirs`)).toBeDefined();
    for (const path of pathsOf(desired).filter((one) => one !== namespace))
      expect(await cluster.client.get(path)).toBeUndefined();
  });
});
