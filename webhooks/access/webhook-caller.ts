// Caller: who a request to the webhook service comes from, made of the claims of a token whose signature is good. Whoever is an
// administrator is one of all its tenants, because roles of a token have no tenant.
import { isTenantId } from '@svc/client';
import { claimAt, type ClaimPath } from '@svc/tokens/claim-path';
import { hasRole, subjectOf, type Claims } from '@svc/tokens/claims';
import type { Subject } from '@svc/tokens/token-outcome';

export interface Caller extends Subject {
  /** Ids of the tenants of which the caller is a member. */
  readonly tenants: ReadonlySet<string>;
  /** Whether the caller administers these tenants. */
  readonly isTenantAdmin: boolean;
  /** Whether the caller is the platform, which reports datasets and removes tenants. */
  readonly isPlatform: boolean;
}

/** Where a token says what its caller is, and the names of the roles. */
export interface CallerClaims {
  readonly tenantsPath: ClaimPath;
  readonly rolesPath: ClaimPath;
  readonly adminRole: string;
  readonly platformRole: string;
}

/** Further tenants of a token do not count. */
export const TENANTS_MAX = 1_000;

/** Returns undefined if the token has no valid subject. */
export function callerOf(
  claims: Claims,
  { tenantsPath, rolesPath, adminRole, platformRole }: CallerClaims,
): Caller | undefined {
  const subject = subjectOf(claims);
  if (subject === undefined) return undefined;
  return {
    subject,
    tenants: tenantsOf(claimAt(claims, tenantsPath)),
    isTenantAdmin: hasRole(claims, rolesPath, adminRole),
    isPlatform: hasRole(claims, rolesPath, platformRole),
  };
}

/** The claim is a text or a list of texts. What is no id of a tenant is left out. */
function tenantsOf(value: unknown): ReadonlySet<string> {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
  return new Set(listed.slice(0, TENANTS_MAX).filter(isTenant));
}

function isTenant(value: unknown): value is string {
  return typeof value === 'string' && isTenantId(value);
}
