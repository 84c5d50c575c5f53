// Requests that are refused, or change nothing: they store nothing, so that nobody makes the journal grow by them.
import { expect, test } from 'vitest';
import { refuse } from '@svc/host';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { invite, repairMember } from '../../../control-plane/flows/change-members.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { deleteOrganization } from '../../../control-plane/flows/delete-organization.ts';
import { hostname } from '../../../control-plane/model/hostname.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import {
  accepted,
  actor,
  administrator,
  descriptor,
  givenOrganization,
  givenProject,
  historyOf,
  outcomeOf,
  personOf,
  startControlPlane,
} from '../control-plane-under-test.ts';

const ann = actor('ann');
const bob = { key: 'bob@example.com', email: 'bob@example.com', role: 'member' as const };
const cart = { project: 'web', service: 'cart' };
const hostnames = ['a.example', 'b.example', 'c.example'];

async function given(): Promise<Awaited<ReturnType<typeof startControlPlane>>> {
  const control = await startControlPlane();
  const { call } = control;
  await givenProject(call, 'shop', 'web');
  accepted(await applyService(call, cart, descriptor('cart', { hostnames }), ann));
  accepted(await invite(call, 'shop', bob, ann));
  accepted(await repairMember(call, 'shop', { person: personOf('mia'), role: 'member' }, ann));
  return control;
}

const REQUESTS: readonly (readonly [string, string, (call: Call) => Promise<unknown>])[] = [
  [
    'creating an organization with a used id',
    'CONFLICT',
    (call) =>
      createOrganization(call, 'shop', { name: 'Other', owner: personOf('eve') }, actor('eve')),
  ],
  [
    'creating a project with a used id',
    'CONFLICT',
    (call) => createProject(call, 'web', { organizationId: 'shop', name: 'Other' }, ann),
  ],
  [
    'applying a service with a hostname of another one',
    'CONFLICT',
    (call) =>
      applyService(
        call,
        { ...cart, service: 'new' },
        descriptor('new', { hostnames: ['0.example', '1.example', 'b.example'] }),
        ann,
      ),
  ],
  [
    'inviting the address of a member',
    'CONFLICT',
    (call) => invite(call, 'shop', { ...bob, key: 'mia@example.com' }, ann),
  ],
  ['inviting an address again', 'ok', (call) => invite(call, 'shop', bob, ann)],
  [
    'repairing a member who has the role',
    'ok',
    (call) =>
      repairMember(call, 'shop', { person: personOf('mia'), role: 'member' }, administrator),
  ],
];

test.each(REQUESTS)('%s stores nothing', async (_what, outcome, send) => {
  const { call, service } = await given();
  const before = service.position();
  for (let n = 0; n < 3; n++)
    expect(outcomeOf((await send(call)) as Parameters<typeof outcomeOf>[0])).toBe(outcome);
  expect(service.position()).toBe(before);
});

test('an apply with the hostnames that a service holds claims none of them anew', async () => {
  const control = await given();
  const recorded = () => control.service.readEvents(hostname, 'a.example');
  const before = (await recorded()).length;
  const next = descriptor('cart', { hostnames, image: 'registry.example/it:2' });
  expect(accepted(await applyService(control.call, cart, next, ann))).toBe(2);
  expect(await recorded()).toHaveLength(before);
  const entries = await historyOf(control, 'web/cart');
  expect(entries.at(-1)).toMatchObject({ type: 'applied', generation: 2, freed: [] });
});

test('a request that has waited is judged again before it changes anything', async () => {
  const { call } = await startControlPlane();
  await givenOrganization(call, 'shop');
  const shop = call(organization, 'shop');
  const { id: claim } = accepted(await shop.claimProject({ project: 'web' }));
  const refused = await deleteOrganization(call, 'shop', ann, async () => {
    // It has waited by now, and nothing keeps it from deleting the organization any more.
    await shop.releaseProject({ project: 'web', claim });
    return refuse('removed meanwhile', 'NOT_FOUND');
  });
  expect(refused).toMatchObject({ isOk: false, message: 'removed meanwhile' });
  expect(accepted(await shop.access({ subject: 'ann' }))).toMatchObject({ role: 'owner' });
});
