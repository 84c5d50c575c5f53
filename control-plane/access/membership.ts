// Membership: what a caller is in an organization, as the organization says at this moment. Nothing is cached: a removal is
// effective from the next request on.
//
// Invariant: for what does not exist the same entities are asked as for what belongs to others, so that answers to strangers
// do not differ in what they cost.
import { isOrganizationId, isProjectId } from '@svc/client';
import type { Subject } from '@svc/tokens/token-outcome';
import type { Call } from '../flows/call.ts';
import { organization } from '../model/organization.ts';
import type { Role } from '../model/organization-state.ts';
import { project } from '../model/project.ts';

export interface Membership {
  readonly organizationId: string;
  /** Undefined: the caller is no member. */
  readonly role: Role | undefined;
  readonly isDisabled: boolean;
}

/** The id of an entity that no organization and no project can have, and that is asked where there is none. */
const NOBODYS = '-';

/** Returns undefined if there is no such organization. The caller may be no member. */
export async function membershipIn(
  call: Call,
  organizationId: string,
  { subject }: Subject,
): Promise<Membership | undefined> {
  const id = isOrganizationId(organizationId) ? organizationId : NOBODYS;
  const access = await call(organization, id).access({ subject });
  if (!access.isOk) return undefined;
  const { role, isDisabled } = access.value;
  return { organizationId: id, role, isDisabled };
}

/** The same for the organization of a project. */
export async function membershipInOrganizationOf(
  call: Call,
  projectId: string,
  caller: Subject,
): Promise<Membership | undefined> {
  const id = isProjectId(projectId) ? projectId : NOBODYS;
  const parent = await call(project, id).organization();
  return await membershipIn(call, parent.isOk ? parent.value : NOBODYS, caller);
}
