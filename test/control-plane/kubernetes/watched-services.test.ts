// Watches report every service whose objects have changed, also between two watches, until they are disposed of.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import type { ServiceKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { serviceLabels } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import { WatchedServices } from '../../../control-plane/kubernetes/watched-services.ts';
import { answerJson, ScriptedApi } from '../../support/kubernetes/scripted-api.ts';
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

beforeEach(async () => {
  listed = [];
  open = new Map();
  api = await ScriptedApi.start(({ path, query }, response) => {
    if (query['watch'] !== 'true') {
      const items = path === PODS ? listed : [];
      answerJson(response, 200, { metadata: { resourceVersion: '5' }, items });
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    open.set(path, response);
  });
  watched = new WatchedServices({
    client: api.client(),
    clock: SYSTEM_CLOCK,
    limits: { pauseMinMs: 1, pauseMaxMs: 5 },
    onFailure: () => undefined,
  });
});
afterEach(async () => {
  await watched[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

function podOf(key: ServiceKey, namespace = `svc-${key.project}`): KubeObject {
  const name = `${key.service}-1`;
  return { metadata: { name, namespace, resourceVersion: '6', labels: serviceLabels(key) } };
}

const allOpen = () => until(async () => open.size === 3);

function send(type: string, object: unknown): void {
  open.get(PODS)!.write(`${JSON.stringify({ type, object })}\n`);
}

test('what is listed and what changes is reported, each with its service', async () => {
  listed = [podOf(CART)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  expect(reported).toEqual([CART]);
  send('MODIFIED', podOf(SHOP));
  send('DELETED', podOf(CART));
  await until(async () => reported.length === 3);
  expect(reported).toEqual([CART, SHOP, CART]);
  const selectors = api.requests.map(({ path, query }) => [path, query['labelSelector']]);
  for (const path of [PODS, '/apis/apps/v1/deployments', '/apis/apps/v1/statefulsets'])
    expect(selectors).toContainEqual([path, 'app.kubernetes.io/managed-by=svc']);
});

test('hard case 28: a service that has gone between two watches is reported with the next list', async () => {
  listed = [podOf(CART)];
  const reported: ServiceKey[] = [];
  watched.watch((key) => reported.push(key));
  await allOpen();
  listed = [podOf(SHOP)];
  reported.length = 0;
  send('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
  await until(async () => reported.length === 2);
  expect(reported).toEqual([CART, SHOP]);
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
