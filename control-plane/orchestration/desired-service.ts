// DesiredService: how a service should be, from the state of its entity.
import { INSTANCES_DEFAULT, type ServiceDescriptor, type ServiceKey } from '@svc/client';
import type { ReadonlyDeep } from '@svc/host';
import type { Descriptor, Service } from '../model/service-state.ts';
import type { DesiredService, RemovedService } from './orchestrator.ts';

/** `isSuspended`: whether the organization is disabled, which its services follow a moment later. */
export function desiredOrRemoved(
  key: ServiceKey,
  state: ReadonlyDeep<Service>,
  isSuspended = state.suspended,
): DesiredService | RemovedService {
  return state.isAlive ? desiredService(key, state, isSuspended) : { kind: 'removed', key };
}

/** The same of a service that exists. */
export function desiredService(
  key: ServiceKey,
  state: ReadonlyDeep<Service>,
  isSuspended = state.suspended,
): DesiredService {
  const { claim, generation, appliedGeneration, paused: isPaused, exposed } = state;
  // An entity stores only what descriptorProblems has found valid.
  const descriptor = state.descriptor as ServiceDescriptor;
  const derived = exposed === undefined ? [] : [exposed.hostname];
  return {
    kind: 'desired',
    key,
    incarnation: claim,
    generation,
    appliedGeneration: appliedGeneration ?? generation,
    descriptor,
    instances: isPaused || isSuspended ? 0 : (descriptor.instances ?? INSTANCES_DEFAULT),
    isPaused,
    isSuspended,
    exposedHostname: exposed?.hostname,
    hostnames: [...derived, ...Object.keys(state.hostnames)],
  };
}

/** How the service would be after an apply of the descriptor. */
export function proposedService(
  key: ServiceKey,
  state: ReadonlyDeep<Service>,
  descriptor: Descriptor,
): DesiredService {
  const hostnames: Record<string, string> = {};
  for (const hostname of descriptor.hostnames ?? []) hostnames[hostname] = '';
  return desiredService(key, {
    ...state,
    generation: state.generation + 1,
    appliedGeneration: state.generation + 1,
    descriptor,
    hostnames,
    exposed: descriptor.http === false ? undefined : state.exposed,
  } as ReadonlyDeep<Service>);
}
