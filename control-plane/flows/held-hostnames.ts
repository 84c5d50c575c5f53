// HeldHostnames: claiming, confirming and releasing the hostnames of a service.
import { Ok, type Result } from '@svc/host';
import { hostname } from '../model/hostname.ts';
import { heldHostname, type ClaimedHostname, type HeldHostname } from '../model/service-state.ts';
import type { Call } from './call.ts';

/** Claims all hostnames for the service, or none: what it claimed before a refusal is released. */
export async function claimHostnames(
  call: Call,
  service: string,
  hostnames: readonly string[],
): Promise<Result<ClaimedHostname[]>> {
  const claimed: ClaimedHostname[] = [];
  for (const name of hostnames) {
    const claim = await call(hostname, name).claim({ service });
    if (!claim.isOk) {
      await releaseHostnames(call, claimed.map(heldHostname));
      return claim;
    }
    claimed.push({ hostname: name, claim: claim.value });
  }
  return new Ok(claimed);
}

export async function confirmHostnames(call: Call, held: readonly HeldHostname[]): Promise<void> {
  for (const { hostname: name, claim } of held) await call(hostname, name).confirm({ claim });
}

export async function releaseHostnames(call: Call, held: readonly HeldHostname[]): Promise<void> {
  for (const { hostname: name, claim } of held) await call(hostname, name).release({ claim });
}
