// Refusals: the sentences with which entities refuse, where several entities or requests share one. A refusal of an entity
// that does not exist says nothing else: who is not a member of its organization gets the same one (contract, document 1,
// "Authentication" 5).
//
// Invariant: a refusal that may end says when it was decided (`atMs`), so that a request that is repeated with its idempotency
// key, and gets the stored refusal of the first time, tries again (flows/call.ts).
import { refuse, type Refused } from '@svc/host';
import type { Pointer } from './pointers.ts';

export const NO_SUCH_ORGANIZATION = 'there is no such organization, or you are not a member of it';
export const NO_SUCH_PROJECT =
  'there is no such project, or you are not a member of its organization';
export const NO_SUCH_SERVICE =
  'there is no such service, or you are not a member of the organization of its project';

export const ORGANIZATION_ID_USED =
  'this organization id was used before, and an id is never used again: choose another';
export const PROJECT_ID_USED =
  'this project id was used before, and an id is never used again: choose another';

/**
 * Codes of refusals with which nothing was done, and after which the same command may succeed. `CLAIM_OVER`: a claim came too late
 * (claims.ts). `UNSETTLED`: whether there is a conflict depends on claims that are not confirmed. `NEEDS_CLAIM` and
 * `NEEDS_POINTER`: the command changes something only with claims, or with a pointer (pointers.ts). A flow sends the command
 * without them first, so that a request that is refused in any case stores none. `ADDRESS_FULL`: a pointer has to leave first.
 */
const TRANSIENT_CODES = [
  'CLAIM_OVER',
  'UNSETTLED',
  'NEEDS_CLAIM',
  'NEEDS_POINTER',
  'ADDRESS_FULL',
] as const;
export type TransientCode = (typeof TRANSIENT_CODES)[number];

const CLAIM_OVER = 'the request took too long, and nothing was done: send it again';
const NEEDS_MORE =
  'something that the request depends on has changed meanwhile, and nothing was done: send it again';
export const PROJECT_UNSETTLED =
  'a request is creating a project in the organization, and nothing was done: send yours again';
export const SERVICE_UNSETTLED =
  'a request is creating a service in the project, and nothing was done: send yours again';
export const HOSTNAME_UNSETTLED =
  'another service is about to get this hostname, and nothing was done: send the request again';
/** Says nothing about who has invited the address. */
const ADDRESS_FULL =
  'many requests invite this address at the same time, and nothing was done: send yours again';
const TOO_MANY_CLAIMS = 'many requests create this at the same time: send yours again later';

/** Refuses a command that came with a claim or a pointer whose time is over. */
export function refuseOver(nowMs: number): Refused {
  return refuseTransient(CLAIM_OVER, 'CLAIM_OVER', nowMs);
}

export function refuseUnsettled(message: string, nowMs: number): Refused {
  return refuseTransient(message, 'UNSETTLED', nowMs);
}

/** Refuses a command without a pointer. */
export function refuseWithoutPointer(nowMs: number): Refused {
  return refuseTransient(NEEDS_MORE, 'NEEDS_POINTER', nowMs);
}

/** Refuses another pointer of an address that is full. `leaving`: the pointer that may leave for it. */
export function refuseFull(leaving: Pointer, nowMs: number): Refused {
  return refuseTransient(ADDRESS_FULL, 'ADDRESS_FULL', nowMs, { leaving });
}

/** Returns the pointer that may leave for another one; undefined: the command was refused for another reason. */
export function leavingFor({
  otherCode,
  details,
}: Pick<Refused, 'otherCode' | 'details'>): Pointer | undefined {
  return otherCode === ('ADDRESS_FULL' satisfies TransientCode)
    ? (details as { readonly leaving: Pointer }).leaving
    : undefined;
}

/** The claims that a command needs. */
export interface NeededClaims {
  /** Whether it needs one of the name or the id. */
  readonly isNew: boolean;
  readonly hostnames: readonly string[];
}

/** Refuses a command without claims. */
export function refuseWithoutClaims(
  nowMs: number,
  needed: NeededClaims = { isNew: true, hostnames: [] },
): Refused {
  return refuseTransient(NEEDS_MORE, 'NEEDS_CLAIM', nowMs, needed);
}

/** Too many requests create the same thing at the same time. */
export function refuseTooManyClaims(nowMs: number): Refused {
  return refuse(TOO_MANY_CLAIMS, 'TOO_MANY_REQUESTS', { details: { atMs: nowMs } });
}

function refuseTransient(
  message: string,
  otherCode: TransientCode,
  nowMs: number,
  more: object = {},
): Refused {
  return refuse(message, 'OTHER', { otherCode, details: { ...more, atMs: nowMs } });
}

export function needsPointer({ otherCode }: Pick<Refused, 'otherCode'>): boolean {
  return otherCode === ('NEEDS_POINTER' satisfies TransientCode);
}

/** Returns the claims that a command needs that is refused so; undefined: it is refused for another reason. */
export function neededClaims({
  otherCode,
  details,
}: Pick<Refused, 'otherCode' | 'details'>): NeededClaims | undefined {
  return otherCode === ('NEEDS_CLAIM' satisfies TransientCode)
    ? (details as NeededClaims)
    : undefined;
}

/** Returns whether a request that is refused so has done nothing, and may succeed if it is sent again (503). */
export function maySucceedLater({ otherCode }: Pick<Refused, 'otherCode'>): boolean {
  return (TRANSIENT_CODES as readonly unknown[]).includes(otherCode);
}

/**
 * Returns whether a refusal that may end was decided before a time, in milliseconds since 1970: an earlier request with the same
 * idempotency key got it, and the command has not been decided anew.
 */
export function isDecidedBefore({ details }: Pick<Refused, 'details'>, timeMs: number): boolean {
  const { atMs } = (details ?? {}) as { readonly atMs?: unknown };
  return typeof atMs === 'number' && atMs < timeMs;
}

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
