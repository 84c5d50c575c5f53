// NonSuspendingInstance is the fast path of a module's endpoints: one instance that serves requests without a stack of
// its own to suspend. Such a stack is the largest cost of a short request, and most handlers never need it: they make
// no call, or calls whose results are there at once, be it speculatively (http/requests/request-calls.ts).
//
// Invariants:
// N1  A handler that would have to wait, or that exhausts the stack which it shares with the host, is aborted, and the
//     instance is restored. The request then falls back to an instance that can suspend, where the handler is replayed
//     from its beginning.
// N2  The calls make a replay invisible to the handler and to entities: it gets the same results, and nothing is done
//     twice. Only the log shows it, if the handler writes to the log.
import type { HostCalls } from '../../../engine/needs/guest.ts';
import type { CallContext, Refusal } from '../../../model/call.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { SvcError } from '@svc/kit/svc-error';
import { callHandle, endRequest } from './http-binding.ts';
import { MustWait } from '../binding/import-binding.ts';
import type { MemoryImage } from './memory-image.ts';
import { type ModuleInstance, isStackOverflow } from './module-instance.ts';

/**
 * Requests of a route that skip the fast path after one that fell back, because a fallback costs the fuel of the
 * aborted run. A request that waits for another shard does not count.
 */
const REQUESTS_NOT_TRIED = 100;

export class NonSuspendingInstance {
  readonly #newInstance: () => ModuleInstance;
  readonly #image: MemoryImage;
  /** Undefined before the first request, while the instance serves, and after it was discarded. */
  #instance: ModuleInstance | undefined;
  /** Requests that still skip the fast path, indexed by route. */
  readonly #notTried: number[];

  /** `newInstance`: makes an instance whose calls cannot suspend. It may throw GuestFault or SVC_OVERLOADED. */
  constructor(newInstance: () => ModuleInstance, image: MemoryImage, routes: number) {
    this.#newInstance = newInstance;
    this.#image = image;
    this.#notTried = Array.from({ length: routes }, () => 0);
  }

  /**
   * Runs the handler. Undefined: the request falls back to an instance that can suspend. A promise: call `serve` again
   * once it resolves. Throws GuestFault.
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

  /**
   * Returns the instance, or a new one; undefined when there is no memory for a further instance, and the pool has
   * instances that may serve.
   */
  #started(): ModuleInstance | undefined {
    try {
      return this.#instance ?? this.#newInstance();
    } catch (error) {
      if (error instanceof SvcError && error.code === 'SVC_OVERLOADED') return undefined;
      throw error;
    }
  }

  /** Whether there is an instance that serves no call. */
  get isReady(): boolean {
    return this.#instance !== undefined;
  }

  /** Discards the instance, unless it is serving. Returns false if there was none. */
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
      // After a wait for another shard the route is not skipped: the entity of its next request may belong to this
      // shard.
      const later = calls.remoteAnswer?.();
      if (later === undefined) this.#notTried[request.route] = REQUESTS_NOT_TRIED;
      return later;
    }
    return endRequest(instance, result, source);
  }
}
