// Watches report every service whose objects have changed, also between two watches, until they are disposed of.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import type { ServiceKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import {
  projectLabels,
  serviceLabels,
} from '../../../control-plane/kubernetes/manifests/object-names.ts';
import {
  type SeenObject,
  WatchedServices,
} from '../../../control-plane/kubernetes/watched-services.ts';
import { WorkloadRefused } from '../../../control-plane/orchestration/orchestrator.ts';
import { answerJson, ScriptedApi, statusObject } from '../../support/kubernetes/scripted-api.ts';
import { until } from '../local/until.ts';

const CART = { project: 'web', service: 'cart' };
const SHOP = { project: 'web', service: 'shop' };
const PODS = '/api/v1/pods';

let api: ScriptedApi;
let watched: WatchedServices;
/** What a list of pods has. */
let listed: readonly KubeObject[];
/** The answers to watches that are open, by path. */
let open: Map<string, ServerResponse>;
/** Path whose watches are refused. */
let refused: string | undefined;
/** Where the databases are. */
let databases: Promise<string>;
/** The changes of objects that were reported. */
let seen: SeenObject[];

beforeEach(async () => {
  listed = [];
  open = new Map();
  seen = [];
  refused = undefined;
  databases = Promise.resolve('/apis/example.org/v1/clusters');
  api = await ScriptedApi.start(({ path, query }, response) => {
    if (query['watch'] !== 'true') {
      const items = path === PODS ? listed : [];
      answerJson(response, 200, { metadata: { resourceVersion: '5' }, items });
      return;
    }
    if (path === refused) return answerJson(response, 500, statusObject(500, 'Internal', 'no'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    open.set(path, response);
  });
  watched = new WatchedServices({
    client: api.client(),
    clock: SYSTEM_CLOCK,
    limits: { pauseMinMs: 1, pauseMaxMs: 5 },
    disruptionBudgets: 'policy/v1',
    databases: () => databases,
    onChange: (one) => seen.push(one),
    onFailure: () => undefined,
  });
});
afterEach(async () => {
  await watched[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

function podOf(
  key: ServiceKey,
  namespace = `svc-${key.project}`,
  resourceVersion = '6',
): KubeObject {
  const name = `${key.service}-1`;
  return { metadata: { name, namespace, resourceVersion, labels: serviceLabels(key) } };
}

const KINDS = [
  '/api/v1/namespaces',
  PODS,
  '/api/v1/services',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/statefulsets',
  '/apis/example.org/v1/clusters',
  '/apis/networking.k8s.io/v1/ingresses',
  '/apis/networking.k8s.io/v1/networkpolicies',
  '/apis/policy/v1/poddisruptionbudgets',
];
const allOpen = () => until(async () => open.size === KINDS.length && watched.isLive);

function send(type: string, object: unknown): void {
  open.get(PODS)!.write(`${JSON.stringify({ type, object })}\n`);
}

test('what is listed and what changes is reported, each with its service', async () => {
  listed = [podOf(CART)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  expect(reported).toEqual([CART]);
  send('ADDED', podOf(SHOP));
  send('DELETED', podOf(CART));
  await until(async () => reported.length === 3);
  expect(reported).toEqual([CART, SHOP, CART]);
  expect([...new Set(api.requests.map(({ path }) => path))].toSorted()).toEqual(KINDS);
  for (const { query, headers } of api.requests) {
    expect(query['labelSelector']).toBe('app.kubernetes.io/managed-by=svc');
    expect(headers.accept).toContain('as=PartialObjectMetadata');
  }
});

test('a list after a watch has each object reported that the watch has not, and no other one', async () => {
  listed = [podOf(CART), podOf(SHOP)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  expect(reported).toEqual([CART, SHOP]);
  // The watch leaves the change of the one out. Versions are compared, and not ordered.
  listed = [podOf(CART), podOf(SHOP, 'svc-web', '3')];
  reported.length = 0;
  const former = open.get(PODS)!;
  former.end();
  await until(async () => open.get(PODS) !== former && watched.isLive);
  expect(reported).toEqual([SHOP]);
});

test('an object whose labels change is reported with both services', async () => {
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  send('ADDED', podOf(CART));
  const { metadata } = podOf(CART);
  send('MODIFIED', { metadata: { ...metadata, labels: serviceLabels(SHOP) } });
  await until(async () => reported.length === 3);
  expect(reported).toEqual([CART, CART, SHOP]);
  expect(seen.map(({ object }) => object !== undefined)).toEqual([true, false, true]);
});

test('a namespace is of every service of its project', async () => {
  listed = [podOf(CART), podOf(SHOP)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  reported.length = 0;
  const labels = projectLabels('web');
  const object = { metadata: { name: 'svc-web', resourceVersion: '9', labels } };
  open.get('/api/v1/namespaces')!.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  await until(async () => reported.length === 2);
  expect(reported).toEqual([CART, SHOP]);
  expect(seen.at(-1)).toMatchObject({ service: undefined, path: '/api/v1/namespaces/svc-web' });
});

test('the watches are not live while one of them is not open', async () => {
  expect(watched.isLive).toBe(false);
  watched.watch(() => undefined);
  await allOpen();
  refused = PODS;
  open.get(PODS)!.destroy();
  await until(async () => !watched.isLive);
  refused = undefined;
  await until(async () => watched.isLive);
});

/** Resolves once all watches but that of databases are live. */
async function othersLive(): Promise<void> {
  await until(async () => open.size === KINDS.length - 1);
  const object = podOf(CART);
  for (const response of open.values())
    response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
  await until(async () => seen.length === KINDS.length - 1);
}

test('the watches are not live while it is not known where the databases are', async () => {
  const found = Promise.withResolvers<string>();
  databases = found.promise;
  watched.watch(() => undefined);
  await othersLive();
  expect(watched.isLive).toBe(false);
  found.resolve('/apis/example.org/v1/clusters');
  await allOpen();
});

async function rejection(answer: Error): Promise<never> {
  throw answer;
}

test.each([
  [new Error('the server is away'), false],
  [new WorkloadRefused('the cluster has no such kind'), true],
])(
  'after the answer "%s" to where the databases are, the watches are live: %s',
  async (answer, isLive) => {
    databases = rejection(answer);
    watched.watch(() => undefined);
    await othersLive();
    expect(watched.isLive).toBe(isLive);
  },
);

test('hard case 28: a service that has gone between two watches is reported with the next list', async () => {
  listed = [podOf(CART)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  listed = [podOf(SHOP)];
  reported.length = 0;
  send('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
  await until(async () => reported.length === 2);
  expect(reported).toEqual([SHOP, CART]);
});

test('objects whose labels name another namespace, or no service, are not reported', async () => {
  listed = [
    podOf(CART, 'svc-other'),
    podOf({ project: 'web', service: 'Not a name' }),
    { metadata: { name: 'x', namespace: 'svc-web' } },
    podOf(SHOP),
  ];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  expect(reported).toEqual([SHOP]);
});

test('a watch that was disposed of is not called, and the last one ends the requests', async () => {
  const first: ServiceKey[] = [];
  const second: ServiceKey[] = [];
  const watch = watched.watch((key) => first.push(key));
  const other = watched.watch((key) => second.push(key));
  await allOpen();
  watch[Symbol.dispose]();
  send('ADDED', podOf(CART));
  await until(async () => second.length === 1);
  expect(first).toEqual([]);
  const closed = Promise.all(
    [...open.values()].map((response) => new Promise((done) => response.once('close', done))),
  );
  other[Symbol.dispose]();
  await closed;
});

test('it can be watched again after the last watch', async () => {
  watched.watch(() => undefined)[Symbol.dispose]();
  listed = [podOf(CART)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await until(async () => reported.length > 0);
  expect(reported).toEqual([CART]);
});
