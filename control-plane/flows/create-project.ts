// CreateProject: creates a project in an organization.
import type { Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import { neededClaims } from '../model/refusals.ts';
import { decidedSince, inTime, tidyUp, type Call } from './call.ts';
import { projectsOf, settleClaim } from './claim-settlement.ts';

/**
 * Refused with CONFLICT if the id was ever used. Nothing is stored then, unless requests create it at the same time: each has a claim,
 * of which there are PENDING_CLAIMS_MAX at most.
 */
export function createProject(
  call: Call,
  id: string,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
  by: Actor,
): Promise<Result<null>> {
  const sinceMs = Date.now();
  const creation = { organization: organizationId, name, by };
  return inTime(async () => {
    const unclaimed = await call(project, id).create(creation);
    if (unclaimed.isOk || neededClaims(unclaimed) === undefined) return unclaimed;
    const claim = await decidedSince(sinceMs, () =>
      call(organization, organizationId).claimProject({ project: id }),
    );
    if (!claim.isOk) return claim;
    const created = await call(project, id).create({ ...creation, claim: claim.value });
    const parent = projectsOf(call, organizationId);
    const held = { name: id, claim: claim.value.id };
    await tidyUp(() => (created.isOk ? parent.confirm(held) : settleClaim(parent, held)));
    return created;
  });
}
