// CallerIdentity: what entities store of the caller of a request: who decided something, and the person who becomes a member.
import { normalizedEmail } from '@svc/client';
import type { Actor } from '../model/actor.ts';
import type { Person } from '../model/organization-state.ts';
import type { Caller } from '../tokens/caller.ts';

/** `administrative`: whether the role platform-admin is what allows the action. */
export function actorOf(caller: Caller, administrative = false): Actor {
  return { subject: caller.subject, display: displayOf(caller), administrative };
}

/** Only a verified address counts when invitations are compared with it. */
export function personOf(caller: Caller): Person {
  const { subject, email = '', emailVerified } = caller;
  return {
    subject,
    email,
    emailKey: (emailVerified ? normalizedEmail(email) : undefined) ?? '',
    display: displayOf(caller),
  };
}

function displayOf({ name, email, subject }: Caller): string {
  return name ?? email ?? subject;
}
