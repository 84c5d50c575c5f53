// Refusals: the sentences with which entities refuse, where several entities or requests share one. A refusal of an entity
// that does not exist says nothing else: who is not a member of its organization gets the same one (contract, document 1,
// "Authentication" 5).

export const NO_SUCH_ORGANIZATION = 'there is no such organization, or you are not a member of it';
export const NO_SUCH_PROJECT =
  'there is no such project, or you are not a member of its organization';
export const NO_SUCH_SERVICE =
  'there is no such service, or you are not a member of the organization of its project';

export const ORGANIZATION_ID_USED =
  'this organization id was used before, and an id is never used again: choose another';
export const PROJECT_ID_USED =
  'this project id was used before, and an id is never used again: choose another';

/** A claim came too late: see claims.ts. Nothing was done. */
export const OVER = { otherCode: 'CLAIM_OVER' };
export const CLAIM_OVER = 'the request took too long, and nothing was done: send it again';
/** Whether there is a conflict depends on claims that are not confirmed: see claims.ts. Nothing was done. */
export const UNSETTLED = { otherCode: 'UNSETTLED' };
export const PROJECT_UNSETTLED =
  'a request is creating a project in the organization, and nothing was done: send yours again';
export const SERVICE_UNSETTLED =
  'a request is creating a service in the project, and nothing was done: send yours again';
export const HOSTNAME_UNSETTLED =
  'another service is about to get this hostname, and nothing was done: send the request again';

/** Returns whether a request that is refused so has done nothing, and may succeed if it is sent again (503). */
export function maySucceedLater({
  otherCode,
}: {
  readonly otherCode?: string | undefined;
}): boolean {
  return otherCode === OVER.otherCode || otherCode === UNSETTLED.otherCode;
}

/** Too many requests create the same thing at the same time. */
export const TOO_MANY_CLAIMS = 'many requests create this at the same time: send yours again later';

export const NO_SUCH_MEMBER = 'the organization has no such member';
export const NO_SUCH_INVITATION = 'the organization has no such invitation';
export const LAST_OWNER =
  'this is the last owner of the organization: make another member an owner first';

/** Names the hostname, as an apply may want several, and not its service, which may be of another organization. */
export function hostnameTaken(hostname: string): string {
  return `another service has the hostname ${hostname}`;
}
export const SERVES_NO_HTTP =
  'the service serves no HTTP, so it has no hostname: apply it without "http": false first';
