// FailingGrants: which exhausted deliveries of one subscription have had the others told. The time between two notices is judged by the times
// at which the deliveries were exhausted, so that a late or repeated question gets no notice for a time that had one.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';

/** Document 3, "Limits". */
export const FAILING_PAUSE_MS = 7_200_000;
/** Grants that are remembered, so that a question which is repeated gets the same answer. */
const GRANTS_KEPT_MAX = 8;

const Grant = Type.Object({ deliveryId: Type.String(), run: Type.Integer() });
type Grant = Readonly<ValueOf<typeof Grant>>;

export const FailingGrants = Type.Object({
  /** The time of the last one, from which the pause counts. */
  atMs: Type.Integer(),
  /** The latest ones, newest last. */
  granted: Type.Array(Grant),
});
type FailingGrants = ValueOf<typeof FailingGrants>;
type Grants = { readonly atMs: number; readonly granted: readonly Grant[] } | undefined;

export function isGranted(grants: Grants, { deliveryId, run }: Grant): boolean {
  return grants?.granted.some((one) => one.deliveryId === deliveryId && one.run === run) === true;
}

/**
 * Decides about a delivery that was exhausted at `atMs`. `postponed`: the last grant is later than now, so the clock was set back; the pause then
 * counts from now, since it would last as long as the clock is behind.
 */
export function grantedAt(
  grants: Grants,
  atMs: number,
  nowMs: number,
): 'granted' | 'refused' | 'postponed' {
  if (grants === undefined) return 'granted';
  if (grants.atMs > nowMs) return 'postponed';
  return atMs >= grants.atMs + FAILING_PAUSE_MS ? 'granted' : 'refused';
}

/** Adds a grant, or only its time if it names no delivery. */
export function withGrant(
  grants: Grants,
  { atMs, deliveryId, run }: { readonly atMs: number } & Partial<Grant>,
): FailingGrants {
  const before = grants?.granted ?? [];
  const granted =
    deliveryId === undefined || run === undefined ? before : [...before, { deliveryId, run }];
  return { atMs, granted: granted.slice(-GRANTS_KEPT_MAX) };
}
