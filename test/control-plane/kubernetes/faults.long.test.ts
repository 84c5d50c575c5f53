// Whatever an API server or the way to it does to requests and watches, services converge, and no instance is replaced for it.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeLimits } from '../../../control-plane/kubernetes/api/kube-limits.ts';
import type { WatchLimits } from '../../../control-plane/kubernetes/api/object-watch.ts';
import type { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import { FIELD_MANAGER } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { CountedTransport } from '../../support/kubernetes/counted-transport.ts';
import { type Fault, FaultyApi } from '../../support/kubernetes/faulty-api.ts';
import { desiredService, EMBEDDED } from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { answerJson, statusObject } from '../../support/kubernetes/scripted-api.ts';
import { deploymentPath, newKey, newService, withImage } from './cluster-services.ts';
import { ClusterUnderTest, until } from './cluster-under-test.ts';
import { IMAGES } from './scripted-programs.ts';

const noKubernetes = printedMissingKubernetes('faults.long.test.ts');
const never = new AbortController().signal;
const MERGE = 'application/merge-patch+json';

const refused =
  (status: number, reason: string, after?: string): Fault =>
  ({ response }) => {
    if (after !== undefined) response.setHeader('retry-after', after);
    answerJson(response, status, statusObject(status, reason, `scripted ${status}`));
  };

/** Sets the version of a list back. */
const lie = (text: string) => text.replace(/"resourceVersion":"\d+"/, '"resourceVersion":"1"');

/** Begins the answer to a watch, and leaves it open. */
const open =
  (text: string): Fault =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(text);
  };

