// Organizations: their ids, members, invitations and owners, whatever the requests at the same time.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  invite,
  CLAIMED_AT_ONCE_MAX,
  claimInvitations,
  membershipsOf,
  repairMember,
} from '../../../control-plane/flows/change-members.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { SETTLE_AFTER_MS } from '../../../control-plane/model/claims.ts';
import type { Actor } from '../../../control-plane/model/actor.ts';
import { email, POINTERS_OF_INVITER_MAX } from '../../../control-plane/model/email.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import type { Role } from '../../../control-plane/model/organization-state.ts';
import { ORGANIZATIONS_MAX, person } from '../../../control-plane/model/person.ts';
import { POINTERS_MAX } from '../../../control-plane/model/pointers.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  accepted,
  actor,
  administrator,
  givenOrganization,
  givenProject,
  outcomeOf,
  outcomesOf,
  personOf,
  startControlPlane,
} from '../control-plane-under-test.ts';

const ann = actor('ann');
const EVERY_POINTER = { after: -1, max: POINTERS_MAX };

/** Returns who sends the invitation of a number, so that nobody sends too many to one address. */
function inviterOf(invitation: number): Actor {
  return actor(`inviter${Math.floor(invitation / POINTERS_OF_INVITER_MAX)}`);
}

async function rolesOf(call: Call, id: string): Promise<Record<string, Role>> {
  const { members } = accepted(await call(organization, id).people());
  return Object.fromEntries(Object.keys(members).map((key) => [key, members[key]!.role]));
}

function repair(call: Call, id: string, subject: string, role: Role = 'owner') {
  return repairMember(call, id, { person: personOf(subject), role }, administrator);
}

describe('an id of an organization', () => {
  test('hard case 4: that 50 requests create at once is created by one of them', async () => {
    const { call } = await startControlPlane();
    const create = (n: number) =>
      createOrganization(call, 'shop', { name: 'Shop', owner: personOf(`p${n}`) }, ann);
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => create(n)));
    expect(outcomesOf(results)).toEqual([...Array<string>(49).fill('CONFLICT'), 'ok']);
    const winner = results.findIndex(({ isOk }) => isOk);
    expect(await rolesOf(call, 'shop')).toEqual({ [`p${winner}`]: 'owner' });
  });

  test('hard case 4: that was deleted is never used again, also after a restart', async () => {
    const folder = temporaryFolder();
    const create = (call: Call) =>
      createOrganization(call, 'shop', { name: 'Shop', owner: personOf('bob') }, ann);
    const first = await startControlPlane({ dataFolder: folder });
    accepted(await create(first.call));
    accepted(await first.call(organization, 'shop').delete({ by: ann }));
    expect(outcomeOf(await create(first.call))).toBe('CONFLICT');
    await first.service.stop();
    const second = await startControlPlane({ dataFolder: folder });
    expect(outcomeOf(await create(second.call))).toBe('CONFLICT');
    expect(outcomeOf(await second.call(organization, 'shop').people())).toBe('NOT_FOUND');
  });

  test('may be a word of the language', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'constructor', 'valueof');
    accepted(
      await createProject(call, 'constructor', { organizationId: 'constructor', name: 'x' }, ann),
    );
    expect(accepted(await call(organization, 'constructor').projectIds())).toEqual([
      'constructor',
      'valueof',
    ]);
    accepted(await repair(call, 'constructor', '__proto__'));
    expect(await rolesOf(call, 'constructor')).toEqual({ ann: 'owner', ['__proto__']: 'owner' });
  });
});

test('hard case 5: two control planes cannot run with one data folder', async () => {
  const folder = temporaryFolder();
  await startControlPlane({ dataFolder: folder });
  await expect(startControlPlane({ dataFolder: folder })).rejects.toMatchObject({
    code: 'SVC_DATA_IN_USE',
  });
});

