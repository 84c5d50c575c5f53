// Email: who can fill an address, and which pointer leaves a full one for another.
import { expect, test } from 'vitest';
import type { Call } from '../../../control-plane/flows/call.ts';
import { invite } from '../../../control-plane/flows/change-members.ts';
import { email, POINTERS_OF_INVITER_MAX } from '../../../control-plane/model/email.ts';
import { leavingPointer } from '../../../control-plane/model/leaving-pointer.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { pointedUntil, POINTERS_MAX, type Pointer } from '../../../control-plane/model/pointers.ts';
import { keyedCalls } from '../../support/keyed-calls.ts';
import {
  accepted,
  actor,
  cutAfter,
  givenOrganization,
  startControlPlane,
} from '../control-plane-under-test.ts';

const key = 'bob@example.com';
const invited = { key, email: key, role: 'member' as const };
const ann = actor('ann');

/** Fills the address with pointers, of one inviter each unless an inviter is given for the number of a pointer. */
async function fill(
  call: Call,
  { count = POINTERS_MAX, inviterOf = (n: number) => `inviter${n}` } = {},
): Promise<void> {
  const address = call(email, key);
  for (let n = 0; n < count; n++)
    accepted(await address.point({ to: `evil${n}`, inviter: inviterOf(n) }));
}

async function pointersOf(call: Call): Promise<Pointer[]> {
  return accepted(await call(email, key).organizationsAfter({ after: -1, max: POINTERS_MAX + 1 }));
}

async function isInvited(call: Call, id: string): Promise<boolean> {
  return accepted(await call(organization, id).isInvited({ key }));
}

/** Returns calls that note the ids of the organizations that are asked. */
function notingOrganizations(call: Call, asked: string[]): Call {
  return ((...[entity, id]: Parameters<Call>) => {
    if (entity.component === organization.component) asked.push(id);
    return call(entity, id);
  }) as Call;
}

test('an address that a hundred inviters have filled takes the invitation of another at once, and one other organization is asked', async () => {
  const { call } = await startControlPlane({ hasLargeStates: true });
  await givenOrganization(call, 'shop');
  await fill(call, { inviterOf: (n) => `evil${Math.floor(n / POINTERS_OF_INVITER_MAX)}` });
  const asked: string[] = [];
  accepted(await invite(notingOrganizations(call, asked), 'shop', invited, ann));
  expect(await isInvited(call, 'shop')).toBe(true);
  expect(new Set(asked.filter((id) => id !== 'shop')).size).toBe(1);
  const ids = (await pointersOf(call)).map(({ to }) => to);
  expect(ids).toHaveLength(POINTERS_MAX);
  expect(ids).toContain('shop');
});

test('the invitation of an inviter with few stays while inviters with more fill the address', async () => {
  const { call } = await startControlPlane({ hasLargeStates: true });
  for (const id of ['shop', 'greedy0', 'greedy1', 'next']) await givenOrganization(call, id);
  accepted(await invite(call, 'shop', invited, ann));
  for (const id of ['greedy0', 'greedy1'])
    accepted(await invite(call, id, invited, actor('greedy')));
  await fill(call, { count: POINTERS_MAX - 3 });
  accepted(await invite(call, 'next', invited, actor('mia')));
  const open = await Promise.all(
    ['shop', 'greedy0', 'greedy1', 'next'].map((id) => isInvited(call, id)),
  );
  expect([open[0], open[3]]).toEqual([true, true]);
  // One of the two, whichever was chosen, is over in its organization as well.
  expect(open[1]).not.toBe(open[2]);
});