function newJournal(): DesiredService {
  const descriptor = { ...EMBEDDED, name: 'flags' };
  return withImage(
    desiredService(descriptor, { key: newKey('flags'), generation: 1 }),
    IMAGES.good,
  );
}

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;
  let api: FaultyApi;
  const opened: AsyncDisposable[] = [];

  beforeAll(async () => {
    cluster = await ClusterUnderTest.start();
  });
  afterAll(() => cluster?.stop());
  beforeEach(async () => {
    api = await FaultyApi.start(cluster.account);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one[Symbol.asyncDispose]()));
    await api[Symbol.asyncDispose]();
  });

  /** Returns a driver behind the faults, as a control plane that has just started. */
  function newDriver(
    watchLimits: Partial<WatchLimits> = {},
    limits: Partial<KubeLimits> = {},
  ): KubernetesOrchestrator {
    const driver = cluster.newOrchestrator({ client: api.client(limits), watchLimits });
    opened.push(driver);
    return driver;
  }

  /** Has the n-th write from now on fail. Returns whether there were so many. */
  function failAt(at: number, fault: Fault): () => boolean {
    let count = 0;
    api.fault = (passed) =>
      passed.method !== 'GET' && ++count === at ? fault(passed) : passed.pass();
    return () => count >= at;
  }

  /** Reconciles until the driver does not fail, and returns how often it failed. */
  async function converged(desired: DesiredService): Promise<number> {
    for (let failures = 0; ; failures++) {
      try {
        await newDriver().reconcile(desired, never);
        return failures;
      } catch (error) {
        if (failures === 20) throw error;
        await pause(20);
      }
    }
  }

  const revisionOf = async ({ key }: DesiredService) =>
    (await cluster.client.get(deploymentPath(key)))!.metadata.annotations![
      'deployment.kubernetes.io/revision'
    ];

  test.each<[string, Fault]>([
    ['is answered 429', refused(429, 'TooManyRequests', '1')],
    ['is answered 409', refused(409, 'Conflict')],
    ['is answered 500', refused(500, 'InternalError')],
    ['is answered with a web page', ({ response }) => void response.end('<html>Sign in</html>')],
    ['never arrives', ({ response }) => void response.destroy()],
    ['arrives, and its answer is lost', (passed) => passed.lose()],
  ])(
    'a service runs on as it is, and a new one starts once, when any write of a reconcile %s',
    async (_, fault) => {
      const running = newService();
      await cluster.reconcile(running);
      await cluster.untilState(running, 'ready');
      const before = await cluster.uids(running.key);
      for (let at = 1, isThere = true; isThere; at++) {
        const wasThere = failAt(at, fault);
        await converged(running);
        isThere = wasThere();
      }
      expect(await cluster.uids(running.key)).toEqual(before);
      expect(await revisionOf(running)).toBe('1');
    },
  );

  describe('hard case 18: a control plane that ends with any write of the first reconcile', () => {
    test('makes the service once: a Deployment', async () => {
      for (let at = 1, isThere = true; isThere; at++) {
        const desired = newService();
        const wasThere = failAt(at, (passed) => passed.lose());
        await newDriver()
          .reconcile(desired, never)
          .catch(() => undefined);
        isThere = wasThere();
        await converged(desired);
        await cluster.untilState(desired, 'ready');
        expect(await revisionOf(desired)).toBe('1');
        expect(await cluster.uids(desired.key)).toHaveLength(2);
      }
    });

    test('makes the service once: a StatefulSet', async () => {
      for (let at = 1, isThere = true; isThere; at++) {
        const desired = newJournal();
        const wasThere = failAt(at, (passed) => passed.lose());
        await newDriver()
          .reconcile(desired, never)
          .catch(() => undefined);
        isThere = wasThere() && at < 40;
        await until(async () => (await cluster.pods(desired.key)).length <= 1);
        const begun = await cluster.uids(desired.key);
        await converged(desired);
        await cluster.untilState(desired, 'ready');
        const pods = await cluster.uids(desired.key);
        expect(pods).toHaveLength(1);
        expect(begun.filter((uid) => !pods.includes(uid))).toEqual([]);
      }
    });
  });

  test('an API server that answers slowly is waited for, and one that is too slow has failed', async () => {
    const desired = newService();
    api.fault = async (passed) => {
      await pause(50);
      await passed.pass();
    };
    const driver = newDriver();
    await driver.reconcile(desired, never);
    await cluster.untilState(desired, 'ready');
    const before = await cluster.uids(desired.key);
    api.fault = async (passed) => {
      await pause(1500);
      await passed.pass();
    };
    const impatient = newDriver({}, { answerTimeoutMs: 500 });
    await expect(impatient.observe(desired.key, never)).rejects.toThrow(
      'has not answered within 500 ms',
    );
    await expect(impatient.reconcile(desired, never)).rejects.toThrow(
      'has not answered within 500 ms',
    );
    api.fault = (passed) => passed.pass();
    await driver.reconcile(desired, never);
    expect(await cluster.uids(desired.key)).toEqual(before);
  });

  /** Looks at a service until nothing is asked of the server any more. */
  async function settled(driver: KubernetesOrchestrator, desired: DesiredService): Promise<void> {
    const before = api.fault;
    let count = 0;
    api.fault = (passed) => {
      if (!passed.isWatch && !passed.path.endsWith('/namespaces/kube-system')) count++;
      return before(passed);
    };
    await until(
      async () => {
        count = 0;
        await driver.reconcile(desired, never);
        await driver.observe(desired.key, never);
        return count === 0;
      },
      () => `${count} requests are still made`,
    );
    api.fault = before;
  }

  describe('a watch that', () => {
    const huge = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'x'.repeat(10_000_000) } } })}\n`;
    test.each<[string, Fault, RegExp]>([
      ['is a web page', open('<html>Sign in</html>\n'), /with a web page: "Sign in"/],
      [
        'ends in the middle of an event',
        ({ response }) => void response.end('{"type":"ADDED","object":{"met'),
        /in the middle of an event/,
      ],
      ['sends an object of 10 MB', open(huge), /larger than 8388608 bytes/],
      ['has no such version any more', refused(410, 'Expired'), /scripted 410/],
    ])('%s is named and begun again, and no change is lost', async (_, fault, words) => {
      const desired = newService();
      const lines: string[] = [];
      const driver = cluster.newOrchestrator({
        client: api.client(),
        log: ({ message }) => lines.push(message),
        watchLimits: { pauseMinMs: 10, pauseMaxMs: 50 },
      });
      opened.push(driver);
      let broken = 3;
      api.fault = (passed) => {
        const isBroken = passed.isWatch && passed.path.endsWith('/deployments') && broken-- > 0;
        return isBroken ? fault(passed) : passed.pass();
      };
      const reported = new Set<string>();
      using _watch = driver.watch(({ project }) => reported.add(project));
      await driver.reconcile(desired, never);
      await cluster.untilState(desired, 'ready');
      await settled(driver, desired);
      expect(broken).toBeLessThanOrEqual(0);
      expect(lines[0]).toMatch(words);
      reported.clear();
      await cluster.send('PATCH', deploymentPath(desired.key), { spec: { replicas: 3 } }, MERGE);
      await until(async () => reported.has(desired.key.project));
      await driver.reconcile(desired, never);
      expect(await cluster.client.get(deploymentPath(desired.key))).toMatchObject({
        spec: { replicas: 2 },
      });
    });

    test('leaves out what changes, or goes back to an earlier version, loses it until the next list', async () => {
      const desired = newService();
      const driver = newDriver({ watchMs: 3000, pauseMinMs: 10, pauseMaxMs: 50 });
      let isLying = false;
      api.fault = (passed) => {
        if (passed.path !== '/apis/apps/v1/deployments') return passed.pass();
        if (passed.isWatch) return passed.pass((piece) => (isLying ? '' : piece));
        return passed.pass((piece) => (isLying ? lie(piece.toString()) : piece));
      };
      using _watch = driver.watch(() => undefined);
      await driver.reconcile(desired, never);
      await cluster.untilState(desired, 'ready');
      await settled(driver, desired);
      isLying = true;
      await cluster.send('PATCH', deploymentPath(desired.key), { spec: { replicas: 3 } }, MERGE);
      await until(async () => {
        await driver.reconcile(desired, never);
        const { spec } = (await cluster.client.get(deploymentPath(desired.key)))!;
        return (spec as { readonly replicas: number }).replicas === 2;
      });
      isLying = false;
      await settled(driver, desired);
      expect(await cluster.uids(desired.key)).toHaveLength(2);
    });
  });

  test.each([
    ['the API server', ['api-server']],
    ['its storage, which then forgets versions,', ['etcd', 'api-server']],
  ] as const)(
    'hard case 17: while %s is away nothing is taken from memory, and afterwards no instance was replaced',
    async (_, programs) => {
      const desired = newService();
      const transport = new CountedTransport(cluster.account.connection);
      const driver = cluster.newOrchestrator({
        client: new KubeClient(transport, FIELD_MANAGER),
        watchLimits: { pauseMaxMs: 200 },
        settledLimits: { contactAgeMaxMs: 200 },
      });
      opened.push(driver, transport);
      using _watch = driver.watch(() => undefined);
      await driver.reconcile(desired, never);
      await cluster.untilState(desired, 'ready');
      await until(async () => {
        transport.take();
        await driver.reconcile(desired, never);
        await driver.observe(desired.key, never);
        const requests = transport.take();
        return requests.every((request) => request.endsWith('/namespaces/kube-system'));
      });
      const before = await cluster.uids(desired.key);
      for (const name of programs.toReversed()) await cluster.server.killProgram(name);
      await pause(200);
      await expect(driver.observe(desired.key, never)).rejects.toThrow('cannot be reached');
      await expect(driver.reconcile(desired, never)).rejects.toThrow('cannot be reached');
      for (const name of programs) await cluster.server.startProgram(name);
      if (programs.length > 1) await cluster.server.compact();
      await until(async () => {
        try {
          await driver.reconcile(desired, never);
          return true;
        } catch {
          return false;
        }
      });
      await cluster.untilState(desired, 'ready');
      expect(await cluster.uids(desired.key)).toEqual(before);
      const next = { ...desired, generation: 2 };
      await driver.reconcile(next, never);
      await cluster.untilState(next, 'ready');
    },
  );
});