describe('the last owner', () => {
  test('hard case 1: stays, if two owners demote each other at the same moment', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await repair(call, 'shop', 'bob'));
    const demote = (subject: string, by: string) =>
      call(organization, 'shop').setRole({ subject, role: 'member', by: actor(by) });
    const results = await Promise.all([demote('bob', 'ann'), demote('ann', 'bob')]);
    expect(outcomesOf(results)).toEqual(['CONFLICT', 'ok']);
    expect(Object.values(await rolesOf(call, 'shop')).toSorted()).toEqual(['member', 'owner']);
  });

  test('cannot be removed, and an owner beside another can', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    const remove = () => call(organization, 'shop').removeMember({ subject: 'ann', by: ann });
    expect(outcomeOf(await remove())).toBe('CONFLICT');
    accepted(await repair(call, 'shop', 'bob'));
    accepted(await remove());
    expect(await rolesOf(call, 'shop')).toEqual({ bob: 'owner' });
    expect(outcomeOf(await remove())).toBe('NOT_FOUND');
  });

  test('cannot be demoted by an administrator either, who makes another owner first', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    expect(outcomeOf(await repair(call, 'shop', 'ann', 'member'))).toBe('CONFLICT');
    accepted(await repair(call, 'shop', 'bob'));
    accepted(await repair(call, 'shop', 'ann', 'member'));
    expect(await rolesOf(call, 'shop')).toEqual({ ann: 'member', bob: 'owner' });
  });
});

describe('an invitation', () => {
  const invited = { key: 'bob@example.com', email: 'Bob@example.com', role: 'member' as const };

  test('hard case 10: becomes a membership of one of two subjects with the same address', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await invite(call, 'shop', invited, ann));
    await Promise.all(
      ['bob', 'bobby'].map((subject) => claimInvitations(call, personOf(subject, invited.key))),
    );
    const { members, invitations } = accepted(await call(organization, 'shop').people());
    expect(Object.keys(members)).toHaveLength(2);
    expect(invitations).toEqual({});
    const joined = Object.keys(members).find((subject) => subject !== 'ann')!;
    expect(['bob', 'bobby']).toContain(joined);
    expect(members[joined]).toMatchObject({ role: 'member', addedBy: 'ann', email: invited.key });
    const others = joined === 'bob' ? 'bobby' : 'bob';
    expect(accepted(await membershipsOf(call, joined)).map(({ id }) => id)).toEqual(['shop']);
    expect(accepted(await membershipsOf(call, others))).toEqual([]);
  });

  test('hard case 11: that is withdrawn while it is claimed is either withdrawn or claimed', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    for (let n = 0; n < 10; n++) {
      const key = `bob${n}@example.com`;
      accepted(await invite(call, 'shop', { ...invited, key }, ann));
      const [withdrawn] = await Promise.all([
        call(organization, 'shop').withdrawInvitation({ key, by: ann }),
        claimInvitations(call, personOf(`bob${n}`, key)),
      ]);
      const isMember = `bob${n}` in (await rolesOf(call, 'shop'));
      expect([withdrawn.isOk, isMember]).toSatisfy(([left, right]) => left !== right);
    }
  });

  test('that is sent again has the new role', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await invite(call, 'shop', invited, ann));
    accepted(await invite(call, 'shop', { ...invited, role: 'owner' }, ann));
    await claimInvitations(call, personOf('bob'));
    expect(await rolesOf(call, 'shop')).toEqual({ ann: 'owner', bob: 'owner' });
  });

  test('of the address of a member is refused', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    const again = { ...invited, key: 'ann@example.com' };
    expect(outcomeOf(await invite(call, 'shop', again, ann))).toBe('CONFLICT');
  });

  test('of another address of a member ends, and changes no role', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await invite(call, 'shop', invited, ann));
    await claimInvitations(call, personOf('ann', invited.key));
    expect(await rolesOf(call, 'shop')).toEqual({ ann: 'owner' });
    expect(accepted(await call(organization, 'shop').people()).invitations).toEqual({});
  });

  test('does not outlive its organization', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await invite(call, 'shop', invited, ann));
    accepted(await call(organization, 'shop').delete({ by: ann }));
    await claimInvitations(call, personOf('bob'));
    expect(accepted(await membershipsOf(call, 'bob'))).toEqual([]);
  });
});

