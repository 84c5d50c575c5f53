// Identifies the caller, and decides whether the access rule of a route admits it. Both happen before a
// handler runs, and use the connection only: nothing in a request can identify its sender.
import { namesService } from '@svc/client';
import type { AccessRule } from '@svc/contract';

export type Caller =
  /** The caller is on the developer's own machine. */
  | { readonly kind: 'local' }
  | { readonly kind: 'internet' }
  | { readonly kind: 'service'; readonly project: string; readonly service: string };

export const LOCAL: Caller = { kind: 'local' };
export const INTERNET: Caller = { kind: 'internet' };

/**
 * Returns whether the rule admits the caller. Every rule admits a `local` caller, even `nobody`. `project`: the
 * service's own; undefined on a developer's machine.
 */
export function isAdmitted(rule: AccessRule, caller: Caller, project: string | undefined): boolean {
  if (caller.kind === 'local') return true;
  switch (rule.allow) {
    case 'internet':
      return true;
    case 'services':
      return caller.kind === 'service' && namesService(rule.services, caller, project);
    case 'local':
    case 'nobody':
      return false;
  }
}

/** Returns the caller's name, as a handler sees it. */
export function callerName(caller: Caller): string {
  return caller.kind === 'service' ? `service ${caller.project}/${caller.service}` : caller.kind;
}

/** Identifies callers on a developer's machine: this machine is `local`, every other one `internet`. */
export function callerOfAddress(remoteAddress: string | undefined): Caller {
  if (remoteAddress === undefined) return INTERNET;
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress;
  return address === '::1' || address.startsWith('127.') ? LOCAL : INTERNET;
}
