// LeavingPointer: which pointer leaves an address that is full, for another one. Those of the inviter with the most pointers leave
// first, so that many invitations of a few inviters keep nobody from inviting the address: each of POINTERS_MAX inviters can keep one.
import type { ReadonlyDeep } from '@svc/host';
import type { Pointer, Pointers } from './pointers.ts';

/** Requests at the same time seldom choose the same one of so many. */
const CHOICE = 16;

interface Another {
  /** The inviter of the pointer that is going to be set. */
  readonly inviter: string;
  /** The random number that is recorded for the command. */
  readonly seed: bigint;
}

/**
 * Returns one of the pointers that were set first by the inviters with the most pointers, the one that is going to be set included.
 * `inviters`: subjects indexed by the id that is pointed to.
 */
export function leavingPointer(
  organizations: ReadonlyDeep<Pointers>,
  inviters: Readonly<Record<string, string>>,
  { inviter, seed }: Another,
): Pointer {
  const counts = new Map([[inviter, 1]]);
  const pointers = Object.keys(organizations).map((to) => ({ to, version: organizations[to]! }));
  for (const { to } of pointers) counts.set(inviters[to]!, (counts.get(inviters[to]!) ?? 0) + 1);
  // Of an inviter who has none yet nothing can leave.
  const most = Math.max(...pointers.map(({ to }) => counts.get(inviters[to]!)!));
  const first = pointers
    .filter(({ to }) => counts.get(inviters[to]!) === most)
    .toSorted((a, b) => a.version - b.version)
    .slice(0, CHOICE);
  return first[Number(seed % BigInt(first.length))]!;
}
