// ApplyService: gives a service a descriptor, and creates the service if there is none of this name.
import type { ServiceKey } from '@svc/client';
import { Ok, type Result, type ValueOf } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { project } from '../model/project.ts';
import { NEEDS_CLAIM, service, type Applied } from '../model/service.ts';
import { heldHostname, type ClaimedHostname, type Descriptor } from '../model/service-state.ts';
import { inTime, tidyUp, type Call } from './call.ts';
import { servicesOf, settleClaim } from './claim-settlement.ts';
import {
  claimHostnames,
  confirmHostnames,
  releaseHostnames,
  settleHostnames,
} from './held-hostnames.ts';
import { serviceId } from './service-id.ts';

type Reply = ValueOf<typeof Applied>;

/** Replies with the new generation. Refused with CONFLICT if another service has one of the hostnames. */
export function applyService(
  call: Call,
  key: ServiceKey,
  descriptor: Descriptor,
  by: Actor,
): Promise<Result<number>> {
  const id = serviceId(key);
  return inTime(async () => {
    const claimed = await claimHostnames(call, id, descriptor.hostnames ?? []);
    if (!claimed.isOk) return claimed;
    const applied = await applyOrCreate(call, key, { descriptor, hostnames: claimed.value, by });
    const held = claimed.value.map(heldHostname);
    if (!applied.isOk) {
      await tidyUp(() => settleHostnames(call, id, held));
      return applied;
    }
    await tidyUp(() => confirmHostnames(call, held));
    await tidyUp(() => releaseHostnames(call, applied.value.freed));
    return new Ok(applied.value.generation);
  });
}

interface Application {
  readonly descriptor: Descriptor;
  readonly hostnames: ClaimedHostname[];
  readonly by: Actor;
}

/** Applies to the service that there is, or claims its name and creates it. */
async function applyOrCreate(
  call: Call,
  key: ServiceKey,
  application: Application,
): Promise<Result<Reply>> {
  const client = call(service, serviceId(key));
  const existing = await client.apply(application);
  if (existing.isOk || existing.otherCode !== NEEDS_CLAIM) return existing;
  const claim = await call(project, key.project).claimService({ service: key.service });
  if (!claim.isOk) return claim;
  const created = await client.apply({ ...application, claim: claim.value });
  const parent = servicesOf(call, key.project);
  const held = { name: key.service, claim: claim.value.id };
  // A request at the same time may have created it with its own claim, so this one is not needed.
  const isUsed = created.isOk && created.value.claim === held.claim;
  await tidyUp(() => (isUsed ? parent.confirm(held) : settleClaim(parent, held)));
  return created;
}
