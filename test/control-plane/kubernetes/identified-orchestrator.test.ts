// The orchestrator of a cluster waits until the API server has said which cluster it is, and never touches another one.
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { KubeError } from '../../../control-plane/kubernetes/api/kube-error.ts';
import {
  type ClusterMemory,
  featuresOf,
  identificationError,
} from '../../../control-plane/kubernetes/cluster-identity.ts';
import { IdentifiedOrchestrator } from '../../../control-plane/kubernetes/identified-orchestrator.ts';
import type { ClusterFeatures } from '../../../control-plane/kubernetes/manifests/installation.ts';
import { NO_ORCHESTRATOR } from '../../../control-plane/orchestration/no-orchestrator.ts';
import type { Orchestrator } from '../../../control-plane/orchestration/orchestrator.ts';
import { answerJson, ScriptedApi, statusObject } from '../../support/kubernetes/scripted-api.ts';

const KEY = { project: 'shop', service: 'cart' };
const never = new AbortController().signal;

interface ScriptedCluster {
  uid: string;
  minor: string;
  /** The API server does not answer. */
  isAway: boolean;
  status: number;
}

/** The versions of the group `policy`, as a cluster lists them. */
function versions(minor: string): readonly object[] {
  const names =
    Number.parseInt(minor, 10) >= 21 ? ['policy/v1', 'policy/v1beta1'] : ['policy/v1beta1'];
  return names.map((groupVersion) => ({ groupVersion }));
}

async function scriptedCluster(more: Partial<ScriptedCluster> = {}) {
  const cluster: ScriptedCluster = {
    uid: 'east',
    minor: '30',
    isAway: false,
    status: 200,
    ...more,
  };
  const api = await ScriptedApi.start(({ path }, response) => {
    const { uid, minor, isAway, status } = cluster;
    if (isAway) return void response.destroy();
    if (status !== 200) return answerJson(response, status, statusObject(status, 'No', 'no'));
    if (path === '/version') return answerJson(response, 200, { major: '1', minor });
    if (path === '/apis/policy') return answerJson(response, 200, { versions: versions(minor) });
    answerJson(response, 200, { metadata: { name: 'kube-system', uid } });
  });
  onTestFinished(() => api[Symbol.asyncDispose]());
  return { cluster, api };
}

/** A journal that remembers a cluster, over several starts. */
function memoryOf(remembered?: string): ClusterMemory & { remembered: string | undefined } {
  const memory = {
    remembered,
    remember: (uid: string, isNew: boolean) => {
      if (memory.remembered === undefined || isNew) memory.remembered = uid;
      return Promise.resolve({ uid: memory.remembered, installation: 'ours' });
    },
  };
  return memory;
}

function opened(
  api: ScriptedApi,
  more: {
    readonly memory?: Promise<ClusterMemory>;
    readonly isNewCluster?: boolean;
    readonly identifyMs?: number;
  } = {},
) {
  const log: LogEntry[] = [];
  const features: ClusterFeatures[] = [];
  const confirms: ((signal: AbortSignal) => Promise<void>)[] = [];
  const watching = new Set<(key: typeof KEY) => void>();
  const inner: Orchestrator = {
    ...NO_ORCHESTRATOR,
    observe: (key) => Promise.resolve({ kind: 'none', key, detail: `cluster ${features.length}` }),
    reconcile: (_, signal) =>
      once(signal, 'abort').then(() => Promise.reject(signal.reason as Error)),
    watch: (changed) => {
      watching.add(changed);
      return { [Symbol.dispose]: () => void watching.delete(changed) };
    },
  };
  const orchestrator = new IdentifiedOrchestrator({
    client: api.client(),
    server: 'https://east.example',
    open: (of, _, confirmCluster) => {
      features.push(of);
      confirms.push(confirmCluster);
      return { ...inner, [Symbol.asyncDispose]: () => Promise.resolve() };
    },
    memory: more.memory ?? Promise.resolve(memoryOf()),
    isNewCluster: more.isNewCluster ?? false,
    section: { identifyMs: more.identifyMs ?? 20, identifyPauseMs: 20 },
    clock: SYSTEM_CLOCK,
    log: (entry) => log.push(entry),
  });
  onTestFinished(() => orchestrator[Symbol.asyncDispose]());
  return { orchestrator, log, features, watching, confirms };
}

