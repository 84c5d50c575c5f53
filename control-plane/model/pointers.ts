// Pointers: which organizations may concern a person or an address, kept apart from the decision itself. A person points to
// the organizations that may have them as a member, an address to those that may have invited it. The organization decides.
//
// Invariants: a pointer is set before the organization decides, and the organization decides only while the pointer cannot be
// removed. A pointer that was set again is removed only by a caller that has read it since. So pointers are never too few, and
// those that turn out to be wrong can be removed.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';
import { CLAIM_MS, SETTLE_AFTER_MS } from './claims.ts';

/** Versions by the id that is pointed to: when the pointer was set, in milliseconds since 1970, rising strictly. */
export const Pointers = Type.Record(Type.String(), Type.Integer());
export type Pointers = ValueOf<typeof Pointers>;

/** Maximum number of pointers of one address. */
export const POINTERS_MAX = 1_000;

export const Pointer = Type.Object({ to: Type.String(), version: Type.Integer() });
export type Pointer = ValueOf<typeof Pointer>;

/** The time, in milliseconds since 1970, from which on an organization decides nothing because of a pointer. */
export const PointedUntil = Type.Object({ untilMs: Type.Integer() });
export type PointedUntil = ValueOf<typeof PointedUntil>;

export function pointerList(pointers: Readonly<Pointers>): Pointer[] {
  return Object.keys(pointers)
    .toSorted()
    .map((to) => ({ to, version: pointers[to]! }));
}

/** Returns the pointers that were set after a version, those that were set first coming first. */
export function pointersAfter(
  pointers: Readonly<Pointers>,
  { after, max }: { readonly after: number; readonly max: number },
): Pointer[] {
  return Object.keys(pointers)
    .map((to) => ({ to, version: pointers[to]! }))
    .filter(({ version }) => version > after)
    .toSorted((a, b) => a.version - b.version)
    .slice(0, max);
}

export function isFull(pointers: Readonly<Pointers>, to: string): boolean {
  return pointers[to] === undefined && Object.keys(pointers).length >= POINTERS_MAX;
}

/** Returns the version of a pointer that is set now. `last`: the version of the one that was set last. */
export function nextVersion(last: number, nowMs: number): number {
  return Math.max(nowMs, last + 1);
}

/** Returns until when a pointer lets an organization decide. */
export function pointedUntil(version: number): PointedUntil {
  return { untilMs: version + CLAIM_MS };
}

/** Returns whether the pointer is still as it was read, and no organization can decide because of it any more. */
export function isRemovable(
  pointers: Readonly<Pointers>,
  { to, version }: Pointer,
  nowMs: number,
): boolean {
  return pointers[to] === version && nowMs >= version + SETTLE_AFTER_MS;
}
