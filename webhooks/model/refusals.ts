// Refusals: the sentences with which the entities of the webhook service refuse, and which of them may end.
//
// Invariant: a refusal that may end says when it was decided (`atMs`), so that a request that is repeated with its idempotency
// key, and gets the stored refusal of the first time, tries again.
import { refuse, type Refused } from '@svc/host';

export const NO_SUCH_SUBSCRIPTION = 'there is no such subscription';

const CHANGED = 'CHANGED';

/** Refuses a command that was made for another state than the one that there is. Nothing was done, and a new one may succeed. */
export function refuseChanged(nowMs: number): Refused {
  return refuse(
    'other requests changed the same subscription at the same time, and nothing was done: send yours again',
    'OTHER',
    { otherCode: CHANGED, details: { atMs: nowMs } },
  );
}

/** Returns whether a request that is refused so has done nothing, and may succeed if it is sent again (503). */
export function maySucceedLater({ otherCode }: Pick<Refused, 'otherCode'>): boolean {
  return otherCode === CHANGED;
}

/** Returns whether a refusal that may end was decided before a time, in milliseconds since 1970: for an earlier request with the same key. */
export function isDecidedBefore({ details }: Pick<Refused, 'details'>, timeMs: number): boolean {
  const { atMs } = (details ?? {}) as { readonly atMs?: unknown };
  return typeof atMs === 'number' && atMs < timeMs;
}
