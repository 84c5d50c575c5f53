// Identifies the caller, and decides whether the access rule of a route admits it. Both happen before a
// handler runs, and use the connection only: nothing in a request can identify its sender.
import { namesService } from '@svc/client';
import type { AccessRule } from '@svc/contract';
import type { Caller as CertificateCaller } from '@svc/identity/caller';
import type { Peer } from '@svc/identity/server-tls';

export type Caller =
  | CertificateCaller
  /** The internet, under the mount of a web-hosted service of the own project. */
  | { readonly kind: 'gateway' };

/** A connection whose requests are all refused with 403. */
export interface RefusedPeer {
  readonly kind: 'refused';
  /** Text of the answer. */
  readonly reason: string;
}

/** Protocol of ALPN by which a web-hosted service passes on a request under one of its mounts. */
export const MOUNT_PROTOCOL = 'svc-mount/1';

export const LOCAL: Caller = { kind: 'local' };
export const INTERNET: Caller = { kind: 'internet' };
export const GATEWAY: Caller = { kind: 'gateway' };
const FOREIGN_MOUNT: RefusedPeer = {
  kind: 'refused',
  reason: 'A mount passes requests on to services of its own project only.',
};

/**
 * Returns whether the rule admits the caller. Every rule admits a `local` caller, even `nobody`. `project`: the
 * service's own; undefined on a developer's machine.
 */
export function isAdmitted(rule: AccessRule, caller: Caller, project: string | undefined): boolean {
  if (caller.kind === 'local') return true;
  switch (rule.allow) {
    // The gateway passes on the internet's requests.
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
  switch (caller.kind) {
    case 'service':
      return `service ${caller.project}/${caller.service}`;
    case 'gateway':
      return 'Gateway';
    case 'local':
    case 'internet':
      return caller.kind;
  }
}

/** Identifies the caller of a connection with mutual TLS. `project`: the service's own. */
export function callerOfPeer(
  { caller, reason, protocol }: Pick<Peer, 'caller' | 'reason' | 'protocol'>,
  project: string,
): Caller | RefusedPeer {
  if (caller === undefined)
    return { kind: 'refused', reason: `The caller certificate is unrecognised. ${reason}` };
  if (protocol !== MOUNT_PROTOCOL) return caller;
  return caller.kind === 'service' && caller.project === project ? GATEWAY : FOREIGN_MOUNT;
}

/** Identifies callers on a developer's machine: this machine is `local`, every other one `internet`. */
export function callerOfAddress(remoteAddress: string | undefined): Caller {
  if (remoteAddress === undefined) return INTERNET;
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress;
  return address === '::1' || address.startsWith('127.') ? LOCAL : INTERNET;
}
