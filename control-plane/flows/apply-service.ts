// ApplyService: gives a service a descriptor, and creates the service if there is none of this name.
import type { ServiceKey } from '@svc/client';
import { Ok, type EntityClient, type Result, type ValueOf } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { project } from '../model/project.ts';
import { neededClaims, type NeededClaims } from '../model/refusals.ts';
import { service, type Applied } from '../model/service.ts';
import { heldHostname, type Descriptor } from '../model/service-state.ts';
import { decidedSince, inTime, tidyUp, type Call } from './call.ts';
import { servicesOf, settleClaim, type Reauthorization } from './claim-settlement.ts';
import {
  claimHostnames,
  confirmHostnames,
  releaseHostnames,
  settleHostnames,
} from './held-hostnames.ts';
import { serviceId } from './service-id.ts';

type Reply = ValueOf<typeof Applied>;

interface Application {
  readonly key: ServiceKey;
  readonly descriptor: Descriptor;
  readonly by: Actor;
  readonly reauthorization?: Reauthorization | undefined;
  /** When the request began, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/**
 * Replies with the new generation. Refused with CONFLICT if another service has one of the hostnames. A service that exists and holds its
 * hostnames already needs one command.
 *
 * `reauthorization`: see `decided`.
 */
export function applyService(
  call: Call,
  key: ServiceKey,
  descriptor: Descriptor,
  by: Actor,
  reauthorization?: Reauthorization,
): Promise<Result<number>> {
  const application = { key, descriptor, by, reauthorization, sinceMs: Date.now() };
  return inTime(async () => {
    const command = { descriptor, hostnames: [], by };
    const unclaimed = await call(service, serviceId(key)).apply(command);
    const needed = unclaimed.isOk ? undefined : neededClaims(unclaimed);
    const applied =
      needed === undefined ? unclaimed : await claimAndApply(call, application, needed);
    if (!applied.isOk) return applied;
    await tidyUp(() => releaseHostnames(call, applied.value.freed));
    return new Ok(applied.value.generation);
  });
}

async function claimAndApply(
  call: Call,
  application: Application,
  { isNew, hostnames }: NeededClaims,
): Promise<Result<Reply>> {
  const { key, descriptor, by, reauthorization } = application;
  const id = serviceId(key);
  const claimed = await claimHostnames(call, id, hostnames, reauthorization);
  if (!claimed.isOk) return claimed;
  const command = { descriptor, hostnames: claimed.value, by };
  const applied = isNew
    ? await create(call, application, command)
    : await call(service, id).apply(command);
  const held = claimed.value.map(heldHostname);
  await tidyUp(() =>
    applied.isOk ? confirmHostnames(call, held) : settleHostnames(call, id, held),
  );
  return applied;
}

/** Claims the name of the service, and creates it. */
async function create(
  call: Call,
  { key, sinceMs }: Application,
  command: Parameters<EntityClient<typeof service>['apply']>[0],
): Promise<Result<Reply>> {
  const claim = await decidedSince(sinceMs, () =>
    call(project, key.project).claimService({ service: key.service }),
  );
  if (!claim.isOk) return claim;
  const created = await call(service, serviceId(key)).apply({ ...command, claim: claim.value });
  const parent = servicesOf(call, key.project);
  const held = { name: key.service, claim: claim.value.id };
  // A request at the same time may have created it with its own claim, so this one is not needed.
  const isUsed = created.isOk && created.value.claim === held.claim;
  await tidyUp(() => (isUsed ? parent.confirm(held) : settleClaim(parent, held)));
  return created;
}
