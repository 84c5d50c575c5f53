// NonSuspendingInstance: one instance that serves the requests whose handlers have nothing to wait for: no
// call, or calls whose answers are there at once, if only because the caller keeps the handler's own answer
// until they are on disk. Such a handler needs no stack of its own to wait on, which is the dearest part
// of a short request.
//
// Invariant: a handler that asks for something that would have to be waited for, or runs out of the stack
// that it shares with the host, is given up in the middle, the instance is put back, and the request is
// served again from its beginning, where it can wait and has a stack of its own. The calls see to it that
// it is told the same and that nothing is done twice; the log can tell, if the handler writes to it.
import type { HostCalls } from '../../../engine/needs/guest.ts';
import type { CallContext, Refusal } from '../../../model/call.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { SvcError } from '@svc/kit/svc-error';
import { callHandle, endRequest } from './http-binding.ts';
import { MustWait } from '../binding/import-binding.ts';
import type { MemoryImage } from './memory-image.ts';
import { type ModuleInstance, isStackOverflow } from './module-instance.ts';

/**
 * So many requests of a route are not tried here after one that was given up, for it has cost its fuel; unless it
 * waits for another shard.
 */
const REQUESTS_NOT_TRIED = 100;

export class NonSuspendingInstance {
  readonly #newInstance: () => ModuleInstance;
  readonly #image: MemoryImage;
  /** Undefined also while it serves. */
  #instance: ModuleInstance | undefined;
  /** Route index → requests that are not tried here. */
  readonly #notTried: number[];

  /** `newInstance`: makes one whose calls cannot wait; it may throw GuestFault or SVC_OVERLOADED. */
  constructor(newInstance: () => ModuleInstance, image: MemoryImage, routes: number) {
    this.#newInstance = newInstance;
    this.#image = image;
    this.#notTried = Array.from({ length: routes }, () => 0);
  }

  /**
   * Undefined: the request is to be served where it can wait; a promise: to be tried here again once it resolves.
   * Throws GuestFault.
   */
  serve(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
    source: string,
  ): EndpointResponse | Refusal | Promise<void> | undefined {
    const left = this.#notTried[request.route]!;
    if (left > 0) {
      this.#notTried[request.route] = left - 1;
      return undefined;
    }
    const instance = this.#started();
    if (instance === undefined) return undefined;
    this.#instance = undefined;
    try {
      return this.#handled(instance, context, request, calls, source);
    } finally {
      if (instance.restore(this.#image)) this.#instance = instance;
    }
  }

  /** Undefined: there is no memory for one more, and the instances that there are may serve. */
  #started(): ModuleInstance | undefined {
    try {
      return this.#instance ?? this.#newInstance();
    } catch (error) {
      if (error instanceof SvcError && error.code === 'SVC_OVERLOADED') return undefined;
      throw error;
    }
  }

  /** It has one, which serves nothing at present. */
  get isReady(): boolean {
    return this.#instance !== undefined;
  }

  /** Lets go of the instance, unless it serves. False: there is none. */
  letGo(): boolean {
    const instance = this.#instance;
    this.#instance = undefined;
    instance?.letGo();
    return instance !== undefined;
  }

  #handled(
    instance: ModuleInstance,
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
    source: string,
  ): EndpointResponse | Refusal | Promise<void> | undefined {
    instance.beginHandler(context, calls);
    let result: number;
    try {
      result = callHandle(instance.memory, instance.exports.handle, context, request);
    } catch (error) {
      if (!(error instanceof MustWait) && !isStackOverflow(error))
        throw instance.fail(error, source);
      // It says nothing of the next request of the route, whose entity may be one of this shard.
      const later = calls.fromElsewhere?.();
      if (later === undefined) this.#notTried[request.route] = REQUESTS_NOT_TRIED;
      return later;
    }
    return endRequest(instance, result, source);
  }
}
