// Services with a journal on a volume, and what a cluster does to a driver: it restarts, forgets versions, and has full quotas.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  DesiredService,
  Workload,
} from '../../../control-plane/orchestration/orchestrator.ts';
import {
  desiredService,
  EMBEDDED,
  PROCESS,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { namespacePath, newKey, newService, withImage } from './cluster-services.ts';
import { ClusterUnderTest, until } from './cluster-under-test.ts';
import { IMAGES } from './scripted-programs.ts';

const noKubernetes = printedMissingKubernetes('stateful-services.long.test.ts');

function newJournal(): DesiredService {
  const descriptor = { ...EMBEDDED, name: 'flags' };
  const desired = desiredService(descriptor, { key: newKey('flags'), generation: 1 });
  return withImage(desired, IMAGES.good);
}

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;

  beforeAll(async () => {
    cluster = await ClusterUnderTest.start();
  });
  afterAll(() => cluster?.stop());

  async function running(desired: DesiredService): Promise<Workload> {
    await cluster.reconcile(desired);
    return await cluster.untilState(desired, 'ready');
  }
  const untilDetail = ({ key }: DesiredService, words: string) =>
    until(async () => (await cluster.observe(key)).detail?.includes(words) === true);
  const uidsOf = async ({ key }: DesiredService) =>
    (await cluster.pods(key)).map(({ metadata }) => metadata.uid!);

  test('a first rollout with a journal on a volume is complete once its pod is ready, and stays so', async () => {
    const desired = newJournal();
    await cluster.reconcile(desired);
    await cluster.untilState(desired, 'ready', (found) => {
      if (found.kind !== 'workload' || found.rollout.kind !== 'complete') return;
      expect(found.updatedInstances).toBe(1);
    });
    cluster.programs.crash((await uidsOf(desired))[0]!);
    await cluster.untilState(desired, 'unavailable');
    await cluster.untilState(desired, 'ready');
  });

  test('a program that never runs does not complete the first rollout, and a corrected one replaces it', async () => {
    const desired = withImage(newJournal(), IMAGES.missing);
    await cluster.reconcile(desired);
    await until(async () => {
      const found = await cluster.observe(desired.key);
      expect(found.kind === 'workload' && found.rollout.kind === 'complete').toBe(false);
      return found.detail !== undefined;
    });
    const found = await cluster.observe(desired.key);
    expect(found.detail).toContain(IMAGES.missing);
    expect(cluster.stateOf(desired, found)).toBe('deploying');
    await running(withImage({ ...desired, generation: 2 }, IMAGES.good));
  });

  test('a journal on a volume has one pod at a time, whatever is applied', async () => {
    let desired = newJournal();
    await running(desired);
    for (const image of [IMAGES.other, IMAGES.good]) {
      const before = await uidsOf(desired);
      desired = withImage({ ...desired, generation: desired.generation + 1 }, image);
      await cluster.reconcile(desired);
      await cluster.untilState(desired, 'ready', (found) => {
        if (found.kind !== 'workload') return;
        const { rollout, readyInstances, updatedInstances } = found;
        expect(readyInstances).toBeLessThanOrEqual(1);
        expect(rollout.kind === 'complete' ? updatedInstances : 1).toBe(1);
      });
      const after = await uidsOf(desired);
      expect(after).toHaveLength(1);
      expect(after).not.toEqual(before);
    }
  });

  test('a service with a journal that is paused keeps its volume, and is ready again when it is resumed', async () => {
    const desired = newJournal();
    await running(desired);
    await cluster.reconcile({ ...desired, instances: 0, isPaused: true });
    await until(async () => (await cluster.pods(desired.key)).length === 0);
    await until(async () => {
      const found = await cluster.observe(desired.key);
      return found.kind === 'workload' && found.rollout.kind === 'complete';
    });
    await cluster.reconcile(desired);
    expect(await cluster.observe(desired.key)).toMatchObject({ rollout: { kind: 'progressing' } });
    await cluster.untilState(desired, 'ready', (found) => {
      if (found.kind !== 'workload' || found.rollout.kind !== 'complete') return;
      expect(found.updatedInstances).toBe(1);
    });
    await cluster.remove(desired.key);
    const claims = `${namespacePath(desired.key)}/persistentvolumeclaims`;
    expect((await cluster.client.list(claims)).items).toHaveLength(1);
  });

  test('a service that gets a journal gets another workload, and the former one goes', async () => {
    const key = newKey();
    const onVolume = withImage(desiredService(PROCESS, { key, generation: 2 }), IMAGES.good);
    const web = { ...WEB, name: 'cart', image: IMAGES.good, instances: 2 };
    const withoutJournal = desiredService(web, { key, instances: 2 });
    const workloads = async () => {
      const apps = namespacePath(key).replace('/api/v1', '/apis/apps/v1');
      const lists = await Promise.all(
        ['deployments', 'statefulsets'].map((kind) => cluster.client.list(`${apps}/${kind}`)),
      );
      return lists.map(({ items }) => items.length);
    };
    await running({ ...withoutJournal, generation: 1 });
    expect(await workloads()).toEqual([1, 0]);
    await running(onVolume);
    expect(await workloads()).toEqual([0, 1]);
    await running({ ...withoutJournal, generation: 3 });
    expect(await workloads()).toEqual([1, 0]);
    await running({ ...onVolume, generation: 4 });
    expect(await workloads()).toEqual([0, 1]);
    expect(await uidsOf(onVolume)).toHaveLength(1);
  });

  /** Lets the project of a service have so many pods, until the function that is returned is called. */
  async function limitPods({ key }: DesiredService, pods: number): Promise<() => Promise<void>> {
    const quotas = `${namespacePath(key)}/resourcequotas`;
    await cluster.send('POST', quotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'small' },
      spec: { hard: { pods: String(pods) } },
    });
    // Until its controller has counted the pods, it refuses nothing.
    await until(async () => {
      const quota = await cluster.client.get(`${quotas}/small`);
      return (quota?.['status'] as { readonly hard?: object } | undefined)?.hard !== undefined;
    });
    return async () => {
      await cluster.client.delete(`${quotas}/small`);
    };
  }

  test('a quota that is full is described in the words of the cluster, and the service runs once it is not', async () => {
    const desired = newService();
    await running(desired);
    const lift = await limitPods(desired, 2);
    const next = { ...desired, generation: 2 };
    await cluster.reconcile(next);
    await untilDetail(next, 'exceeded quota: small');
    expect(await cluster.observe(next.key)).toMatchObject({ readyInstances: 2 });
    await lift();
    await cluster.untilState(next, 'ready');
  });

  test('so is one that refuses the pod of a StatefulSet, which has no condition for it', async () => {
    const desired = newJournal();
    await cluster.reconcile({ ...desired, instances: 0, isPaused: true });
    const lift = await limitPods(desired, 0);
    await cluster.reconcile(desired);
    await untilDetail(desired, 'exceeded quota: small, requested: pods=1');
    expect(cluster.stateOf(desired, await cluster.observe(desired.key))).toBe('deploying');
    await lift();
    const { detail } = await cluster.untilState(desired, 'ready');
    expect(detail).toBeUndefined();
  });

  test('hard case 28: while the API server is away nothing is known, and afterwards the service converges and is reported', async () => {
    const desired = newService();
    await running(desired);
    const reported = new Set<string>();
    using _watch = cluster.orchestrator.watch(({ project }) => reported.add(project));
    await until(async () => reported.has(desired.key.project));
    await cluster.server.killProgram('api-server');
    await expect(cluster.observe(desired.key)).rejects.toThrow('cannot be reached');
    const next = { ...desired, generation: 2 };
    await expect(cluster.reconcile(next)).rejects.toThrow('cannot be reached');
    await cluster.server.startProgram('api-server');
    await cluster.server.compact();
    reported.clear();
    await until(async () => {
      try {
        await cluster.reconcile(next);
        return true;
      } catch {
        return false;
      }
    });
    await cluster.untilState(next, 'ready');
    await until(async () => reported.has(desired.key.project));
  });
});
