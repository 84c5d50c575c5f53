// Caller: who a request to the control plane comes from, made of the claims of a token whose signature is good. The subject has to be
// right; a name or an address that is not is left out, since nobody should be locked out for the sake of a display.
import { NAME_LENGTH_MAX, normalizedEmail } from '@svc/client';
import { HARMFUL_CHARACTERS } from '@svc/contract/harmful-character';
import { claimAt, type ClaimPath } from '@svc/tokens/claim-path';
import { hasRole, subjectOf, type Claims } from '@svc/tokens/claims';
import type { Subject } from '@svc/tokens/token-outcome';

export interface Caller extends Subject {
  /** Display name without control and format characters, at most 200 characters. */
  readonly name?: string;
  /** Address as the token has it; `normalizedEmail` of @svc/client makes it comparable. */
  readonly email?: string;
  /** Whether the provider has verified the address. False without an address. */
  readonly emailVerified: boolean;
  readonly platformAdmin: boolean;
}

/** The role at the provider whose holders administer the platform. */
const PLATFORM_ADMIN = 'platform-admin';

/** Returns undefined if the token has no valid subject. */
export function callerOf(claims: Claims, rolesPath: ClaimPath): Caller | undefined {
  const subject = subjectOf(claims);
  if (subject === undefined) return undefined;
  const name = displayName(claimAt(claims, ['name']));
  const email = addressOf(claimAt(claims, ['email']));
  return {
    subject,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    // Providers that say 'true' or 1 have not been asked to say whether an address is verified, or do not know.
    emailVerified: email !== undefined && claimAt(claims, ['email_verified']) === true,
    platformAdmin: hasRole(claims, rolesPath, PLATFORM_ADMIN),
  };
}

/** Removes control and format characters, joins blanks, and cuts after 200 characters. */
function displayName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  // Only as much as could remain is looked at.
  const clean = value
    .slice(0, NAME_LENGTH_MAX * 4)
    .normalize('NFC')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(HARMFUL_CHARACTERS, '')
    .trim();
  const cut = Array.from(clean).slice(0, NAME_LENGTH_MAX).join('').trim();
  return cut === '' ? undefined : cut;
}

function addressOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || normalizedEmail(value) === undefined) return undefined;
  return value.trim();
}
