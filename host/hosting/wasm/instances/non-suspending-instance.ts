// NonSuspendingInstance is the fast path of a pool: one instance that serves calls without a stack of its own to
// suspend. Such a stack is the largest cost of a short request, and most handlers never need it: they make
// no call, or calls whose results are there at once, be it speculatively (http/requests/request-calls.ts).
//
// Invariants:
// N1  A handler that would have to wait, or that exhausts the stack which it shares with the host, is aborted, and the
//     instance is restored. The call then falls back to an instance that can suspend, where the handler is replayed
//     from its beginning.
// N2  The calls make a replay invisible to the handler and to entities: it gets the same results, and nothing is done
//     twice. Only the log shows it, if the handler writes to the log.
import { SvcError } from '@svc/kit/svc-error';
import { type HandlerCall, type HandlerExport, endCall } from './handler-export.ts';
import { MustWait } from '../binding/host-call.ts';
import type { MemoryImage } from './memory-image.ts';
import { type ModuleInstance, isStackOverflow } from './module-instance.ts';

/**
 * Calls of a handler that skip the fast path after one that fell back, because a fallback costs the fuel of the
 * aborted run. A call that waits for another shard does not count.
 */
const CALLS_NOT_TRIED = 100;

export class NonSuspendingInstance<Input, Outcome> {
  readonly #newInstance: () => ModuleInstance;
  readonly #image: MemoryImage;
  readonly #exported: HandlerExport<Input, Outcome>;
  /** Undefined before the first call, while the instance serves, and after it was discarded. */
  #instance: ModuleInstance | undefined;
  /** Calls that still skip the fast path, indexed by handler. */
  readonly #notTried: number[];

  /** `newInstance`: makes an instance whose calls cannot suspend. It may throw GuestFault or SVC_OVERLOADED. */
  constructor(
    newInstance: () => ModuleInstance,
    image: MemoryImage,
    exported: HandlerExport<Input, Outcome>,
    handlers: number,
  ) {
    this.#newInstance = newInstance;
    this.#image = image;
    this.#exported = exported;
    this.#notTried = Array.from({ length: handlers }, () => 0);
  }

  /**
   * Runs the handler. Undefined: the call falls back to an instance that can suspend. A promise: call `serve` again
   * once it resolves. Throws GuestFault.
   */
  serve(call: HandlerCall<Input>): Outcome | Promise<void> | undefined {
    const { handler } = call;
    const left = this.#notTried[handler]!;
    if (left > 0) {
      this.#notTried[handler] = left - 1;
      return undefined;
    }
    const instance = this.#started();
    if (instance === undefined) return undefined;
    this.#instance = undefined;
    try {
      return this.#handled(instance, call);
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
    { context, input, calls, handler, source }: HandlerCall<Input>,
  ): Outcome | Promise<void> | undefined {
    const exported = this.#exported;
    instance.beginHandler(context, calls);
    let result: number;
    try {
      result = exported.call(instance.memory, exported.function(instance.exports), context, input);
    } catch (error) {
      if (!(error instanceof MustWait) && !isStackOverflow(error))
        throw instance.fail(error, source);
      // After a wait for another shard the handler is not skipped: the entity of its next call may belong to this shard.
      const later = calls.remoteAnswer?.();
      if (later === undefined) this.#notTried[handler] = CALLS_NOT_TRIED;
      return later;
    }
    return endCall(exported, instance, result, source);
  }
}
