// CallerIdentity: what entities store of the caller of a request: who decided something, and the person who becomes a member.
import { normalizedEmail } from '@svc/client';
import type { Actor } from '../model/actor.ts';
import type { Person } from '../model/organization-state.ts';
import type { Caller } from './token-caller.ts';

/** `administrative`: whether the role platform-admin is what allows the action. */
export function actorOf(caller: Caller, administrative = false): Actor {
  return { subject: caller.subject, display: displayOf(caller), administrative };
}

/** Only a verified address counts when invitations are compared with it, and only that is shown to others. */
export function personOf(caller: Caller): Person {
  const email = verifiedEmailOf(caller) ?? '';
  return {
    subject: caller.subject,
    email,
    emailKey: normalizedEmail(email) ?? '',
    display: displayOf(caller),
  };
}

/** Returns undefined for an address that the provider has not verified: it may be that of somebody else. */
export function verifiedEmailOf({ email, emailVerified }: Caller): string | undefined {
  return emailVerified ? email : undefined;
}

function displayOf(caller: Caller): string {
  return caller.name ?? verifiedEmailOf(caller) ?? caller.subject;
}
