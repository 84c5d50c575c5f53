// Provisioning: what a token does by itself, once the caller is known and the rate of its requests is judged: a verified address
// claims its invitations, and the name and the address of the person are kept.
//
// Invariants: invitations are claimed before anybody looks at memberships. A profile that is stored already is compared again once
// the token is verified again, which is after a minute. What it stores does not depend on the
// idempotency key of the request: a repeated request finds other invitations, and would shift the keys of its handler's calls.
// A request that needs nothing of what cannot be stored is answered.
import type { KnownCaller } from '@svc/api/caller-routes';
import type { EndpointContext, Service } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import type { Call } from '../flows/call.ts';
import { claimInvitations } from '../flows/change-members.ts';
import { person } from '../model/person.ts';
import { personOf, verifiedEmailOf } from './caller-identity.ts';
import { ClaimProgress } from './claim-progress.ts';
import type { Caller } from './token-caller.ts';

/** A request whose token is good, after it has done what it does by itself. */
export interface Authenticated extends KnownCaller<Caller> {
  /** Why the caller's invitations could not be claimed, so that it may be a member of more organizations than are known. */
  readonly claimFault?: Error;
}

export interface ProvisioningParts {
  /** The service of the entities, whose own calls have no idempotency keys. */
  readonly running: Promise<Service>;
  readonly clock: Clock;
  /** Called with what could not be stored, as in "The invitations of a caller were not claimed". */
  report(what: string, error: unknown): void;
}

export class Provisioning {
  readonly #parts: ProvisioningParts;
  readonly #progress: ClaimProgress;
  /** Callers whose profile is stored. A token that is verified again has another object. */
  readonly #stored = new WeakSet<Caller>();

  constructor(parts: ProvisioningParts) {
    this.#parts = parts;
    this.#progress = new ClaimProgress(parts.clock);
  }

  /** Claims the invitations of the caller, and keeps its name and its address. */
  async provision(
    { caller }: KnownCaller<Caller>,
    { metadata }: Pick<EndpointContext, 'metadata'>,
  ): Promise<Authenticated> {
    const service = await this.#parts.running;
    const traceparent = metadata('traceparent');
    const call: Call = (entity, id) =>
      service.call(entity, id, traceparent === undefined ? {} : { traceparent });
    const claimFault = await this.#attempt('The invitations of a caller were not claimed', () =>
      this.#claim(call, caller),
    );
    if (!this.#stored.has(caller))
      await this.#attempt('The profile of a caller was not stored', () => this.#see(call, caller));
    return { caller, ...(claimFault !== undefined && { claimFault }) };
  }

  async #claim(call: Call, caller: Caller): Promise<void> {
    const claimant = personOf(caller);
    if (claimant.emailKey === '') return;
    const who = JSON.stringify([claimant.subject, claimant.emailKey]);
    const after = this.#progress.of(who);
    if (after === Infinity) return;
    const nowMs = this.#parts.clock.nowMs();
    this.#progress.set(who, await claimInvitations(call, claimant, after, nowMs));
  }

  /** A token without a name or a verified address, such as one of fewer scopes, leaves what is known. */
  async #see(call: Call, caller: Caller): Promise<void> {
    const known = call(person, caller.subject);
    const profile = await known.profile();
    if (!profile.isOk) return;
    const { name = profile.value.name } = caller;
    const email = verifiedEmailOf(caller) ?? profile.value.email;
    if (name === profile.value.name && email === profile.value.email) this.#stored.add(caller);
    else await known.see({ name, email });
  }

  async #attempt(what: string, action: () => Promise<void>): Promise<Error | undefined> {
    try {
      await action();
      return undefined;
    } catch (error) {
      this.#parts.report(what, error);
      return error instanceof Error ? error : new Error(what, { cause: error });
    }
  }
}