describe('a pointer', () => {
  test('is not removed while an organization may still decide because of it', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    const address = call(email, 'bob@example.com');
    const pointed = accepted(await address.point({ to: 'shop', inviter: 'ann' }));
    // A token of the address comes between the two steps of an invitation.
    await claimInvitations(call, personOf('bob'));
    const invited = { key: 'bob@example.com', email: 'bob@example.com', role: 'member' as const };
    accepted(await call(organization, 'shop').invite({ ...invited, by: ann, ...pointed }));
    await claimInvitations(call, personOf('bob'));
    expect(await rolesOf(call, 'shop')).toEqual({ ann: 'owner', bob: 'member' });
  });

  test('that is too old lets no organization decide', async () => {
    const { call } = await startControlPlane();
    const shop = call(organization, 'shop');
    const old = { untilMs: Date.now() };
    const owner = personOf('ann');
    const create = await shop.create({ name: 'Shop', owner, by: ann, ...old });
    expect(outcomeOf(create)).toBe('CLAIM_OVER');
    await givenOrganization(call, 'shop');
    const invited = { key: 'b@example.com', email: 'b@example.com', role: 'member' as const };
    expect(outcomeOf(await shop.invite({ ...invited, by: ann, ...old }))).toBe('CLAIM_OVER');
    const bob = { person: personOf('bob'), role: 'member' as const };
    expect(outcomeOf(await shop.repair({ ...bob, by: ann, ...old }))).toBe('CLAIM_OVER');
    accepted(await invite(call, 'shop', invited, ann));
    const joined = await shop.join({ key: invited.key, person: personOf('bob'), ...old });
    expect(outcomeOf(joined)).toBe('CLAIM_OVER');
    expect(await rolesOf(call, 'shop')).toEqual({ ann: 'owner' });
  });

  test('that is wrong gives way, when a person has too many', async () => {
    const { call } = await startControlPlane();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    for (let n = 0; n < ORGANIZATIONS_MAX.created; n++)
      accepted(await call(person, 'ann').point({ to: `gone${n}`, reason: 'created' }));
    const create = () =>
      createOrganization(call, 'shop', { name: 'Shop', owner: personOf('ann') }, ann);
    expect(outcomeOf(await create())).toBe('CONFLICT');
    // Versions rise with each pointer that is set in the same millisecond.
    vi.setSystemTime(Date.now() + SETTLE_AFTER_MS + ORGANIZATIONS_MAX.created);
    accepted(await create());
    expect(accepted(await call(person, 'ann').organizations()).map(({ to }) => to)).toEqual([
      'shop',
    ]);
  });

  test('of a person to an organization without them is harmless', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await call(person, 'bob').point({ to: 'shop', reason: 'invited' }));
    expect(accepted(await membershipsOf(call, 'bob'))).toEqual([]);
    expect(accepted(await membershipsOf(call, 'ann'))).toEqual([
      { id: 'shop', name: 'shop', role: 'owner', projects: 0, disabled: false },
    ]);
  });
});

