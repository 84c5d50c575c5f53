// Entrance: the first check of every route but one: who the caller is. It also does what a token does by itself: a verified
// address claims its invitations, and the name and the address of the person are kept.
//
// Invariants: invitations are claimed before anybody looks at memberships. What the entrance stores does not depend on the
// idempotency key of the request: a repeated request finds other invitations, and would shift the keys of its handler's calls.
import { KEYS_RETRY_AFTER_S } from '@svc/client';
import { respondError, type CheckRequest, type EndpointContext, type Service } from '@svc/host';
import type { Call } from '../flows/call.ts';
import { claimInvitations } from '../flows/change-members.ts';
import { person } from '../model/person.ts';
import { challengeOf } from '../tokens/authorization-header.ts';
import type { Caller, TokenOutcome } from '../tokens/caller.ts';
import { personOf } from './caller-identity.ts';

/** Judges the tokens of requests, as TokenJudge does. */
export interface Judge {
  /** `authorization`: the value of each header of this name. Never rejects. */
  judge(authorization: readonly string[]): Promise<TokenOutcome>;
}

/** A request whose token is good. */
export interface Known {
  readonly caller: Caller;
}

export class Entrance {
  readonly #judge: Judge;
  readonly #running: Promise<Service>;

  /** `running`: the service of the entities, whose own calls have no idempotency keys. */
  constructor(judge: Judge, running: Promise<Service>) {
    this.#judge = judge;
    this.#running = running;
  }

  /** Returns who the caller is, or the answer 401 or 503. */
  async admit(
    { headers }: Pick<CheckRequest, 'headers'>,
    { metadata }: Pick<EndpointContext, 'metadata'>,
  ) {
    const values = headers.filter(([name]) => name === 'authorization').map(([, value]) => value);
    const outcome = await this.#judge.judge(values);
    switch (outcome.kind) {
      case 'known': {
        const { caller } = outcome;
        const service = await this.#running;
        const traceparent = metadata('traceparent');
        await welcome(
          (entity, id) =>
            service.call(entity, id, traceparent === undefined ? {} : { traceparent }),
          caller,
        );
        return { caller } satisfies Known;
      }
      case 'unavailable':
        return respondError(
          503,
          'the keys of the identity provider cannot be read, so no token can be judged: send the request again later',
          { headers: { 'retry-after': String(KEYS_RETRY_AFTER_S) } },
        );
      case 'missing':
        return respondError(
          401,
          'the request has no access token: send one as Authorization: Bearer TOKEN; GET /auth says how to get one',
          { headers: { 'www-authenticate': challengeOf(outcome) } },
        );
      case 'refused':
        return respondError(401, outcome.reason, {
          headers: { 'www-authenticate': challengeOf(outcome) },
        });
    }
  }
}

async function welcome(call: Call, caller: Caller): Promise<void> {
  const claimant = personOf(caller);
  if (claimant.emailKey !== '') await claimInvitations(call, claimant);
  await see(call, caller);
}

/** A token without a name or an address, such as one of fewer scopes, leaves what is known. */
async function see(call: Call, { subject, name, email }: Caller): Promise<void> {
  const known = call(person, subject);
  const profile = await known.profile();
  if (!profile.isOk) return;
  const seen = { name: name ?? profile.value.name, email: email ?? profile.value.email };
  if (seen.name !== profile.value.name || seen.email !== profile.value.email) await known.see(seen);
}
