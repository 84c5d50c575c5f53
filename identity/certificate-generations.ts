// CertificateGenerations: the certificates in use, and those before them. A generation is one set of certificates; its number
// rises by one with each set that has other contents. Whoever listens is called when a generation begins.
//
// Invariant: certificates that cannot be used never replace those in use.
import {
  type Certificates,
  type CertificateTexts,
  parseCertificates,
  type UnusableCertificates,
} from './certificates.ts';

export interface CertificateGeneration {
  /** From 1. */
  readonly number: number;
  readonly certificates: Certificates;
  /** True: the leaf is another one than before. */
  readonly isLeafNew: boolean;
  /** Number of certificate authorities that this generation added and removed. */
  readonly authoritiesAdded: number;
  readonly authoritiesRemoved: number;
  /** Number of the latest generation that removed an authority; 0: none has. Connections of earlier ones have to close. */
  readonly authorityRemovedIn: number;
}

/** The certificates in use. */
export interface CertificateSource {
  readonly current: CertificateGeneration;
  /** Calls `listener` when a generation begins, until the returned function is called. */
  onGeneration(listener: (generation: CertificateGeneration) => void): () => void;
}

export class CertificateGenerations implements CertificateSource {
  #current: CertificateGeneration;
  readonly #ownId: string | undefined;
  readonly #listeners = new Set<(generation: CertificateGeneration) => void>();

  /** `ownId`: SPIFFE ID that every leaf has to name; absent: any. */
  constructor(first: Certificates, ownId?: string) {
    this.#ownId = ownId;
    this.#current = {
      number: 1,
      certificates: first,
      isLeafNew: true,
      authoritiesAdded: first.authorities.length,
      authoritiesRemoved: 0,
      authorityRemovedIn: 0,
    };
  }

  get current(): CertificateGeneration {
    return this.#current;
  }

  onGeneration(listener: (generation: CertificateGeneration) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Takes texts into use; returns why they cannot be used. Texts that are in use already change nothing. `nowMs`: time at
   * which the leaf has to be valid; undefined: its validity does not matter.
   */
  offer(texts: CertificateTexts, nowMs: number | undefined): UnusableCertificates | undefined {
    if (areEqual(texts, this.#current.certificates.texts)) return undefined;
    const certificates = parseCertificates(texts, nowMs, this.#ownId);
    if ('problem' in certificates) return certificates;
    this.#current = successor(this.#current, certificates);
    for (const listener of this.#listeners) listener(this.#current);
    return undefined;
  }
}

function successor(
  before: CertificateGeneration,
  certificates: Certificates,
): CertificateGeneration {
  const number = before.number + 1;
  const authoritiesAdded = missingIn(before.certificates, certificates);
  const authoritiesRemoved = missingIn(certificates, before.certificates);
  return {
    number,
    certificates,
    isLeafNew: certificates.leaf.fingerprint256 !== before.certificates.leaf.fingerprint256,
    authoritiesAdded,
    authoritiesRemoved,
    authorityRemovedIn: authoritiesRemoved > 0 ? number : before.authorityRemovedIn,
  };
}

/** Returns how many authorities of `some` are not among those of `others`. */
function missingIn(others: Certificates, some: Certificates): number {
  const known = new Set(others.authorities.map(({ fingerprint256 }) => fingerprint256));
  return some.authorities.filter(({ fingerprint256 }) => !known.has(fingerprint256)).length;
}

function areEqual(one: CertificateTexts, other: CertificateTexts): boolean {
  return (
    one.certificate === other.certificate &&
    one.key === other.key &&
    one.authorities === other.authorities
  );
}