test('the first cluster is remembered, and its version decides on the objects', async () => {
  const { api } = await scriptedCluster({ minor: '20+' });
  const memory = memoryOf();
  const { orchestrator, features, log } = opened(api, { memory: Promise.resolve(memory) });
  expect(await orchestrator.observe(KEY, never)).toMatchObject({ detail: 'cluster 1' });
  expect(memory.remembered).toBe('east');
  expect(features).toEqual([{ disruptionBudgets: 'policy/v1beta1', hasSleepAction: false }]);
  expect(log).toMatchObject([
    { message: 'cluster found', fields: { version: '1.20', uid: 'east' } },
  ]);
});

test.each([
  [20, 'policy/v1beta1', false],
  [21, 'policy/v1', false],
  [29, 'policy/v1', false],
  [30, 'policy/v1', true],
])(
  'Kubernetes 1.%d has %s, and waits by itself: %s',
  (minor, disruptionBudgets, hasSleepAction) => {
    expect(featuresOf(minor, versions(String(minor)))).toEqual({
      disruptionBudgets,
      hasSleepAction,
    });
  },
);

test('nothing is asked of the cluster before the journal is open', async () => {
  const { api } = await scriptedCluster();
  const { promise, resolve } = Promise.withResolvers<ClusterMemory>();
  const { orchestrator, features } = opened(api, { memory: promise });
  const waiting = new AbortController();
  const asked = orchestrator.observe(KEY, waiting.signal);
  await expect.poll(() => api.requests.length).toBe(3);
  const reason = new Error('nobody waits');
  waiting.abort(reason);
  await expect(asked).rejects.toBe(reason);
  expect(features).toEqual([]);
  resolve(memoryOf());
  await orchestrator.observe(KEY, never);
});

test('while the API server is away every call is rejected, and later it works by itself', async () => {
  const { cluster, api } = await scriptedCluster({ isAway: true });
  const { orchestrator, watching, log } = opened(api);
  const watch = orchestrator.watch(() => undefined);
  await expect(orchestrator.observe(KEY, never)).rejects.toThrow(
    /^The API server https:\/\/east\.example cannot be used: the API server cannot be reached/,
  );
  await expect(orchestrator.reconcile({ kind: 'removed', key: KEY }, never)).rejects.toThrow(
    /cannot be used/,
  );
  expect(log).toMatchObject([
    { level: 'warn', message: expect.stringMatching(/cannot be used/) as string },
  ]);
  cluster.isAway = false;
  await expect.poll(() => orchestrator.observe(KEY, never).catch(() => undefined)).toBeDefined();
  expect(watching.size).toBe(1);
  watch[Symbol.dispose]();
  expect(watching.size).toBe(0);
});

test('another cluster after a restart is never touched, and ends the control plane', async () => {
  const [east, west] = await Promise.all([scriptedCluster(), scriptedCluster({ uid: 'west' })]);
  const memory = memoryOf();
  const first = opened(east.api, { memory: Promise.resolve(memory) });
  await first.orchestrator.observe(KEY, never);
  const second = opened(west.api, { memory: Promise.resolve(memory) });
  const { code, message } = await second.orchestrator.failure;
  expect(code).toBe('SVC_CLUSTER_CHANGED');
  expect(message).toMatch(/another cluster \(west\) .*\(east\).*svc\.kubernetes\.new-cluster=true/);
  for (const call of [
    second.orchestrator.observe(KEY, never),
    second.orchestrator.reconcile({ kind: 'removed', key: KEY }, never),
    second.orchestrator.logs(KEY, { previous: false, bytesMax: 1 }, never),
  ])
    await expect(call).rejects.toMatchObject({ code: 'SVC_CLUSTER_CHANGED' });
  expect(second.features).toEqual([]);
  expect(memory.remembered).toBe('east');
});

