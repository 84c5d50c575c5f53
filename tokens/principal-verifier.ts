// PrincipalVerifier: finds who sent a request by its token, where several issuers count. Each issuer has keys of its own, so that a
// provider that is down is no fault of the others, and none can make tokens of another.
import type { Clock } from '@svc/kit/clock';
import type { LogEntry } from '@svc/kit/log-entry';
import { decodeJwt } from 'jose';
import type { AuthSection } from './auth-section.ts';
import { bearerToken } from './authorization-header.ts';
import type { AcceptedIssuer } from './accepted-issuers.ts';
import { type Principal, principalOf } from './principal.ts';
import type { Fetch } from './provider-document.ts';
import type { TokenOutcome } from './token-outcome.ts';
import { TokenVerifier } from './token-verifier.ts';

export interface PrincipalVerifierOptions {
  /** At least one. */
  readonly issuers: readonly AcceptedIssuer[];
  readonly section: AuthSection;
  readonly log: (entry: LogEntry) => void;
  /** Returns what reads the keys of an issuer; undefined: it is asked at its URL. */
  readonly fetchOf?: ((issuer: string) => Fetch | undefined) | undefined;
  readonly clock?: Clock | undefined;
}

export class PrincipalVerifier {
  readonly #byIssuer: ReadonlyMap<string, TokenVerifier<Principal>>;
  /** Judges tokens that name no known issuer, all of which it refuses. */
  readonly #first: TokenVerifier<Principal>;

  constructor({ issuers, section, log, fetchOf, clock }: PrincipalVerifierOptions) {
    this.#byIssuer = new Map(
      issuers.map((accepted) => {
        const { issuer, audiences: audience } = accepted;
        const fetch = fetchOf?.(issuer);
        const verifier = new TokenVerifier({
          settings: { issuer, audience, section },
          callerOf: (claims) => principalOf(claims, accepted),
          log: (entry) => log({ ...entry, fields: { ...entry.fields, issuer } }),
          ...(fetch === undefined ? {} : { fetch }),
          ...(clock === undefined ? {} : { clock }),
        });
        return [issuer, verifier];
      }),
    );
    this.#first = this.#byIssuer.get(issuers[0]!.issuer)!;
  }

  /** `authorization`: the value of each `Authorization` header of the request. Never rejects. */
  verify(authorization: readonly string[]): Promise<TokenOutcome<Principal>> {
    const found = bearerToken(authorization);
    const issuer = found.kind === 'token' ? issuerOf(found.token) : undefined;
    const verifier = issuer === undefined ? undefined : this.#byIssuer.get(issuer);
    return (verifier ?? this.#first).verify(authorization);
  }

  close(): void {
    for (const verifier of this.#byIssuer.values()) verifier.close();
  }
}

/** Returns what the token says of its issuer, which nothing has verified; undefined: it cannot be read. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}
