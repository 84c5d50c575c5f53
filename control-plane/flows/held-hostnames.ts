// HeldHostnames: claiming, confirming and releasing the hostnames of a service.
import { Ok, type Result } from '@svc/host';
import { hostname } from '../model/hostname.ts';
import { heldHostname, type ClaimedHostname, type HeldHostname } from '../model/service-state.ts';
import { tidyUp, type Call } from './call.ts';
import { decided, holderOf, settleClaim, type Reauthorization } from './claim-settlement.ts';

/**
 * Claims all hostnames for the service, or none: what it claimed before a refusal is released. One that another service has is claimed
 * first, so that a request that is refused because of it stores no claims of the others.
 */
export async function claimHostnames(
  call: Call,
  service: string,
  hostnames: readonly string[],
  reauthorization?: Reauthorization,
): Promise<Result<ClaimedHostname[]>> {
  const claimed: ClaimedHostname[] = [];
  for (const name of await takenFirst(call, service, hostnames)) {
    const claim = await decided(
      holderOf(call, name),
      () => call(hostname, name).claim({ service }),
      reauthorization,
    );
    if (!claim.isOk) {
      await tidyUp(() => settleHostnames(call, service, claimed.map(heldHostname)));
      return claim;
    }
    claimed.push({ hostname: name, claim: claim.value });
  }
  return new Ok(claimed);
}

/** Those that are free come in one order for all services: of two that claim the same ones at the same time, one gets them all. */
async function takenFirst(
  call: Call,
  service: string,
  hostnames: readonly string[],
): Promise<readonly string[]> {
  if (hostnames.length <= 1) return hostnames;
  const taken: string[] = [];
  const free: string[] = [];
  for (const name of hostnames.toSorted()) {
    const holder = await call(hostname, name).holder();
    const isFree = !holder.isOk || holder.value === '' || holder.value === service;
    (isFree ? free : taken).push(name);
  }
  return [...taken, ...free];
}

export async function confirmHostnames(call: Call, held: readonly HeldHostname[]): Promise<void> {
  for (const { hostname: name, claim } of held) await call(hostname, name).confirm({ claim });
}

/** Releases hostnames that the service has held, and holds no longer. */
export async function releaseHostnames(call: Call, held: readonly HeldHostname[]): Promise<void> {
  for (const { hostname: name, claim } of held) await call(hostname, name).release({ claim });
}

/** Releases the hostnames that the service does not hold, after a refusal. */
export async function settleHostnames(
  call: Call,
  service: string,
  held: readonly HeldHostname[],
): Promise<void> {
  for (const { hostname: name, claim } of held)
    await settleClaim(holderOf(call, name), { name: service, claim });
}
