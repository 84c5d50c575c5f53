// Claims: makes a caller of the claims of a token whose signature is good. The subject has to be right; a name or an address
// that is not is left out, since nobody should be locked out for the sake of a display.
import { NAME_LENGTH_MAX, normalizedEmail, SUBJECT_LENGTH_MAX } from '@svc/client';
import { HARMFUL_CHARACTERS } from '@svc/contract/harmful-character';
import type { Caller } from './caller.ts';
import { claimAt, type ClaimPath } from './claim-path.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The role at the provider whose holders administer the platform. */
const PLATFORM_ADMIN = 'platform-admin';

/** Returns undefined if the claim `sub` is no text of 1 to 255 characters without control characters. */
export function callerOf(claims: Claims, rolesPath: ClaimPath): Caller | undefined {
  const subject = own(claims, 'sub');
  if (!isSubject(subject)) return undefined;
  const name = displayName(own(claims, 'name'));
  const email = addressOf(own(claims, 'email'));
  return {
    subject,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    // Providers that say 'true' or 1 have not been asked to say whether an address is verified, or do not know.
    emailVerified: email !== undefined && own(claims, 'email_verified') === true,
    platformAdmin: hasRole(claimAt(claims, rolesPath)),
  };
}

function own(claims: Claims, name: string): unknown {
  return claimAt(claims, [name]);
}

/** A lone surrogate would be stored as U+FFFD, and two subjects could become one. */
function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    Array.from(value).length <= SUBJECT_LENGTH_MAX &&
    !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)
  );
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

function hasRole(roles: unknown): boolean {
  return Array.isArray(roles) && roles.includes(PLATFORM_ADMIN);
}