test('organizations that invite a full address at the same time are each pointed to or told to try again', async () => {
  const { call } = await startControlPlane({ hasLargeStates: true });
  await fill(call);
  const shops = Array.from({ length: 8 }, (_, n) => `shop${n}`);
  for (const id of shops) await givenOrganization(call, id);
  const results = await Promise.all(
    shops.map((id, n) => invite(call, id, invited, actor(`owner${n}`))),
  );
  const pointers = await pointersOf(call);
  expect(pointers).toHaveLength(POINTERS_MAX);
  const pointedTo = new Set(pointers.map(({ to }) => to));
  for (const [n, id] of shops.entries()) {
    const result = results[n]!;
    expect(await isInvited(call, id)).toBe(result.isOk);
    expect(pointedTo.has(id)).toBe(result.isOk);
    expect(result.isOk || result.otherCode === 'ADDRESS_FULL').toBe(true);
  }
});

test('an organization whose pointer has left invites nobody because of it, and an invitation of a later pointer stays', async () => {
  const { call } = await startControlPlane();
  await givenOrganization(call, 'shop');
  const shop = call(organization, 'shop');
  const point = async () => accepted(await call(email, key).point({ to: 'shop', inviter: 'ann' }));
  const first = await point();
  accepted(await shop.endInvitation({ key, ...first }));
  expect(await shop.invite({ ...invited, by: ann, ...first })).toMatchObject({
    otherCode: 'NEEDS_POINTER',
  });
  const second = await point();
  accepted(await shop.invite({ ...invited, by: ann, ...second }));
  accepted(await shop.invite({ ...invited, role: 'owner', by: ann }));
  accepted(await shop.endInvitation({ key, ...first }));
  expect(await isInvited(call, 'shop')).toBe(true);
  accepted(await shop.endInvitation({ key, ...second }));
  expect(await isInvited(call, 'shop')).toBe(false);
});

test('a pointer that was set again since it was chosen does not leave', async () => {
  const { call } = await startControlPlane({ hasLargeStates: true });
  await fill(call);
  const chosen = (await pointersOf(call))[0]!;
  accepted(await call(email, key).point({ to: chosen.to, inviter: 'inviter0' }));
  const refused = await call(email, key).point({ to: 'shop', inviter: 'ann', instead: chosen });
  expect(refused).toMatchObject({ otherCode: 'ADDRESS_FULL' });
  expect((await pointersOf(call)).map(({ to }) => to)).toContain(chosen.to);
});

test('an invitation that is cut off and repeated with its key ends no second one', async () => {
  const { call } = await startControlPlane({ hasLargeStates: true });
  await givenOrganization(call, 'shop');
  await fill(call);
  const before = (await pointersOf(call)).map(({ to }) => to);
  for (let count = 1; count <= 4; count++)
    await expect(
      invite(cutAfter(keyedCalls(call, 'key'), count), 'shop', invited, ann),
    ).rejects.toThrow('cut');
  accepted(await invite(keyedCalls(call, 'key'), 'shop', invited, ann));
  const after = new Set((await pointersOf(call)).map(({ to }) => to));
  expect(before.filter((to) => !after.has(to))).toHaveLength(1);
  expect(await isInvited(call, 'shop')).toBe(true);
});

test('the pointers of the inviter with the most leave first, the new one counted, and of them one that was set early', () => {
  const ids = Array.from({ length: 40 }, (_, n) => `o${n}`);
  const leaving = (inviter: string, inviterOf: (id: string) => string) => {
    const organizations = Object.fromEntries(ids.map((id, version) => [id, version]));
    const inviters = Object.fromEntries(ids.map((id) => [id, inviterOf(id)]));
    const seeds = Array.from({ length: 64 }, (_, n) => BigInt(n));
    const left = seeds.map((seed) => leavingPointer(organizations, inviters, { inviter, seed }).to);
    return [...new Set(left)];
  };
  expect(leaving('ann', (id) => (id === 'o7' || id === 'o9' ? 'mia' : id))).toEqual(['o7', 'o9']);
  // With the new one ann has two.
  expect(leaving('ann', (id) => (id === 'o30' ? 'ann' : id))).toEqual(['o30']);
  expect(leaving('ann', (id) => id)).toEqual(ids.slice(0, 16));
  expect(pointedUntil(5).untilMs).toBeGreaterThan(5);
});
