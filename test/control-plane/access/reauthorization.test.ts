// Requests that are judged again after a wait: by the same rules as before, with what is true now.
import { expect, test } from 'vitest';
import type { Authorized } from '../../../control-plane/access/route-authorization.ts';
import { reauthorizationFor } from '../../../control-plane/access/reauthorization.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import {
  accepted,
  actor,
  administrator,
  givenProject,
  startControlPlane,
} from '../control-plane-under-test.ts';
import { repairMember } from '../../../control-plane/flows/change-members.ts';
import { personOf } from '../control-plane-under-test.ts';

const admitted: Authorized = {
  caller: { subject: 'bob', emailVerified: false, platformAdmin: false },
  membership: { organizationId: 'shop', role: 'owner', isDisabled: false },
};

test('a caller who was demoted, removed or disabled meanwhile is refused as before the wait', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const shop = call(organization, 'shop');
  const by = actor('ann');
  const owner = { person: personOf('bob'), role: 'owner' as const };
  accepted(await repairMember(call, 'shop', owner, administrator));
  const judged = async () => {
    const refusals = [];
    for (const route of ['deleteOrganization', 'deleteProject', 'applyService'] as const)
      refusals.push((await reauthorizationFor(route, admitted, call)())?.code);
    return refusals;
  };
  expect(await judged()).toEqual([undefined, undefined, undefined]);
  accepted(await shop.setRole({ subject: 'bob', role: 'member', by }));
  expect(await judged()).toEqual(['FORBIDDEN', 'FORBIDDEN', undefined]);
  accepted(await shop.disable({ by: administrator }));
  expect(await judged()).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
  accepted(await shop.removeMember({ subject: 'bob', by }));
  expect(await judged()).toEqual(['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']);
});
