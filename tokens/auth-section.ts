// AuthSection: the settings svc.auth.* that are numbers and lists, with their defaults and ranges, from which
// docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface AuthSection {
  /** Algorithms with which a token may be signed: of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519. */
  readonly algorithms: readonly string[];
  /** Difference that clocks may have when expiry times are judged, in milliseconds. */
  readonly clockToleranceMs: number;
  /** Age at which the keys of the identity provider are read again, in milliseconds; a removed key is refused from then on. */
  readonly keysRefreshMs: number;
  /** Time after the last successful read for which known keys remain good while they cannot be read again, in milliseconds. */
  readonly staleKeysMs: number;
  /** Time for one read of discovery document and keys, in milliseconds; then the identity provider counts as down. */
  readonly readTimeoutMs: number;
  /** Verified tokens that are cached for up to a minute, so that their signatures are not verified again; 0: none. */
  readonly cachedTokensMax: number;
}

export const AUTH_DEFAULTS: { readonly [Key in keyof AuthSection]: AuthSection[Key] } = {
  algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'],
  clockToleranceMs: 5000,
  keysRefreshMs: 600_000,
  staleKeysMs: 3_600_000,
  readTimeoutMs: 2000,
  cachedTokensMax: 10_000,
};

export const AUTH_RANGES: { readonly [Key in keyof AuthSection]: Range } = {
  algorithms: [1, 11],
  clockToleranceMs: [0, 300_000],
  keysRefreshMs: [1000, 86_400_000],
  staleKeysMs: [0, 604_800_000],
  readTimeoutMs: [100, 30_000],
  cachedTokensMax: [0, 1_000_000],
};
