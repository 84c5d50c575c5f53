// Pointers: what may refer to something, kept apart from what decides. A person points to the organizations that may have
// them as a member, an address to those that may have invited it. The organization decides, and a pointer is set before its
// decision, so pointers are never too few; those that turn out to be wrong are removed.
//
// Invariant: a pointer is removed only as it was when the organization was asked. Whoever sets it again in the meantime gives
// it another version, which stays.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';

/** Versions by the id that is pointed to. */
export const Pointers = Type.Record(Type.String(), Type.Integer());
export type Pointers = ValueOf<typeof Pointers>;

/** Maximum number of pointers of one person or address. */
export const POINTERS_MAX = 1_000;

export const Pointer = Type.Object({ to: Type.String(), version: Type.Integer() });
export type Pointer = ValueOf<typeof Pointer>;

export function pointerList(pointers: Readonly<Pointers>): Pointer[] {
  return Object.keys(pointers)
    .sort()
    .map((to) => ({ to, version: pointers[to]! }));
}

export function isFull(pointers: Readonly<Pointers>, to: string): boolean {
  return pointers[to] === undefined && Object.keys(pointers).length >= POINTERS_MAX;
}
