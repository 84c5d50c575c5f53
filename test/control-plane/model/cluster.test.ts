// Cluster: the journal keeps which cluster it is, and the id of the installation for ever.
import { expect, onTestFinished, test } from 'vitest';
import { createService, type Service } from '@svc/host';
import { cluster, CLUSTER_ID } from '../../../control-plane/model/cluster.ts';
import { clusterMemory } from '../../../control-plane/program/cluster-memory.ts';
import { accepted } from '../control-plane-under-test.ts';

async function started(): Promise<Service> {
  const running = await createService({
    name: 'control-plane',
    entities: [cluster],
    http: false,
    log: 'none',
    journal: 'memory',
  });
  onTestFinished(() => running.stop());
  return running;
}

test('an installation gets a random id once, and keeps it in another cluster', async () => {
  const memory = clusterMemory(await started());
  const first = await memory.remember('east', false);
  expect(first).toEqual({ uid: 'east', installation: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(await memory.remember('east', false)).toEqual(first);
  expect(await memory.remember('west', false)).toEqual(first);
  expect(await memory.remember('west', true)).toEqual({ ...first, uid: 'west' });
  const { installation } = await clusterMemory(await started()).remember('east', false);
  expect(installation).not.toBe(first.installation);
});

test('the id that counts is the one that was chosen first', async () => {
  const service = await started();
  const remember = (installation: string) =>
    service.call(cluster, CLUSTER_ID).remember({ uid: 'east', isNew: false, installation });
  expect(accepted(await remember('one'))).toEqual({ uid: 'east', installation: 'one' });
  expect(accepted(await remember('two'))).toEqual({ uid: 'east', installation: 'one' });
});
