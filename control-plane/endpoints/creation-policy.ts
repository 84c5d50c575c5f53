// CreationPolicy: who may create organizations in this installation (contract, document 1, "Authentication" 6).
import { refuse, type Refused } from '@svc/host';
import type { Caller } from '../access/token-caller.ts';

/** Values of `SVC_ORGANIZATION_CREATION`: every caller, callers with a verified address, platform administrators. */
export const CREATION_POLICIES = ['anyone', 'verified-email', 'platform-admin'] as const;

export interface CreationPolicy {
  readonly creation: (typeof CREATION_POLICIES)[number];
  /** Address of a page on how to get an organization; undefined: there is none. */
  readonly signupUrl?: string | undefined;
}

/** Returns the refusal of a caller who may not create organizations. Administrators always may. */
export function creationRefusal(
  { creation, signupUrl }: CreationPolicy,
  { platformAdmin, emailVerified }: Caller,
): Refused | undefined {
  if (creation === 'anyone' || platformAdmin) return undefined;
  if (creation === 'verified-email')
    return emailVerified
      ? undefined
      : refuse(
          'organizations are created by callers whose e-mail address the identity provider has verified: verify yours there, and get a new token',
          'FORBIDDEN',
        );
  const pointer = signupUrl === undefined ? '' : `: see ${signupUrl}`;
  return refuse(`organizations are created by the platform administrator${pointer}`, 'FORBIDDEN');
}
