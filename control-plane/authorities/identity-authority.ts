// IdentityAuthority: what the renewal of identities asks of an authority, wherever its key comes from.
import type { X509Certificate } from 'node:crypto';
import type { IssuedPair } from './certificate-issuer.ts';

export interface IdentityAuthority {
  /** The authority's own certificate, in PEM. */
  readonly certificate: string;
  /** End of the authority's own certificate, in milliseconds since 1970. No certificate that it issues lasts longer. */
  readonly endsAtMs: number;

  /** Returns the certificates to trust, in PEM. */
  trusted(nowMs: number): string;

  /** Issues a certificate with a new key. Its text ends with the certificates between it and those to trust, if there are any. */
  issue(names: { readonly uri: string }, nowMs: number): Promise<IssuedPair>;

  /** Returns whether it is time for a certificate of this authority, because another one has issued the leaf. */
  isSuccessorOf(leaf: X509Certificate, nowMs: number): boolean;

  /**
   * Returns the earliest later time at which `trusted` or `isSuccessorOf` may answer differently although nobody changes the authority, in
   * milliseconds since 1970; Infinity: never.
   */
  changesAtMs(nowMs: number): number;
}
