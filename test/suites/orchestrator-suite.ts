// What every driver of an orchestrator does. Its services are real for the driver: their instances start, become ready, crash
// and stop by themselves, and the suite waits for it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ServiceKey, WebServiceDescriptor } from '@svc/client';
import type {
  DesiredService,
  LogQuery,
  Observation,
  Orchestrator,
  Workload,
} from '../../control-plane/orchestration/orchestrator.ts';

export interface OrchestratorUnderTest {
  readonly orchestrator: Orchestrator;
  /** Hosting of the services. Default: the runtime is in the program. */
  readonly hosting?: Pick<WebServiceDescriptor, 'hosting' | 'protocol'>;
  /** Each is run by two instances. */
  readonly images: {
    readonly good: string;
    /** Another image that runs. */
    readonly other: string;
    readonly missing: string;
    /** Instances of it become ready, and crash after a while, again and again. */
    readonly crashing: string;
  };
  /** Waits until the condition is met, and fails if it never is. */
  until(condition: () => Promise<boolean>): Promise<void>;
  /** Ends an instance of the service as if it had crashed. */
  crash(key: ServiceKey): Promise<void>;
  /** Ends what the test used. */
  discard(): Promise<void>;
}

const CART = { project: 'web', service: 'cart' };
const SHOP = { project: 'web', service: 'shop' };
const never = new AbortController().signal;
const all: LogQuery = { previous: false, bytesMax: 1_000_000 };

const isComplete = ({ rollout }: Workload) => rollout.kind === 'complete';

const isReady = (generation: number) => (workload: Workload) =>
  workload.generation === generation && isComplete(workload) && workload.updatedInstances === 2;

