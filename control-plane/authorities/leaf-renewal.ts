// LeafRenewal: how long certificates last, and when one is due to be replaced.
import type { X509Certificate } from 'node:crypto';
import type { Validity } from './certificate-issuer.ts';

const DAY_MS = 86_400_000;
/** A certificate is valid from before it is made, so that a clock that is set back by up to a day refuses nobody. */
const LEAF_BACKDATED_MS = DAY_MS;
const AUTHORITY_BACKDATED_MS = 7 * DAY_MS;
const AUTHORITY_LIFETIME_MS = 3650 * DAY_MS;
/** An authority that ends sooner is not used any more: no certificate lasts longer than the authority that issued it. */
export const AUTHORITY_LEFT_MS_MIN = 30 * DAY_MS;
/** Time before that in which the operator is warned. */
export const AUTHORITY_WARNED_MS = 365 * DAY_MS;

export type Dates = Pick<X509Certificate, 'validFromDate' | 'validToDate'>;

export function authorityValidity(nowMs: number): Validity {
  return { fromMs: nowMs - AUTHORITY_BACKDATED_MS, toMs: nowMs + AUTHORITY_LIFETIME_MS };
}

export function leafValidity(nowMs: number, lifetimeMs: number, authority: Dates): Validity {
  const toMs = Math.min(nowMs + lifetimeMs, authority.validToDate.getTime());
  return { fromMs: nowMs - LEAF_BACKDATED_MS, toMs };
}

/**
 * Returns whether a certificate has to be replaced: half of its lifetime has passed, or it was made by a clock that was ahead of this
 * one.
 */
export function isLeafDue(
  { validFromDate, validToDate }: Dates,
  lifetimeMs: number,
  nowMs: number,
): boolean {
  const leftMs = validToDate.getTime() - nowMs;
  return nowMs < validFromDate.getTime() || leftMs <= lifetimeMs / 2 || leftMs > lifetimeMs;
}
