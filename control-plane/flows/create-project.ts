// CreateProject: creates a project in an organization.
import type { Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import { inTime, tidyUp, type Call } from './call.ts';
import { projectsOf, settleClaim } from './claim-settlement.ts';

/** Refused with CONFLICT if the id was ever used. */
export function createProject(
  call: Call,
  id: string,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
  by: Actor,
): Promise<Result<null>> {
  return inTime(async () => {
    const claim = await call(organization, organizationId).claimProject({ project: id });
    if (!claim.isOk) return claim;
    const created = await call(project, id).create({
      organization: organizationId,
      name,
      claim: claim.value,
      by,
    });
    const parent = projectsOf(call, organizationId);
    const held = { name: id, claim: claim.value.id };
    await tidyUp(() => (created.isOk ? parent.confirm(held) : settleClaim(parent, held)));
    return created;
  });
}