export function orchestratorSuite(name: string, open: () => Promise<OrchestratorUnderTest>): void {
  describe(`the orchestrator ${name}`, () => {
    let underTest: OrchestratorUnderTest;
    let orchestrator: Orchestrator;

    beforeEach(async () => {
      underTest = await open();
      ({ orchestrator } = underTest);
    });
    afterEach(() => underTest.discard());

    function desired(more: Partial<DesiredService> = {}): DesiredService {
      const { key = CART, instances = 2, generation = 1 } = more;
      return {
        kind: 'desired',
        key,
        incarnation: 'life1',
        generation,
        appliedGeneration: generation,
        descriptor: {
          name: key.service,
          image: underTest.images.good,
          instances: 2,
          ...underTest.hosting,
        },
        instances,
        isPaused: instances === 0,
        isSuspended: false,
        exposedHostname: undefined,
        hostnames: [],
        ...more,
      };
    }
    const withImage = (image: string, more: Partial<DesiredService> = {}) => {
      const service = desired(more);
      return { ...service, descriptor: { ...service.descriptor, image } };
    };
    const observe = (key = CART) => orchestrator.observe(key, never);
    async function observed(
      condition: (workload: Workload) => boolean,
      key = CART,
    ): Promise<Workload> {
      let found: Observation = await observe(key);
      await underTest.until(async () => {
        found = await observe(key);
        return found.kind === 'workload' && condition(found);
      });
      return found as Workload;
    }
    async function running(service = desired()): Promise<Workload> {
      await orchestrator.reconcile(service, never);
      return await observed(isReady(service.generation), service.key);
    }
    const gone = (key = CART) => underTest.until(async () => (await observe(key)).kind === 'none');
    const instances = async (key = CART) =>
      (await orchestrator.logs(key, all, never)).map(({ instance }) => instance).toSorted();
    const logs = (query: Partial<LogQuery> = {}, key = CART) =>
      orchestrator.logs(key, { ...all, ...query }, never);

    test('has nothing of a service that it does not know, and removes it without a complaint', async () => {
      expect(await observe()).toEqual({ kind: 'none', key: CART });
      await orchestrator.reconcile({ kind: 'removed', key: CART }, never);
      expect(await observe()).toEqual({ kind: 'none', key: CART });
      expect(await logs()).toEqual([]);
    });

    test('brings a service to as many ready instances as are desired', async () => {
      await orchestrator.reconcile(desired(), never);
      expect(await observe()).toMatchObject({
        kind: 'workload',
        key: CART,
        incarnation: 'life1',
        generation: 1,
        wantedInstances: 2,
        updatedInstances: 0,
        rollout: { kind: 'progressing' },
      });
      expect(await observed(isReady(1))).toMatchObject({ readyInstances: 2, updatedInstances: 2 });
    });

    test('changes nothing when the same is desired again', async () => {
      await running();
      const before = await instances();
      await orchestrator.reconcile(desired(), never);
      await orchestrator.reconcile(desired(), never);
      expect(await instances()).toEqual(before);
      expect(isReady(1)((await observe()) as Workload)).toBe(true);
    });

    test('replaces every instance for another generation, and serves all the time', async () => {
      await running();
      const before = await instances();
      let readyMin = Infinity;
      await orchestrator.reconcile(withImage(underTest.images.other, { generation: 2 }), never);
      await observed((workload) => {
        readyMin = Math.min(readyMin, workload.readyInstances);
        return isReady(2)(workload);
      });
      expect(readyMin).toBeGreaterThanOrEqual(1);
      await underTest.until(async () => (await instances()).length === 2);
      expect((await instances()).filter((one) => before.includes(one))).toEqual([]);
    });

    test('replaces every instance for a restart, which changes the generation alone', async () => {
      await running();
      const before = await instances();
      await running(desired({ generation: 2, appliedGeneration: 1 }));
      await underTest.until(async () => (await instances()).length === 2);
      expect((await instances()).filter((one) => before.includes(one))).toEqual([]);
    });

    test('runs what is desired, even if its generation is lower than the one that runs', async () => {
      await running(desired({ generation: 5 }));
      expect((await running(desired({ generation: 3 }))).generation).toBe(3);
    });

    test('stops all instances when none is desired, and starts them again', async () => {
      await running();
      await orchestrator.reconcile(desired({ instances: 0 }), never);
      await observed((workload) => workload.readyInstances === 0 && isComplete(workload));
      await underTest.until(async () => (await instances()).length === 0);
      expect(await observe()).toMatchObject({
        kind: 'workload',
        generation: 1,
        wantedInstances: 0,
      });
      await orchestrator.reconcile(desired(), never);
      expect(await observe()).toMatchObject({
        wantedInstances: 2,
        rollout: { kind: 'progressing' },
      });
      await observed(isReady(1));
    });

    test('removes everything of a service', async () => {
      await running();
      await orchestrator.reconcile({ kind: 'removed', key: CART }, never);
      await gone();
      expect(await logs()).toEqual([]);
    });

    test('runs a service of the same name after the removal, as another incarnation', async () => {
      await running();
      const before = await instances();
      await orchestrator.reconcile({ kind: 'removed', key: CART }, never);
      await gone();
      const next = desired({ incarnation: 'life2', generation: 2 });
      expect(await running(next)).toMatchObject({ incarnation: 'life2', generation: 2 });
      expect((await instances()).filter((one) => before.includes(one))).toEqual([]);
    });

    test('keeps services apart', async () => {
      await running();
      await running(desired({ key: SHOP, incarnation: 'life9', generation: 9 }));
      await orchestrator.reconcile({ kind: 'removed', key: SHOP }, never);
      await gone(SHOP);
      expect(await observe()).toMatchObject({ incarnation: 'life1', readyInstances: 2 });
      expect(await logs({ instance: (await instances())[0]! }, SHOP)).toEqual([]);
    });

    test('lets the old instances serve when an image cannot be pulled, and quotes why', async () => {
      await running();
      await orchestrator.reconcile(withImage(underTest.images.missing, { generation: 2 }), never);
      const stuck = await observed(({ detail }) => detail !== undefined);
      expect(stuck).toMatchObject({ generation: 2, readyInstances: 2, updatedInstances: 0 });
      expect(stuck.detail).toContain(underTest.images.missing);
      expect(stuck.rollout.kind).not.toBe('complete');
      await running(desired({ generation: 3 }));
      expect(((await observe()) as Workload).detail).toBeUndefined();
    });

    test('starts an instance again that has crashed, and the rollout stays complete', async () => {
      await running();
      await underTest.crash(CART);
      const hurt = await observed(({ readyInstances }) => readyInstances < 2);
      expect(hurt).toMatchObject({ generation: 1, rollout: { kind: 'complete' } });
      await observed(isReady(1));
    });

    test('has the output of each instance, and its last lines alone', async () => {
      await running();
      const shown = await logs();
      expect(shown).toHaveLength(2);
      for (const { output, error } of shown) {
        expect(error).toBeNull();
        expect(output).not.toBe('');
      }
      const [first] = shown;
      expect(await logs({ instance: first!.instance })).toEqual([first]);
      const last = await logs({ instance: first!.instance, tail: 1 });
      expect(first!.output.endsWith(last[0]!.output)).toBe(true);
      expect(last[0]!.output.trimEnd().split('\n')).toHaveLength(1);
      expect((await logs({ tail: 0 })).map(({ output }) => output)).toEqual(['', '']);
      expect((await logs({ tail: 100_000 })).map(({ error }) => error)).toEqual([null, null]);
      expect(await logs({ instance: 'nobody' })).toEqual([]);
    });

    test('has the output before the last restart of an instance', async () => {
      await running();
      for (const { output, error } of await logs({ previous: true })) {
        expect(output).toBe('');
        expect(error).not.toBeNull();
      }
      await underTest.crash(CART);
      await underTest.until(async () =>
        (await logs({ previous: true })).some(({ error }) => error === null),
      );
      const restarted = (await logs({ previous: true })).find(({ error }) => error === null);
      expect(restarted!.output).not.toBe('');
    });

    test('has the output of an instance that crashes again and again', async () => {
      await orchestrator.reconcile(withImage(underTest.images.crashing), never);
      let outputs: readonly string[] = [];
      await underTest.until(async () => {
        outputs = (await logs({ previous: true })).map(({ output }) => output);
        return outputs.some((output) => output !== '');
      });
      expect(outputs).toHaveLength(2);
    });

    test('reports the service that has changed until the watch ends', async () => {
      const reported: ServiceKey[] = [];
      const watch = orchestrator.watch((key) => reported.push(key));
      await running();
      await underTest.until(async () => reported.length > 0);
      expect(reported).toContainEqual(CART);
      expect(reported.filter(({ service }) => service !== CART.service)).toEqual([]);
      watch[Symbol.dispose]();
      reported.length = 0;
      await orchestrator.reconcile({ kind: 'removed', key: CART }, never);
      await gone();
      expect(reported).toEqual([]);
    });

    test('finds no problem with a service that it can run', async () => {
      expect(await orchestrator.problems(desired({ incarnation: '' }), never)).toEqual([]);
      expect(await observe()).toEqual({ kind: 'none', key: CART });
    });
  });
}
