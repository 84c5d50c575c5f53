// CreateProject: creates a project in an organization.
import type { Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import type { Call } from './call.ts';

/** Refused with CONFLICT if the id was ever used. */
export async function createProject(
  call: Call,
  id: string,
  { organizationId, name }: { readonly organizationId: string; readonly name: string },
  by: Actor,
): Promise<Result<null>> {
  const parent = call(organization, organizationId);
  const claim = await parent.claimProject({ project: id });
  if (!claim.isOk) return claim;
  const created = await call(project, id).create({
    organization: organizationId,
    name,
    claim: claim.value,
    by,
  });
  const held = { project: id, claim: claim.value.id };
  await (created.isOk ? parent.confirmProject(held) : parent.releaseProject(held));
  return created;
}
