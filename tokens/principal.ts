// Principal: who the caller of a request is by a token that was found good, as programs and modules see it. Texts of a
// token that no program can rely on are left out: they are as untrusted as the provider's users, who choose some of them.
import { claimAt, type ClaimPath } from './claim-path.ts';
import { type Claims, subjectOf } from './claims.ts';
import type { Subject } from './token-outcome.ts';

export interface Principal extends Subject {
  /** The claim `iss`: a subject is unique for its issuer. */
  readonly issuer: string;
  /** The claim `name`; undefined: there is none that can be shown. */
  readonly name: string | undefined;
  /** The claim `email`, if the provider has verified that it is the caller's. */
  readonly email: string | undefined;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** All claims. */
  readonly claims: Claims;
  /** Expiry time of the token, in milliseconds since 1970. */
  readonly expiresMs: number;
}

/** The claims that say what a caller may do. */
export interface GrantPaths {
  /** A list of texts. */
  readonly rolesPath: ClaimPath;
  /** A list of texts, or a text with blanks between the scopes (RFC 9068 §2.2.3). */
  readonly scopesPath: ClaimPath;
}

const MS_PER_SECOND = 1_000;
const TEXT_LENGTH_MAX = 255;

/** Returns the principal; undefined if the claims have no subject that is valid. */
export function principalOf(
  claims: Claims,
  { rolesPath, scopesPath }: GrantPaths,
): Principal | undefined {
  const subject = subjectOf(claims);
  const issuer = claimAt(claims, ['iss']);
  const expiry = claimAt(claims, ['exp']);
  if (subject === undefined || typeof issuer !== 'string' || typeof expiry !== 'number')
    return undefined;
  const isVerified = claimAt(claims, ['email_verified']) === true;
  return {
    subject,
    issuer,
    name: shownText(claimAt(claims, ['name'])),
    email: isVerified ? shownText(claimAt(claims, ['email'])) : undefined,
    roles: textsOf(claimAt(claims, rolesPath)),
    scopes: textsOf(claimAt(claims, scopesPath)),
    claims,
    expiresMs: expiry * MS_PER_SECOND,
  };
}

function textsOf(value: unknown): readonly string[] {
  const entries: readonly unknown[] =
    typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  return [...new Set(entries.map(shownText).filter((text) => text !== undefined))];
}

/** Returns the text unless it is empty, too long, not Unicode, or has control characters. */
function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > TEXT_LENGTH_MAX) return undefined;
  return /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value) ? undefined : value;
}
