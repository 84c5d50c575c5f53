// IdentityRenewal decides whether a program has the identity that it should have, and issues another one if it has not. It stores nothing: the
// identity is wherever the program reads it, and is given with each call.
//
// Invariants
// I1  An identity that is good is returned as it is, so that nothing is written needlessly.
// I2  No private key is remembered.
import { createHash, type X509Certificate } from 'node:crypto';
import { type CertificateTexts, parseCertificates } from '@svc/identity/certificates';
import type { IdentityAuthority } from './identity-authority.ts';
import { isLeafDue } from './leaf-renewal.ts';

export interface IdentityRenewalOptions {
  readonly authority: IdentityAuthority;
  /** Lifetime of an identity, in milliseconds. */
  readonly lifetimeMs: number;
  readonly clock: { nowMs(): number };
}

export interface RenewedIdentity {
  readonly texts: CertificateTexts;
  /** Whether the texts differ from those that the program has. */
  readonly isChanged: boolean;
  /** The time at which this identity may not be the right one any more, in milliseconds since 1970. */
  readonly renewAtMs: number;
}

/** Leafs that are remembered. */
const LEAFS_MAX = 1000;

export class IdentityRenewal {
  readonly #options: IdentityRenewalOptions;
  /** Leafs of identities that were parsed before, by a digest of the identity, so that a check of many unchanged ones costs little. */
  readonly #leafs = new Map<string, X509Certificate>();

  constructor(options: IdentityRenewalOptions) {
    this.#options = options;
  }

  /** Issues an identity. `id`: SPIFFE ID of the program. */
  async issue(id: string): Promise<CertificateTexts> {
    const { authority, clock } = this.#options;
    const nowMs = clock.nowMs();
    const pair = await authority.issue({ uri: id }, nowMs);
    return { ...pair, authorities: authority.trusted(nowMs) };
  }

  /**
   * Returns the identity that a program should have. `present`: the identity that it has; undefined: it has none. If only the trusted authorities
   * have changed, it keeps its certificate: another authority is trusted by all before its certificates are shown to anybody.
   */
  async renewed(present: CertificateTexts | undefined, id: string): Promise<RenewedIdentity> {
    const { authority, clock } = this.#options;
    const nowMs = clock.nowMs();
    const authorities = authority.trusted(nowMs);
    const leaf = present && this.#leafOf(present, id);
    if (leaf !== undefined && this.#isGood(leaf, nowMs)) {
      const texts = { ...present!, authorities };
      const isChanged = present!.authorities !== authorities;
      return { texts, isChanged, renewAtMs: this.#renewAtMs(leaf, nowMs) };
    }
    const texts = await this.issue(id);
    const issued = this.#leafOf(texts, id);
    if (issued === undefined) throw new Error(`the authority has issued no identity of ${id}`);
    return { texts, isChanged: true, renewAtMs: this.#renewAtMs(issued, nowMs) };
  }

  #isGood(leaf: X509Certificate, nowMs: number): boolean {
    const { authority, lifetimeMs } = this.#options;
    if (authority.isSuccessorOf(leaf, nowMs)) return false;
    return !isLeafDue(leaf, lifetimeMs, nowMs) || (this.#isLast(leaf) && isBegun(leaf, nowMs));
  }

  /** A leaf that ends with its authority is not replaced by one that would end no later. */
  #isLast({ validToDate }: X509Certificate): boolean {
    return validToDate.getTime() >= this.#options.authority.endsAtMs;
  }

  #renewAtMs(leaf: X509Certificate, nowMs: number): number {
    const { authority, lifetimeMs } = this.#options;
    const endMs = leaf.validToDate.getTime();
    const dueMs = this.#isLast(leaf) ? endMs : endMs - lifetimeMs / 2;
    return Math.min(dueMs, authority.changesAtMs(nowMs));
  }

  /** Returns the leaf of an identity, whenever it is valid; undefined if the texts are not one of this id. */
  #leafOf(texts: CertificateTexts, id: string): X509Certificate | undefined {
    const digest = digestOf(texts, id);
    const known = this.#leafs.get(digest);
    if (known !== undefined) return known;
    const parsed = parseCertificates(texts, undefined, id);
    if ('problem' in parsed) return undefined;
    this.#leafs.set(digest, parsed.leaf);
    if (this.#leafs.size > LEAFS_MAX) this.#leafs.delete(this.#leafs.keys().next().value!);
    return parsed.leaf;
  }
}

function isBegun({ validFromDate }: X509Certificate, nowMs: number): boolean {
  return nowMs >= validFromDate.getTime();
}

function digestOf({ certificate, key, authorities }: CertificateTexts, id: string): string {
  const text = JSON.stringify([id, certificate, key, authorities]);
  return createHash('sha256').update(text).digest('base64');
}
