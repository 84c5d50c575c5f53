// ExposeService: gives a service its derived hostname, and takes it away again.
import type { ServiceKey } from '@svc/client';
import { Ok, type Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { service } from '../model/service.ts';
import { heldHostname } from '../model/service-state.ts';
import { inTime, tidyUp, type Call } from './call.ts';
import type { Reauthorization } from './claim-settlement.ts';
import {
  claimHostnames,
  confirmHostnames,
  releaseHostnames,
  settleHostnames,
} from './held-hostnames.ts';
import { serviceId } from './service-id.ts';

/** Refused with CONFLICT if another service has the hostname, or the service serves no HTTP. `reauthorization`: see `decided`. */
export function exposeService(
  call: Call,
  key: ServiceKey,
  hostname: string,
  by: Actor,
  reauthorization?: Reauthorization,
): Promise<Result<null>> {
  const id = serviceId(key);
  return inTime(async () => {
    const claimed = await claimHostnames(call, id, [hostname], reauthorization);
    if (!claimed.isOk) return claimed;
    const [first] = claimed.value;
    const held = heldHostname(first!);
    const exposed = await call(service, id).expose({ ...first!, by });
    // The service may have been exposed before, and then holds the hostname with another claim.
    const isUsed = exposed.isOk && exposed.value.claim === held.claim;
    await tidyUp(() =>
      isUsed ? confirmHostnames(call, [held]) : settleHostnames(call, id, [held]),
    );
    return exposed.isOk ? new Ok(null) : exposed;
  });
}

export async function unexposeService(
  call: Call,
  key: ServiceKey,
  by: Actor,
): Promise<Result<null>> {
  const freed = await call(service, serviceId(key)).unexpose({ by });
  if (!freed.isOk) return freed;
  await tidyUp(() => releaseHostnames(call, freed.value));
  return new Ok(null);
}
