// Claims: what every program reads of the claims of a token whose signature is good: its subject, and the roles of the caller.
import { SUBJECT_LENGTH_MAX } from '@svc/client';
import { claimAt, type ClaimPath } from './claim-path.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Returns undefined if the claim `sub` is no text of 1 to 255 characters without control characters. */
export function subjectOf(claims: Claims): string | undefined {
  const subject = claimAt(claims, ['sub']);
  return isSubject(subject) ? subject : undefined;
}

/** Returns whether the list at the path has the role. */
export function hasRole(claims: Claims, path: ClaimPath, role: string): boolean {
  const roles = claimAt(claims, path);
  return Array.isArray(roles) && roles.includes(role);
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
