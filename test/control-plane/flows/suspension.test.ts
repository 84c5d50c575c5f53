// Disabling and enabling an organization, as its services see it.
import { expect, test } from 'vitest';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { project } from '../../../control-plane/model/project.ts';
import { service } from '../../../control-plane/model/service.ts';
import {
  SOON,
  accepted,
  actor,
  administrator,
  descriptor,
  givenProject,
  historyOf,
  startControlPlane,
} from '../control-plane-under-test.ts';

const ann = actor('ann');

async function flagsOf(call: Call, id: string): Promise<readonly boolean[]> {
  const { suspended, paused } = accepted(await call(service, id).get());
  return [suspended, paused];
}

const disable = (call: Call) => call(organization, 'shop').disable({ by: administrator });
const enable = (call: Call) => call(organization, 'shop').enable({ by: administrator });

test('disabling suspends every service, and enabling leaves paused ones paused', async () => {
  const control = await startControlPlane();
  const { call } = control;
  await givenProject(call, 'shop', 'web');
  accepted(await createProject(call, 'app', { organizationId: 'shop', name: 'App' }, ann));
  const ids = ['web/cart', 'web/paused', 'app/cart'];
  for (const id of ids) {
    const [projectId, name] = id.split('/') as [string, string];
    accepted(
      await applyService(call, { project: projectId, service: name }, descriptor(name), ann),
    );
  }
  accepted(await call(service, 'web/paused').pause({ by: ann }));
  const flags = () => Promise.all(ids.map((id) => flagsOf(call, id)));
  accepted(await disable(call));
  await expect.poll(flags, SOON).toEqual([
    [true, false],
    [true, true],
    [true, false],
  ]);
  // A request that was judged before the disabling may come to its end afterwards.
  accepted(
    await applyService(call, { project: 'web', service: 'paused' }, descriptor('paused'), ann),
  );
  expect(await flagsOf(call, 'web/paused')).toEqual([true, true]);
  accepted(await enable(call));
  await expect.poll(flags, SOON).toEqual([
    [false, false],
    [false, true],
    [false, false],
  ]);
  const entries = await historyOf(control, 'web/paused');
  expect(entries.map(({ type, generation }) => [type, generation])).toEqual([
    ['applied', 1],
    ['paused', 1],
    ['suspended', 1],
    ['applied', 2],
    ['reinstated', 2],
  ]);
  for (const entry of entries.filter(({ type }) => type === 'suspended' || type === 'reinstated'))
    expect(entry.by).toEqual(administrator);
});

test('a service that is created while its organization is being disabled is suspended', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const claim = accepted(await call(project, 'web').claimService({ service: 'cart' }));
  accepted(await disable(call));
  await expect
    .poll(async () => accepted(await call(project, 'web').suspension()).by, SOON)
    .toEqual(administrator);
  const cart = call(service, 'web/cart');
  accepted(await cart.apply({ descriptor: descriptor('cart'), claim, hostnames: [], by: ann }));
  accepted(await call(project, 'web').confirmService({ service: 'cart', claim: claim.id }));
  await expect.poll(() => flagsOf(call, 'web/cart'), SOON).toEqual([true, false]);
});

test('a project that is created while its organization is being disabled is suspended', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const shop = call(organization, 'shop');
  const claim = accepted(await shop.claimProject({ project: 'app' }));
  accepted(await disable(call));
  await expect
    .poll(async () => accepted(await call(project, 'web').suspension()).by, SOON)
    .toEqual(administrator);
  const app = call(project, 'app');
  accepted(await app.create({ organization: 'shop', name: 'App', claim, by: ann }));
  accepted(await shop.confirmProject({ project: 'app', claim: claim.id }));
  await expect.poll(async () => accepted(await app.suspension()).by, SOON).toEqual(administrator);
  accepted(await enable(call));
  await expect.poll(async () => accepted(await app.suspension()), SOON).toEqual({});
});
