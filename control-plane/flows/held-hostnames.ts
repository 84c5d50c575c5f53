// HeldHostnames: claiming, confirming and releasing the hostnames of a service.
import { Ok, type Result } from '@svc/host';
import { hostname } from '../model/hostname.ts';
import { heldHostname, type ClaimedHostname, type HeldHostname } from '../model/service-state.ts';
import { tidyUp, type Call } from './call.ts';
import { decided, holderOf, settleClaim } from './claim-settlement.ts';

/** Claims all hostnames for the service, or none: what it claimed before a refusal is released. */
export async function claimHostnames(
  call: Call,
  service: string,
  hostnames: readonly string[],
): Promise<Result<ClaimedHostname[]>> {
  const claimed: ClaimedHostname[] = [];
  // In one order for all services: of two that claim the same hostnames at the same time, one gets them all.
  for (const name of hostnames.toSorted()) {
    const claim = await decided(holderOf(call, name), () =>
      call(hostname, name).claim({ service }),
    );
    if (!claim.isOk) {
      await tidyUp(() => settleHostnames(call, service, claimed.map(heldHostname)));
      return claim;
    }
    claimed.push({ hostname: name, claim: claim.value });
  }
  return new Ok(claimed);
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
