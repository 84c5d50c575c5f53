// Who calls, and whether the access rule of a route admits the caller. Both are decided before a
// handler runs, and from the connection: nothing in a request can say who sent it.
import type { AccessRule } from '@svc/contract';

export type Caller =
  /** On the developer's own machine. */
  | { readonly kind: 'local' }
  | { readonly kind: 'internet' }
  | { readonly kind: 'service'; readonly project: string; readonly service: string };

export const LOCAL: Caller = { kind: 'local' };
export const INTERNET: Caller = { kind: 'internet' };

/** `project` is the service's own; a run on a developer's machine has none. */
export function isAdmitted(rule: AccessRule, caller: Caller, project: string | undefined): boolean {
  if (caller.kind === 'local') return true;
  switch (rule.allow) {
    case 'internet':
      return true;
    case 'services':
      return caller.kind === 'service' && isListed(rule.services, caller, project);
    case 'local':
    case 'nobody':
      return false;
  }
}

/** `<service>` is one of the own project, `<service>.<project>` one of another; no list: all of the own. */
function isListed(
  services: readonly string[] | undefined,
  caller: Caller & { readonly kind: 'service' },
  project: string | undefined,
): boolean {
  const isOwnProject = caller.project === project;
  if (services === undefined) return isOwnProject;
  return (
    (isOwnProject && services.includes(caller.service)) ||
    services.includes(`${caller.service}.${caller.project}`)
  );
}

/** The caller in the words that a handler sees. */
export function callerName(caller: Caller): string {
  return caller.kind === 'service' ? `service ${caller.project}/${caller.service}` : caller.kind;
}

/** For a run on a developer's machine: this machine is `local`, every other `internet`. */
export function callerOfAddress(remoteAddress: string | undefined): Caller {
  if (remoteAddress === undefined) return INTERNET;
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress;
  return address === '::1' || address.startsWith('127.') ? LOCAL : INTERNET;
}
