// Claims: which child has a name in its parent: a project its id in an organization, a service its name in a project, and a
// service a hostname. Two entities cannot be changed at once, so a name is claimed in the parent first, then the child is
// created with the claim, then the claim is confirmed. A claim that nobody confirms is settled by asking the child.
//
// Invariants: a name is free if and only if it has no claim. A child is created only with a claim that was made for it and
// whose time is not up, and the parent settles a claim only after that time. So a claim that the child does not have when
// it is settled will never be used.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';

/** How long a claim may be used to create the child. A request that takes longer makes a new claim (flows/call.ts). */
export const CLAIM_MS = 20_000;
/** When a claim that nobody confirmed is settled, counted from its making. */
export const SETTLE_AFTER_MS = 30_000;
/** Maximum number of unconfirmed claims of one name. They end by themselves. */
export const PENDING_CLAIMS_MAX = 64;

/** A claim as the child gets it. */
export const Claim = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  /** The time, in milliseconds since 1970, from which on it creates nothing. */
  untilMs: Type.Integer(),
});
export type Claim = ValueOf<typeof Claim>;

/** A claim that a parent has, of a name. */
export const HeldClaim = Type.Object({
  name: Type.String(),
  claim: Type.String(),
  isConfirmed: Type.Boolean(),
});
export type HeldClaim = ValueOf<typeof HeldClaim>;

/** Claims of one name by their ids, and whether each is confirmed. */
export const Claims = Type.Record(Type.String(), Type.Boolean());
export type Claims = ValueOf<typeof Claims>;

export const ClaimsByName = Type.Record(Type.String(), Claims);
export type ClaimsByName = ValueOf<typeof ClaimsByName>;

type ReadonlyClaimsByName = Readonly<Record<string, Readonly<Claims>>>;

/** Returns a record without a prototype: names come from callers, and `__proto__` is one of them. */
export function emptyRecord<Value = never>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

/** Makes the claim of a command from the seed and the time that are recorded for its call. */
export function newClaim({
  seed,
  nowMs,
}: {
  readonly seed: bigint;
  readonly nowMs: number;
}): Claim {
  return { id: seed.toString(36), untilMs: nowMs + CLAIM_MS };
}

/** Returns whether the claim can no longer create its child. */
export function isOver(claim: Claim, nowMs: number): boolean {
  return nowMs >= claim.untilMs;
}

/** Returns whether a name has so many unconfirmed claims that it takes no other. */
export function hasPendingMax(claims: Readonly<Claims> | undefined): boolean {
  if (claims === undefined) return false;
  let pending = 0;
  for (const isConfirmed of Object.values(claims)) if (!isConfirmed) pending++;
  return pending >= PENDING_CLAIMS_MAX;
}

export function isPending(names: ReadonlyClaimsByName, name: string, claim: string): boolean {
  return names[name]?.[claim] === false;
}

export function hasClaim(names: ReadonlyClaimsByName, name: string, claim: string): boolean {
  return names[name]?.[claim] !== undefined;
}

/** Adds a claim of a name, or confirms it. */
export function setClaim(
  names: ClaimsByName,
  name: string,
  claim: string,
  isConfirmed: boolean,
): void {
  (names[name] ??= emptyRecord())[claim] = isConfirmed;
}

/** Removes a claim, and the name with its last one. */
export function removeClaim(names: ClaimsByName, name: string, claim: string): void {
  const claims = names[name];
  if (claims === undefined) return;
  delete claims[claim];
  if (Object.keys(claims).length === 0) delete names[name];
}

/** Returns how many names have a confirmed claim: how many children there are. */
export function confirmedCount(names: ReadonlyClaimsByName): number {
  let count = 0;
  for (const name of Object.keys(names)) if (isAnyConfirmed(names[name]!)) count++;
  return count;
}

/** Returns whether a claim of any name is confirmed. Those that are not may come to nothing. */
export function hasConfirmed(names: ReadonlyClaimsByName): boolean {
  for (const name of Object.keys(names)) if (isAnyConfirmed(names[name]!)) return true;
  return false;
}

export function isAnyConfirmed(claims: Readonly<Claims>): boolean {
  return Object.values(claims).includes(true);
}

/** Returns all claims, those that are confirmed first. */
export function heldClaims(names: ReadonlyClaimsByName): HeldClaim[] {
  const held: HeldClaim[] = [];
  for (const name of Object.keys(names))
    for (const [claim, confirmed] of Object.entries(names[name]!))
      held.push({ name, claim, isConfirmed: confirmed });
  return held.toSorted((a, b) => Number(b.isConfirmed) - Number(a.isConfirmed));
}

/** Name of the timer that settles a claim. A project's id and a service's name have no `/`. */
export function settleTimer(name: string, claim: string): string {
  return `settle/${name}/${claim}`;
}
