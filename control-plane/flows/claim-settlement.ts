// ClaimSettlement: ends claims by asking the child (model/claims.ts): one that the child has is confirmed, another is released.
//
// Invariants: a claim is released only after its child has said that it does not have it, so a request that is repeated, also
// with another body, takes nothing away from the child that the first one created. A claim that its own flow may still use
// is neither confirmed nor released for another one. A conflict is answered only if the child that causes it exists.
import { setTimeout } from 'node:timers/promises';
import type { Refused, Result } from '@svc/host';
import { hostname } from '../model/hostname.ts';
import { organization } from '../model/organization.ts';
import type { HeldClaim } from '../model/claims.ts';
import { project } from '../model/project.ts';
import type { TransientCode } from '../model/refusals.ts';
import { service } from '../model/service.ts';
import { decidedSince, type Call } from './call.ts';

type NamedClaim = Pick<HeldClaim, 'name' | 'claim'>;

/** An entity that has claims, and the entities that use them. */
export interface ClaimParent {
  claims(): Promise<Result<HeldClaim[]>>;
  /** Asks the child. */
  isUsed(claim: NamedClaim): Promise<Result<boolean>>;
  confirm(claim: NamedClaim): Promise<Result<null>>;
  release(claim: NamedClaim): Promise<Result<null>>;
}

/** The ids of the projects of an organization. */
export function projectsOf(call: Call, organizationId: string): ClaimParent {
  const parent = call(organization, organizationId);
  return {
    claims: () => parent.projectClaims(),
    isUsed: ({ name, claim }) => call(project, name).hasClaim({ claim }),
    confirm: ({ name, claim }) => parent.confirmProject({ project: name, claim }),
    release: ({ name, claim }) => parent.releaseProject({ project: name, claim }),
  };
}

/** The names of the services of a project. */
export function servicesOf(call: Call, projectId: string): ClaimParent {
  const parent = call(project, projectId);
  return {
    claims: () => parent.serviceClaims(),
    isUsed: ({ name, claim }) => call(service, `${projectId}/${name}`).hasClaim({ claim }),
    confirm: ({ name, claim }) => parent.confirmService({ service: name, claim }),
    release: ({ name, claim }) => parent.releaseService({ service: name, claim }),
  };
}

/** A hostname, whose claims have the id of the service as their name. */
export function holderOf(call: Call, host: string): ClaimParent {
  const parent = call(hostname, host);
  return {
    claims: () => parent.claims(),
    isUsed: ({ name, claim }) => call(service, name).holds({ hostname: host, claim }),
    confirm: ({ claim }) => parent.confirm({ claim }),
    release: ({ claim }) => parent.release({ claim }),
  };
}

/** Confirms or releases a claim that its flow does not use any more. */
export async function settleClaim(parent: ClaimParent, claim: NamedClaim): Promise<Result<null>> {
  const used = await parent.isUsed(claim);
  if (!used.isOk) return used;
  return used.value ? parent.confirm(claim) : parent.release(claim);
}

const ATTEMPTS_MAX = 4;

/** Judges the caller of a request again, and returns the refusal of one who may not make it any more. */
export type Reauthorization = () => Promise<Refused | undefined>;

/** For a flow without a caller. */
const AUTHORIZED: Reauthorization = () => Promise.resolve(undefined);

/**
 * Sends a command again whose refusal may be due to claims that come to nothing. Refused with CONFLICT if a child exists, and
 * with UNSETTLED if one may be about to be created. How often the command is sent follows from its replies alone.
 *
 * `reauthorization`: asked after each wait, in which the caller may have been removed.
 */
export async function decided<Value>(
  parent: ClaimParent,
  command: () => Promise<Result<Value>>,
  reauthorization = AUTHORIZED,
): Promise<Result<Value>> {
  const sinceMs = Date.now();
  for (let attempt = 1; ; attempt++) {
    const result = await decidedSince(sinceMs, command);
    if (result.isOk || attempt === ATTEMPTS_MAX) return result;
    if (result.otherCode !== UNSETTLED && (result.code !== 'CONFLICT' || attempt > 1))
      return result;
    await settleOthers(parent);
    const refused = await reauthorization();
    if (refused !== undefined) return refused;
  }
}

const UNSETTLED: TransientCode = 'UNSETTLED';

const PAUSE_MS = 20;
/** 0.5 s in all. A flow takes milliseconds, unless it was cut off: then its claims last until they are settled. */
const PAUSES_MAX = 25;

/** Releases claims that are not used any more, and waits for those that are not used yet, until one is used. */
async function settleOthers(parent: ClaimParent): Promise<void> {
  for (let pauses = 0; pauses < PAUSES_MAX; pauses++) {
    const claims = await parent.claims();
    if (!claims.isOk) return;
    let isPending = false;
    for (const claim of claims.value) {
      const used = await parent.isUsed(claim);
      if (used.isOk && used.value) {
        if (!claim.isConfirmed) await parent.confirm(claim);
        return;
      }
      if (claim.isConfirmed) await parent.release(claim);
      else isPending = true;
    }
    if (!isPending) return;
    await setTimeout(PAUSE_MS);
  }
}