describe('what others do', () => {
  const key = 'bob@example.com';
  const invited = { key, email: key, role: 'member' as const };

  test('never keeps a person from creating an organization', async () => {
    const { call } = await startControlPlane({ hasLargeStates: true });
    for (let n = 0; n < ORGANIZATIONS_MAX.invited; n++)
      accepted(await call(person, 'bob').point({ to: `evil${n}`, reason: 'invited' }));
    const create = (id: string, by = actor('bob')) =>
      createOrganization(call, id, { name: id, owner: personOf('bob') }, by);
    for (let n = 0; n < ORGANIZATIONS_MAX.created; n++) accepted(await create(`own${n}`));
    expect(await create('one-more')).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('you have created 100 organizations'),
    });
    accepted(await create('one-more', administrator));
  });

  test('makes a request claim a few invitations, and the next ones the others', async () => {
    const { call } = await startControlPlane();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const count = CLAIMED_AT_ONCE_MAX + 5;
    for (let n = 0; n < count; n++) {
      await givenOrganization(call, `shop${n}`);
      accepted(await invite(call, `shop${n}`, invited, inviterOf(n)));
    }
    vi.setSystemTime(Date.now() + SETTLE_AFTER_MS + count);
    const bob = personOf('bob');
    const after = await claimInvitations(call, bob);
    expect(accepted(await membershipsOf(call, 'bob'))).toHaveLength(CLAIMED_AT_ONCE_MAX);
    await claimInvitations(call, bob, after);
    expect(accepted(await membershipsOf(call, 'bob'))).toHaveLength(count);
    expect(accepted(await call(email, key).organizationsAfter(EVERY_POINTER))).toEqual([]);
  });

  test('is not tried again with each request, if the person belongs to too many organizations', async () => {
    const { call } = await startControlPlane({ hasLargeStates: true });
    for (let n = 0; n < ORGANIZATIONS_MAX.invited; n++)
      accepted(await call(person, 'bob').point({ to: `evil${n}`, reason: 'invited' }));
    for (const id of ['one', 'two']) {
      await givenOrganization(call, id);
      accepted(await invite(call, id, invited, ann));
    }
    let pointed = 0;
    const counted = ((...[entity, id]: Parameters<Call>) => {
      const client = call(entity, id);
      return new Proxy(client, {
        get: (target, name) => {
          if (name === 'point') pointed++;
          const method = target[name as keyof typeof target] as unknown;
          return typeof method === 'function' ? (method.bind(target) as unknown) : method;
        },
      });
    }) as Call;
    expect(await claimInvitations(counted, personOf('bob'))).toBe(Infinity);
    expect(pointed).toBe(1);
  });

  test('leaves room at an address for others, since one inviter invites it to a few organizations', async () => {
    const { call } = await startControlPlane();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    for (let n = 0; n <= POINTERS_OF_INVITER_MAX; n++) await givenOrganization(call, `shop${n}`);
    for (let n = 0; n < POINTERS_OF_INVITER_MAX; n++)
      accepted(await invite(call, `shop${n}`, invited, ann));
    const last = `shop${POINTERS_OF_INVITER_MAX}`;
    expect(await invite(call, last, invited, ann)).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('you have invited this address to 10 organizations'),
    });
    // An invitation that is open may still be changed, and others may invite the address.
    accepted(await invite(call, 'shop0', { ...invited, role: 'owner' }, ann));
    accepted(await invite(call, last, invited, actor('mia')));
    accepted(await call(organization, last).withdrawInvitation({ key, by: ann }));
    accepted(await call(organization, 'shop0').withdrawInvitation({ key, by: ann }));
    vi.setSystemTime(Date.now() + SETTLE_AFTER_MS + POINTERS_OF_INVITER_MAX);
    accepted(await invite(call, last, invited, ann));
    const withdrawn = accepted(await call(organization, 'shop0').isInvited({ key }));
    expect([withdrawn, accepted(await call(organization, last).isInvited({ key }))]).toEqual([
      false,
      true,
    ]);
  });
});

test('a member who was removed has no role at once', async () => {
  const { call } = await startControlPlane();
  await givenOrganization(call, 'shop');
  accepted(await repair(call, 'shop', 'bob', 'member'));
  const shop = call(organization, 'shop');
  const access = async () => accepted(await shop.access({ subject: 'bob' }));
  expect(await access()).toEqual({ isDisabled: false, role: 'member' });
  accepted(await shop.removeMember({ subject: 'bob', by: ann }));
  expect(await access()).toEqual({ isDisabled: false });
});

test('what is done twice is recorded once', async () => {
  const control = await startControlPlane();
  await givenOrganization(control.call, 'shop');
  const shop = control.call(organization, 'shop');
  for (let n = 0; n < 2; n++) {
    accepted(await shop.rename({ name: 'Shop', by: ann }));
    accepted(await shop.disable({ by: administrator }));
    accepted(await repair(control.call, 'shop', 'bob'));
  }
  for (let n = 0; n < 2; n++) accepted(await shop.enable({ by: administrator }));
  const records = await control.service.readEvents(organization, 'shop');
  expect(records.map(({ event }) => event.type)).toEqual([
    'created',
    'renamed',
    'disabled',
    'member-repaired',
    'enabled',
  ]);
});
