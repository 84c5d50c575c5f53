// Claims: who holds a place in a parent: a project its id in an organization, a service its name in a project, and a service a
// hostname. Two entities cannot be changed at once, so a place is claimed in the parent first, then the child is created
// with the claim, then the claim is confirmed. A claim that nobody confirms is settled by asking the child.
//
// Invariants: a place is free if and only if it has no claim. A child is created only with a claim that was made for it and
// whose time is not up, and the parent settles a claim only after that time. So a claim that the child does not have when
// it is settled will never be used.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';

/** How long a claim may be used to create the child. Longer than any request takes. */
export const CLAIM_MS = 20_000;
/** When a claim that nobody confirmed is settled, counted from its making. */
export const SETTLE_AFTER_MS = 30_000;
/** Maximum number of unconfirmed claims of one place. They end by themselves. */
const PENDING_MAX = 32;

/** A claim as the child gets it. */
export const Claim = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  /** The time, in milliseconds since 1970, from which on it creates nothing. */
  untilMs: Type.Integer(),
});
export type Claim = ValueOf<typeof Claim>;

/** Claims of one place by their ids, and whether each is confirmed. */
export const Claims = Type.Record(Type.String(), Type.Boolean());
export type Claims = ValueOf<typeof Claims>;

/** Claims by the name of the place. */
export const Places = Type.Record(Type.String(), Claims);
export type Places = ValueOf<typeof Places>;

/** Returns a record without a prototype: names come from callers, and `__proto__` is one of them. */
export function emptyRecord<Value = never>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

/** Makes the claim of a command from what is recorded for its call. */
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

/** Returns whether a place has so many unconfirmed claims that it takes no other. */
export function hasPendingMax(claims: Readonly<Claims> | undefined): boolean {
  if (claims === undefined) return false;
  let pending = 0;
  for (const isConfirmed of Object.values(claims)) if (!isConfirmed) pending++;
  return pending >= PENDING_MAX;
}

export function isPending(
  places: Readonly<Record<string, Readonly<Claims>>>,
  place: string,
  claim: string,
): boolean {
  return places[place]?.[claim] === false;
}

export function hasClaim(
  places: Readonly<Record<string, Readonly<Claims>>>,
  place: string,
  claim: string,
): boolean {
  return places[place]?.[claim] !== undefined;
}

/** Adds a claim to a place, or confirms it. */
export function setClaim(places: Places, place: string, claim: string, isConfirmed: boolean): void {
  (places[place] ??= emptyRecord())[claim] = isConfirmed;
}

/** Removes a claim, and the place with its last one. */
export function removeClaim(places: Places, place: string, claim: string): void {
  const claims = places[place];
  if (claims === undefined) return;
  delete claims[claim];
  if (Object.keys(claims).length === 0) delete places[place];
}

/** Returns how many places have a confirmed claim: how many children there are. */
export function confirmedCount(places: Readonly<Record<string, Readonly<Claims>>>): number {
  let count = 0;
  for (const place of Object.keys(places))
    if (Object.values(places[place]!).includes(true)) count++;
  return count;
}

/** Name of the timer that settles a claim. A project's id and a service's name have no `/`. */
export function settleTimer(place: string, claim: string): string {
  return `settle/${place}/${claim}`;
}
