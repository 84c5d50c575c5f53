// The files by which svc is installed in a cluster, with a real API server: it takes all of their objects, and the role of the control plane lacks no
// right and has no needless one.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { rightsOf } from '../../support/kubernetes/audit-log.ts';
import { PLAIN_MANIFESTS } from '../../../scripts/plain-manifests.ts';
import {
  driverRoles,
  INSTALLATION_FOLDER,
  objectsIn,
} from '../../support/kubernetes/installation-files.ts';
import {
  desiredService,
  EMBEDDED,
  PROCESS,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { ScriptedDatabases } from '../../support/kubernetes/scripted-databases.ts';
import { newKey, newService } from './cluster-services.ts';
import { ClusterUnderTest, INSTALLATION, until } from './cluster-under-test.ts';
import { IMAGES } from './scripted-programs.ts';

const noKubernetes = printedMissingKubernetes('installation.long.test.ts');
const never = new AbortController().signal;

/** Brings a service about, changes it, reads its logs, and removes it. */
async function wholeLife(orchestrator: KubernetesOrchestrator, desired: DesiredService) {
  const next = { ...desired, generation: desired.generation + 1, hostnames: [] };
  await orchestrator.reconcile(desired, never);
  await orchestrator.reconcile(next, never);
  await until(async () => {
    const found = await orchestrator.observe(desired.key, never);
    return found.kind === 'workload' && found.rollout.kind === 'complete';
  });
  await orchestrator.logs(desired.key, { previous: false, bytesMax: 1000 }, never);
  await orchestrator.reconcile({ kind: 'removed', key: desired.key }, never);
}

/** Observes a service until the cluster was asked why a pod has not started. */
async function untilAsked(orchestrator: KubernetesOrchestrator, cluster: ClusterUnderTest) {
  const key = newKey(WEB.name);
  const desired = desiredService({ ...WEB, image: IMAGES.waiting }, { key });
  await orchestrator.reconcile(desired, never);
  await until(async () => {
    await orchestrator.observe(key, never);
    return cluster.server.audit.usedRights.includes('list events');
  });
}

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;

  beforeAll(async () => {
    cluster = await ClusterUnderTest.start();
    await new ScriptedDatabases(cluster.server).install();
  });
  afterAll(() => cluster?.stop());

  test.each(PLAIN_MANIFESTS)('takes every object of $file', ({ file }) => {
    const { kubectl } = cluster.server.programs;
    const { kubeconfig } = cluster.server.administrator;
    const items = objectsIn(readFileSync(join(INSTALLATION_FOLDER, file), 'utf8'));
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { status, stdout, stderr } = spawnSync(
      kubectl,
      [`--kubeconfig=${kubeconfig}`, 'apply', '--dry-run=server', '-o', 'name', '-f', '-'],
      { encoding: 'utf8', input },
    );
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const taken = stdout.trim().split('\n');
    expect(taken.map((line) => line.split('/').at(-1))).toEqual(
      items.map(({ metadata }) => metadata.name),
    );
  });

  test('the role has every right that the control plane uses, and no other', async () => {
    const orchestrator = cluster.newOrchestrator();
    const reported = new Set<string>();
    const watch = orchestrator.watch(({ project }) => reported.add(project));
    const web = desiredService(
      { ...WEB, instances: 2, env: { A: '1' } },
      { key: newKey(WEB.name), hostnames: ['site.example.org'] },
    );
    const services = [
      web,
      desiredService(EMBEDDED, { key: newKey(EMBEDDED.name) }),
      desiredService(PROCESS, { key: newKey(PROCESS.name) }),
    ];
    await Promise.all(services.map((desired) => wholeLife(orchestrator, desired)));
    await until(async () => reported.has(web.key.project));
    await untilAsked(orchestrator, cluster);
    watch[Symbol.dispose]();
    // The server logs a watch at its end.
    await until(async () =>
      ['pods', 'deployments.apps', 'statefulsets.apps'].every((resource) =>
        cluster.server.audit.usedRights.includes(`watch ${resource}`),
      ),
    );
    await orchestrator[Symbol.asyncDispose]();
    expect(cluster.server.audit.forbidden).toEqual([]);
    expect(cluster.server.audit.usedRights).toEqual(rightsOf(driverRoles().platform.rules));
  });

  test('a right that is missing is named by its verb and its resource, and nothing is written', async () => {
    const rules = driverRoles().platform.rules.map((rule) => ({
      ...rule,
      resources: rule.resources.filter((resource) => resource !== 'networkpolicies'),
    }));
    const account = { namespace: 'default', name: 'without-policies', rules };
    const client = cluster.server.client(await cluster.server.serviceAccount(account));
    const orchestrator = new KubernetesOrchestrator({
      client,
      installation: INSTALLATION,
      log: () => undefined,
    });
    const desired = newService();
    await expect
      .poll(() => orchestrator.reconcile(desired, never).catch((error: Error) => error.message))
      .toContain('cannot get resource "networkpolicies" in API group "networking.k8s.io"');
    expect(await cluster.observe(desired.key)).toEqual({ kind: 'none', key: desired.key });
    await orchestrator[Symbol.asyncDispose]();
  });
});
