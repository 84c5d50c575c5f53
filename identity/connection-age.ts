// ConnectionAge: which connections have to close after their current response, so that their peer is verified again: those
// that began before a certificate authority was removed, and those that have reached their age. Pure: time and random
// numbers are arguments.
import type { CertificateGeneration } from './certificate-generations.ts';

export interface ConnectionAgeLimits {
  /** Age in milliseconds at which a connection closes. */
  readonly ageMs: number;
  /** Part of the age by which a connection's own limit differs at most, so that connections made together do not close together. */
  readonly spread: number;
}

export const CONNECTION_AGE: ConnectionAgeLimits = { ageMs: 30 * 60_000, spread: 0.1 };

/** Values that a connection keeps from its beginning. */
export interface ConnectionTerm {
  /** Generation of certificates by which its handshake was made. */
  readonly generation: number;
  readonly closesAtMs: number;
}

/** `generation`: number of the generation of its handshake. `random` is in [0, 1). */
export function connectionTerm(
  generation: number,
  nowMs: number,
  random: number,
  { ageMs, spread }: ConnectionAgeLimits = CONNECTION_AGE,
): ConnectionTerm {
  const ownAgeMs = Math.round(ageMs * (1 - spread + 2 * spread * random));
  return { generation, closesAtMs: nowMs + ownAgeMs };
}

/**
 * Returns whether the connections that this side has opened are not to be used again when a generation begins: they show a
 * former certificate, or their peer was verified by an authority that is no longer trusted.
 */
export function endsOwnConnections({
  isLeafNew,
  authoritiesRemoved,
}: Pick<CertificateGeneration, 'isLeafNew' | 'authoritiesRemoved'>): boolean {
  return isLeafNew || authoritiesRemoved > 0;
}

/** Returns whether a connection has to close after its current response. `current`: the generation in use now. */
export function hasToClose(
  { generation, closesAtMs }: ConnectionTerm,
  { authorityRemovedIn }: Pick<CertificateGeneration, 'authorityRemovedIn'>,
  nowMs: number,
): boolean {
  return nowMs >= closesAtMs || generation < authorityRemovedIn;
}
