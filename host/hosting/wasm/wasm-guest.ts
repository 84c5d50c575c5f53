// WasmGuest: the implementation of the engine's Guest for a module that runs in this process's sandbox.
import type { Guest } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { AdmittedModule } from './admission/admission.ts';
import { ConsumerPool } from './instances/consumer-pool.ts';
import { EndpointPool } from './instances/endpoint-pool.ts';
import { EntityInstances } from './instances/entity-instances.ts';
import type { PoolNeeds } from './instances/handler-pool.ts';
import { ViewInstance } from './instances/view-instance.ts';
import type { GuestLog } from '@svc/model/guest-log';
import { InstanceMemory } from './binding/instance-memory.ts';
import { printable } from './binary/printable.ts';
import { WASM_LIMITS_DEFAULT, type WasmLimits } from './wasm-limits.ts';

/** Numbers for introspection. */
export interface WasmNumbers {
  /** Instances that serve endpoints, or are idle for them. */
  readonly endpointInstances: number;
  readonly entityInstances: number;
  /** Bytes of memory of all instances together. */
  readonly memoryBytes: number;
}

export interface WasmGuest extends Guest {
  readonly numbers: WasmNumbers;
}

/**
 * Admits the module, compiles it once and starts one instance of it. Throws an SvcError with a code SVC_MODULE_…;
 * SVC_MODULE_START_FAILED if its code ran and faulted; or SVC_OVERLOADED if there is no memory for the instance.
 */
export async function createWasmGuest(
  bytes: Uint8Array,
  limits: WasmLimits = WASM_LIMITS_DEFAULT,
  log: GuestLog = () => {},
): Promise<Guest> {
  // Loaded lazily: a shard receives modules that were admitted elsewhere, and never needs admission.
  const { admitModule } = await import('./admission/admission.ts');
  return startWasmGuest(admitModule(bytes, limits), limits, log);
}

/**
 * Starts a guest for an admitted module: it shares the compiled code with other guests, but no instance. Throws an
 * SvcError SVC_MODULE_START_FAILED, or SVC_OVERLOADED if there is no memory for the first instance.
 */
export function startWasmGuest(
  module: AdmittedModule,
  limits: WasmLimits,
  log: GuestLog,
): WasmGuest {
  const memory = new InstanceMemory(limits);
  const needs = { module, limits, memory, log };
  const endpoints = start(needs);
  const entities = new EntityInstances(module, limits, memory, log);
  const { views: declaredViews, consumers: declaredConsumers } = module.descriptor;
  const views = declaredViews && new ViewInstance(needs, idsOf(declaredViews));
  const consumers = declaredConsumers && new ConsumerPool(needs, idsOf(declaredConsumers));
  return {
    fingerprint: module.fingerprint,
    descriptor: module.descriptor,
    entities,
    endpoints,
    views,
    consumers,
    get numbers() {
      return {
        endpointInstances: endpoints.instances,
        entityInstances: entities.instances,
        memoryBytes: memory.bytes,
      };
    },
    close() {
      entities.close();
      endpoints.close();
      consumers?.close();
      views?.close();
    },
  };
}

function idsOf(declarations: readonly { readonly id: string }[]): string[] {
  return declarations.map(({ id }) => id);
}

function start(needs: PoolNeeds): EndpointPool {
  try {
    return new EndpointPool(needs);
  } catch (error) {
    if (!(error instanceof GuestFault)) throw error;
    const words =
      error.guestMessage === undefined ? '' : ` (${printable(error.guestMessage, 300)})`;
    throw new SvcError(
      'SVC_MODULE_START_FAILED',
      `The module failed while it started: ${error.message.replace(/\.$/, '')}${words}. ` +
        'Fix its code outside of handlers, and build it again.',
      { cause: error },
    );
  }
}