test('the operator chooses another cluster for one start, in which a third one is refused', async () => {
  const { cluster, api } = await scriptedCluster({ uid: 'west' });
  const memory = memoryOf('east');
  const { orchestrator } = opened(api, { memory: Promise.resolve(memory), isNewCluster: true });
  await orchestrator.observe(KEY, never);
  expect(memory.remembered).toBe('west');
  cluster.uid = 'north';
  expect((await orchestrator.failure).code).toBe('SVC_CLUSTER_CHANGED');
  await expect(orchestrator.observe(KEY, never)).rejects.toThrow(/another cluster \(north\)/);
  expect(memory.remembered).toBe('west');
});

test('a cluster that is updated gets the objects of its new version, and is watched on', async () => {
  const { cluster, api } = await scriptedCluster({ minor: '29' });
  const { orchestrator, features, watching } = opened(api);
  await orchestrator.observe(KEY, never);
  orchestrator.watch(() => undefined);
  cluster.minor = '30';
  await expect.poll(() => features.at(-1)?.hasSleepAction).toBe(true);
  expect(watching.size).toBe(1);
  expect(features.length).toBe(2);
  cluster.isAway = true;
  await expect.poll(() => api.requests.length).toBeGreaterThan(9);
  expect(await orchestrator.observe(KEY, never)).toMatchObject({ detail: 'cluster 2' });
});

test('an address that leads to another cluster is found out when that is confirmed, which ends all calls', async () => {
  const { cluster, api } = await scriptedCluster();
  const { orchestrator, confirms, log } = opened(api, { identifyMs: 3_600_000 });
  await orchestrator.observe(KEY, never);
  const confirm = confirms[0]!;
  await confirm(never);
  const inFlight = orchestrator.reconcile({ kind: 'removed', key: KEY }, never);
  cluster.isAway = true;
  await expect(confirm(never)).rejects.toThrow('cannot be reached');
  cluster.isAway = false;
  cluster.uid = 'west';
  const answers = await Promise.allSettled([inFlight, confirm(never)]);
  for (const answer of answers)
    expect(answer).toMatchObject({ reason: { code: 'SVC_CLUSTER_CHANGED' } });
  expect((await orchestrator.failure).message).toMatch(/another cluster \(west\) .*\(east\)/);
  await expect(orchestrator.observe(KEY, never)).rejects.toThrow(/another cluster \(west\)/);
  await expect(confirm(never)).rejects.toMatchObject({ code: 'SVC_CLUSTER_CHANGED' });
  expect(log.filter(({ level }) => level !== 'info')).toHaveLength(1);
});

test.each([
  [401, 'SVC_CLUSTER_REFUSED', /does not accept the credentials.*no.*Renew them/],
  [403, 'SVC_CLUSTER_REFUSED', /rights that it needs.*ClusterRole/],
])('an answer %d is %s', async (status, code, expected) => {
  const { api } = await scriptedCluster({ status });
  const { orchestrator, log } = opened(api);
  await expect(orchestrator.observe(KEY, never)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(expected) as string,
  });
  expect(log[0]?.message).toContain(`[${code}]`);
});

test('an API server without a uid is not used, and one without a version has what its groups say', async () => {
  const nameless = await scriptedCluster({ uid: '' });
  const { orchestrator } = opened(nameless.api);
  await expect(orchestrator.observe(KEY, never)).rejects.toThrow(/uid/);
  const unversioned = await scriptedCluster({ minor: '' });
  const other = opened(unversioned.api);
  await other.orchestrator.observe(KEY, never);
  expect(other.features).toEqual([{ disruptionBudgets: 'policy/v1beta1', hasSleepAction: false }]);
});

test('a certificate that cannot be verified, and missing credentials, have codes of their own', () => {
  const untrusted = new KubeError('untrusted', 'the certificate cannot be verified');
  expect(identificationError(untrusted, 's')).toMatchObject({ code: 'SVC_CLUSTER_UNTRUSTED' });
  const cause = new SvcError('SVC_CLUSTER_CREDENTIALS_UNUSABLE', 'the plugin has failed');
  expect(identificationError(new KubeError('unreachable', 'none', { cause }), 's')).toBe(cause);
});
