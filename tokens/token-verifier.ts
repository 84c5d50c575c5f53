// TokenVerifier: verifies the access token of a request (RFC 9068, RFC 8725) against the keys that the identity provider publishes.
//
// Invariants
// T1  A caller is known only by a signature of a key that the provider publishes, or published when it could last be read.
// T2  A token is refused for its own fault, and answered as unavailable for a fault of the provider.
// T3  No outcome and no line of the log contains a part of a token.
import { type CryptoKey, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { LogEntry } from '@svc/kit/log-entry';
import { SYSTEM_CLOCK, type Clock } from '@svc/kit/clock';
import { bearerToken } from './authorization-header.ts';
import type { Claims } from './claims.ts';
import { TokenCache } from './token-cache.ts';
import type { KeyHint } from './key-set.ts';
import type { Fetch } from './provider-document.ts';
import { ProviderKeys } from './provider-keys.ts';
import { refusedFor, type TokenFault } from './token-fault.ts';
import type { Subject, TokenOutcome } from './token-outcome.ts';
import type { TokenSettings } from './token-settings.ts';

/** The issuer whose tokens are good, and their audience. */
export interface VerifierSettings extends Pick<TokenSettings, 'issuer' | 'section'> {
  /** The `aud` that a token must have; of several, one. */
  readonly audience: string | readonly string[];
}

export interface TokenVerifierOptions<Caller extends Subject> {
  readonly settings: VerifierSettings;
  /** Makes a caller of the claims of a token whose signature is good. Undefined: its subject is not valid. */
  readonly callerOf: (claims: Claims) => Caller | undefined;
  readonly log: (entry: LogEntry) => void;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
}

/** A token whose signature is good. */
export interface VerifiedToken<Caller extends Subject> {
  readonly caller: Caller;
  /** The members of the header that name the key, and the key that was found by them. The caller is known only while it is found. */
  readonly hint: KeyHint;
  readonly key: CryptoKey;
  /** Expiry time in milliseconds since 1970. */
  readonly expiresMs: number;
}

/** Seconds after which a caller may try again while keys cannot be read. */
const RETRY_AFTER_S = 5;
/** Types of access tokens: of RFC 9068, and of the providers that say JWT of all their tokens. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
/** The fault for each claim that jose refuses. */
const CLAIM_FAULTS: ReadonlyMap<string, TokenFault> = new Map([
  ['iss', 'issuer'],
  ['aud', 'audience'],
  ['nbf', 'not-yet-valid'],
  ['exp', 'no-expiry'],
  ['sub', 'subject'],
]);

export class TokenVerifier<Caller extends Subject> {
  readonly #settings: VerifierSettings;
  readonly #clock: Clock;
  readonly #keys: ProviderKeys;
  readonly #callerOf: TokenVerifierOptions<Caller>['callerOf'];
  readonly #cache: TokenCache<VerifiedToken<Caller>>;

  constructor({
    settings,
    callerOf,
    log,
    fetch,
    clock = SYSTEM_CLOCK,
  }: TokenVerifierOptions<Caller>) {
    this.#settings = settings;
    this.#callerOf = callerOf;
    this.#clock = clock;
    const { issuer, section } = settings;
    this.#keys = new ProviderKeys({
      issuer,
      ...section,
      fetch: fetch ?? globalThis.fetch,
      clock,
      log,
    });
    this.#cache = new TokenCache(clock, section.cachedTokensMax);
  }

  /** `authorization`: the value of each `Authorization` header of the request. Never rejects. */
  async verify(authorization: readonly string[]): Promise<TokenOutcome<Caller>> {
    const found = bearerToken(authorization);
    if (found.kind === 'missing') return found;
    if (found.kind === 'faulty') return refusedFor(found.fault);
    return (await this.#cached(found.token)) ?? (await this.#verifyToken(found.token));
  }

  /** How current the keys of the provider are. */
  get keys(): Pick<ProviderKeys, 'isReadable' | 'keysAgeMs'> {
    return this.#keys;
  }

  close(): void {
    this.#keys.close();
  }

  /** The cached outcome counts only while the key is found that it was found with. */
  async #cached(token: string): Promise<TokenOutcome<Caller> | undefined> {
    const cached = this.#cache.find(token);
    if (cached === undefined) return undefined;
    const found = await this.#keys.find(cached.hint);
    if (found.kind === 'unavailable') return unavailable();
    if (found.kind === 'key' && found.key === cached.key)
      return { kind: 'known', caller: cached.caller };
    this.#cache.delete(token);
    return undefined;
  }

  async #verifyToken(token: string): Promise<TokenOutcome<Caller>> {
    const hint = this.#hintOf(token);
    if ('fault' in hint) return refusedFor(hint.fault);
    const found = await this.#keys.find(hint);
    switch (found.kind) {
      case 'unavailable':
        return unavailable();
      case 'none':
        return refusedFor('unknown-key');
      case 'faulty':
        return refusedFor(found.fault);
      case 'key':
        return await this.#verifySignature(token, hint, found.key);
    }
  }

  /** Reads the header, and refuses what needs no key to be refused: it costs no read of keys. */
  #hintOf(token: string): KeyHint | { readonly fault: TokenFault } {
    if (token.split('.').length === 5) return { fault: 'encrypted' };
    const parts = unverifiedParts(token);
    if (parts === undefined) return { fault: 'malformed' };
    const { alg, kid, typ, crit } = parts.header;
    if (crit !== undefined) return { fault: 'critical-header' };
    if (typeof alg !== 'string' || !this.#settings.section.algorithms.includes(alg))
      return { fault: 'algorithm' };
    if (typ !== undefined && !(typeof typ === 'string' && TYPES.has(typ.toLowerCase())))
      return { fault: 'wrong-type' };
    if (parts.claims.iss !== this.#settings.issuer) return { fault: 'issuer' };
    if (kid === undefined) return { alg };
    return typeof kid === 'string' ? { alg, kid } : { fault: 'malformed' };
  }

  async #verifySignature(
    token: string,
    hint: KeyHint,
    key: CryptoKey,
  ): Promise<TokenOutcome<Caller>> {
    const { issuer, audience, section } = this.#settings;
    try {
      const { payload } = await jwtVerify(token, key, {
        issuer,
        audience: typeof audience === 'string' ? audience : [...audience],
        algorithms: [hint.alg],
        clockTolerance: section.clockToleranceMs / 1000,
        currentDate: new Date(this.#clock.nowMs()),
        requiredClaims: ['exp', 'sub'],
      });
      if (!Number.isFinite(payload.exp)) return refusedFor('no-expiry');
      const caller = this.#callerOf(payload);
      if (caller === undefined) return refusedFor('subject');
      this.#cache.set(token, { caller, hint, key, expiresMs: payload.exp! * 1000 });
      return { kind: 'known', caller };
    } catch (error) {
      return refusedFor(faultOf(error));
    }
  }
}

/** Header and claims before the signature is verified; undefined if they cannot be read. */
function unverifiedParts(token: string) {
  try {
    return {
      header: decodeProtectedHeader(token) as Readonly<Record<string, unknown>>,
      claims: decodeJwt(token),
    };
  } catch {
    return undefined;
  }
}

function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWTClaimValidationFailed)
    return CLAIM_FAULTS.get(error.claim) ?? 'malformed';
  // jose throws a TypeError for a key that does not fit its algorithm: RSA of less than 2,048 bits.
  return error instanceof errors.JOSEError ? 'malformed' : 'unusable-key';
}

function unavailable() {
  return { kind: 'unavailable', retryAfterS: RETRY_AFTER_S } as const;
}
