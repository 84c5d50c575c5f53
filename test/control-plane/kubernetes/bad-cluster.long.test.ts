// A cluster in which others are at work: it refuses or changes objects, has no room, removes a namespace, or has another control plane. And what an idle
// driver asks of it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';
import type { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import {
  FIELD_MANAGER,
  serviceLabels,
} from '../../../control-plane/kubernetes/manifests/object-names.ts';
import {
  type DesiredService,
  WorkloadRefused,
} from '../../../control-plane/orchestration/orchestrator.ts';
import {
  AdmissionWebhook,
  type AdmissionWebhookOptions,
} from '../../support/kubernetes/admission-webhook.ts';
import { CountedTransport } from '../../support/kubernetes/counted-transport.ts';
import { desiredService, EMBEDDED } from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import {
  deploymentPath,
  namespacePath,
  newKey,
  newService,
  withImage,
} from './cluster-services.ts';
import { ClusterUnderTest, INSTALLATION, until } from './cluster-under-test.ts';
import { IMAGES } from './scripted-programs.ts';

const noKubernetes = printedMissingKubernetes('bad-cluster.long.test.ts');
const never = new AbortController().signal;
const POD = '/spec/template/spec';
/** A container as those of a service mesh. */
const MESH = { name: 'mesh', image: 'registry.example/mesh:1' };
const MERGE = 'application/merge-patch+json';
/** The request by which the driver finds out whether the server is there. */
const CONTACT = `GET /api/v1/namespaces/${INSTALLATION.namespace}`;

interface PodSpec {
  readonly containers: readonly { readonly name: string }[];
}

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;
  const opened: AsyncDisposable[] = [];

  beforeAll(async () => {
    cluster = await ClusterUnderTest.start();
  });
  afterAll(() => cluster?.stop());
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  });

  /** A control plane that follows the cluster, with the requests that it makes. */
  function following(): { driver: KubernetesOrchestrator; transport: CountedTransport } {
    const transport = new CountedTransport(cluster.account.connection);
    const driver = cluster.newOrchestrator({ client: new KubeClient(transport, FIELD_MANAGER) });
    opened.push(transport, driver);
    driver.watch(() => undefined);
    return { driver, transport };
  }

  /** Looks at services until no request is made for any of them. */
  async function untilIdle(
    { driver, transport }: ReturnType<typeof following>,
    all: readonly DesiredService[],
  ): Promise<void> {
    let made: readonly string[] = [];
    await until(
      async () => {
        transport.take();
        for (const desired of all) {
          await driver.reconcile(desired, never);
          await driver.observe(desired.key, never);
        }
        made = transport.take().filter((request) => request !== CONTACT);
        return made.length === 0;
      },
      () => `there are still requests: ${made.join(', ')}`,
    );
  }

  async function running(desired = newService()): Promise<DesiredService> {
    await cluster.reconcile(desired);
    await cluster.untilState(desired, 'ready');
    return desired;
  }

  async function refusal(desired: DesiredService): Promise<string> {
    const error = await cluster.reconcile(desired).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WorkloadRefused);
    return (error as Error).message;
  }

  test('an idle driver asks nothing for settled services, of which there may be many, and sees at once what changes', async () => {
    const all = Array.from({ length: 15 }, (_, at) => ({
      ...withImage(newService(), at === 1 ? IMAGES.other : IMAGES.good),
      instances: 1,
    }));
    const journal = desiredService({ ...EMBEDDED, name: 'flags' }, { key: newKey('flags') });
    all.push(withImage(journal, IMAGES.good));
    const follower = following();
    await Promise.all(
      all.map((desired) =>
        until(async () => {
          try {
            await follower.driver.reconcile(desired, never);
            return true;
          } catch {
            // The controllers may be too busy to take a StatefulSet up in time.
            return false;
          }
        }),
      ),
    );
    for (const desired of all) await cluster.untilState(desired, 'ready');
    await untilIdle(follower, all);
    const [first] = all as [DesiredService];
    await cluster.send('PATCH', deploymentPath(first.key), { spec: { replicas: 3 } }, MERGE);
    await until(async () => {
      await follower.driver.reconcile(first, never);
      const { spec } = (await cluster.client.get(deploymentPath(first.key)))!;
      return (spec as { readonly replicas: number }).replicas === 1;
    });
    cluster.programs.setReady(IMAGES.other, false);
    await until(async () => {
      const found = await follower.driver.observe(all[1]!.key, never);
      return found.kind === 'workload' && found.readyInstances === 0;
    });
    cluster.programs.setReady(IMAGES.other, true);
    await cluster.untilState(all[1]!, 'ready');
    await untilIdle(follower, all);
    const lifecycles = await Promise.all(
      all.map(async (desired) =>
        cluster.stateOf(desired, await follower.driver.observe(desired.key, never)),
      ),
    );
    expect([...new Set(lifecycles)]).toEqual(['ready']);
  });

  test('two control planes on one cluster make a service once, and both come to rest', async () => {
    const desired = newService();
    const both = [following(), following()];
    const reconcile = (one: DesiredService) =>
      Promise.all(both.map(({ driver }) => driver.reconcile(one, never).catch(() => undefined)));
    await reconcile(desired);
    await reconcile(desired);
    await cluster.untilState(desired, 'ready');
    for (const one of both) await untilIdle(one, [desired]);
    const before = await cluster.uids(desired.key);
    const next = { ...desired, generation: 2 };
    await reconcile(next);
    await cluster.untilState(next, 'ready');
    for (const one of both) await untilIdle(one, [next]);
    const after = await cluster.uids(desired.key);
    expect(after).toHaveLength(2);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
  });

  test('objects of another installation are neither read, changed nor removed', async () => {
    const desired = await running();
    const before = await cluster.uids(desired.key);
    const other = cluster.newOrchestrator({
      installation: { ...INSTALLATION, id: 'another' },
    });
    opened.push(other);
    const { key } = desired;
    await expect(other.reconcile({ ...desired, generation: 9 }, never)).rejects.toThrow(
      `the Namespace svc-${key.project} is of another installation of svc (${INSTALLATION.id})`,
    );
    expect(await other.observe(key, never)).toEqual({ kind: 'none', key });
    expect(await other.logs(key, { previous: false, bytesMax: 1000 }, never)).toEqual([]);
    await other.reconcile({ kind: 'removed', key }, never);
    await cluster.untilState(desired, 'ready');
    expect(await cluster.uids(key)).toEqual(before);
  });

  test('a pod with the name and the labels of a service that is not of it is no instance, and its output is not shown', async () => {
    const desired = await running();
    const { key } = desired;
    const pods = `${namespacePath(key)}/pods`;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'cart-theirs', labels: serviceLabels(key) },
      spec: { containers: [{ name: 'service', image: IMAGES.good }] },
    };
    await cluster.send('POST', pods, pod);
    await until(async () => (await cluster.pods(key)).length === 3);
    await until(async () => {
      const { status } = (await cluster.client.get(`${pods}/cart-theirs`))!;
      return (status as { readonly phase?: string }).phase === 'Running';
    });
    expect(await cluster.observe(key)).toMatchObject({ readyInstances: 2 });
    const query = { previous: false, bytesMax: 1000 };
    const output = await cluster.orchestrator.logs(key, query, never);
    expect(output.map(({ instance }) => instance)).not.toContain('cart-theirs');
    expect(output).toHaveLength(2);
    expect(
      await cluster.orchestrator.logs(key, { ...query, instance: 'cart-theirs' }, never),
    ).toEqual([]);
    await cluster.remove(key);
    expect(await cluster.client.get(`${pods}/cart-theirs`)).toBeDefined();
  });

  test('a namespace that is being deleted refuses the service, which is made again once the namespace is gone', async () => {
    const desired = await running();
    const namespace = namespacePath(desired.key);
    await cluster.send('POST', `${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'held', finalizers: ['example.org/held'] },
    });
    await cluster.client.delete(namespace);
    expect(await refusal(desired)).toContain('is being deleted');
    await until(async () => (await cluster.pods(desired.key)).length === 0);
    expect(await refusal(desired)).toContain('is being deleted');
    await cluster.send(
      'PATCH',
      `${namespace}/configmaps/held`,
      { metadata: { finalizers: null } },
      MERGE,
    );
    await until(async () => (await cluster.client.get(namespace)) === undefined);
    await running(desired);
  });

  test('a quota of objects that is full refuses the service in the words of the cluster, and what was applied is finished later', async () => {
    const desired = await running();
    const quotas = `${namespacePath(desired.key)}/resourcequotas`;
    await cluster.send('POST', quotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few' },
      spec: { hard: { 'count/deployments.apps': '1' } },
    });
    await until(async () => {
      const quota = (await cluster.client.get(`${quotas}/few`))!;
      return JSON.stringify(quota['status'] ?? {}).includes('"used"');
    });
    const second = { ...desired, key: { ...desired.key, service: 'shop' } };
    expect(await refusal(second)).toContain('exceeded quota: few');
    await cluster.client.delete(`${quotas}/few`);
    await until(async () => {
      try {
        await cluster.reconcile(second);
        return true;
      } catch {
        return false;
      }
    });
    await cluster.untilState(second, 'ready');
  });

  /** Registers a webhook for the namespace of a service that has a Deployment. `sign`: a text by which its answers are recognized. */
  async function reviewed(
    { key }: DesiredService,
    sign: string,
    webhook: Pick<AdmissionWebhookOptions, 'kind' | 'review'>,
  ): Promise<AdmissionWebhook> {
    const namespace = `svc-${key.project}`;
    const labels = { reviewed: namespace };
    await cluster.send('PATCH', namespacePath(key), { metadata: { labels } }, MERGE);
    const name = `webhook-${key.project}`;
    const started = await AdmissionWebhook.start(cluster.server, { ...webhook, name, namespace });
    // The server learns of a webhook a moment after it was registered.
    const found = (await cluster.client.get(deploymentPath(key)))!;
    const { name: probe, namespace: at } = found.metadata;
    const object = { ...found, metadata: { name: probe, namespace: at!, labels: { probe } } };
    const isDryRun = true;
    await until(async () => {
      const outcome = await cluster.client
        .apply(deploymentPath(key), object, { force: true, isDryRun })
        .then(JSON.stringify, (error: Error) => error.message);
      return outcome.includes(sign);
    });
    return started;
  }

  test('an admission webhook that refuses is quoted, and the service that runs is left as it is', async () => {
    const desired = await running();
    const before = await cluster.uids(desired.key);
    const next = { ...desired, generation: 2 };
    {
      await using _webhook = await reviewed(desired, 'images need a signature', {
        kind: 'validating',
        review: () => ({ refusal: 'images need a signature' }),
      });
      expect(await refusal(next)).toMatch(
        /admission webhook "webhook-p\d+\.example\.org" denied the request: images need a signature/,
      );
      await cluster.untilState(desired, 'ready');
      expect(await cluster.uids(desired.key)).toEqual(before);
    }
    await until(async () => {
      try {
        await cluster.reconcile(next);
        return true;
      } catch {
        return false;
      }
    });
    await cluster.untilState(next, 'ready');
  });

  test.each<[string, string, (pods: PodSpec) => readonly JsonObject[]]>([
    [
      'adds a container beside ours',
      'registry.example/mesh:1',
      ({ containers }) =>
        containers.some(({ name }) => name === MESH.name)
          ? []
          : [{ op: 'add', path: `${POD}/containers/-`, value: MESH }],
    ],
    [
      'adds what we do not set',
      'system-node-critical',
      () => [{ op: 'add', path: `${POD}/priorityClassName`, value: 'system-node-critical' }],
    ],
    [
      'changes what we set',
      '"terminationGracePeriodSeconds":77',
      () => [{ op: 'replace', path: `${POD}/terminationGracePeriodSeconds`, value: 77 }],
    ],
  ])('an admission webhook that %s is not fought', async (_, sign, patchOf) => {
    const desired = newService();
    await cluster.reconcile({ ...desired, instances: 0, isPaused: true });
    await using _webhook = await reviewed(desired, sign, {
      kind: 'mutating',
      review: (object) => {
        const { template } = (object['spec'] ?? {}) as { readonly template?: { spec: PodSpec } };
        return template === undefined ? {} : { patch: patchOf(template.spec) };
      },
    });
    const control = following();
    const { driver, transport } = control;
    await driver.reconcile(desired, never);
    await cluster.untilState(desired, 'ready');
    await untilIdle(control, [desired]);
    const path = deploymentPath(desired.key);
    const before = await cluster.client.get(path);
    expect(JSON.stringify(before!['spec'])).toContain(sign);
    const uids = await cluster.uids(desired.key);
    // A driver that remembers nothing applies everything.
    const client = new KubeClient(transport, FIELD_MANAGER);
    await cluster.newOrchestrator({ client }).reconcile(desired, never);
    await cluster.newOrchestrator({ client }).reconcile(desired, never);
    expect((await cluster.client.get(path))!.metadata).toEqual(before!.metadata);
    expect(await cluster.uids(desired.key)).toEqual(uids);

    const next = { ...desired, generation: 2 };
    await driver.reconcile(next, never);
    await cluster.untilState(next, 'ready');
    await untilIdle(control, [next]);
  });

  test('hard case 19: a service that is applied right after its deletion waits for the former instances, and has its data', async () => {
    const first = withImage(
      desiredService({ ...EMBEDDED, name: 'flags' }, { key: newKey('flags'), generation: 1 }),
      IMAGES.good,
    );
    await running(first);
    const { key } = first;
    const claims = `${namespacePath(key)}/persistentvolumeclaims`;
    const claim = (await cluster.client.list(claims)).items[0]!.metadata.uid;
    let isHeld = true;
    cluster.node.endAfter(({ metadata }) =>
      metadata.namespace === `svc-${key.project}` && isHeld ? 1500 : 0,
    );
    await cluster.orchestrator.reconcile({ kind: 'removed', key }, never);
    const next = { ...first, incarnation: 'next', generation: 2 };
    expect(await refusal(next)).toContain('is being deleted');
    expect(await cluster.observe(key)).toMatchObject({ kind: 'workload', incarnation: 'k3v9' });
    isHeld = false;
    await until(async () => (await cluster.observe(key)).kind === 'none');
    await running(next);
    expect((await cluster.client.list(claims)).items.map(({ metadata }) => metadata.uid)).toEqual([
      claim,
    ]);
  });
});
