// EndpointPool holds the instances that serve a module's endpoints. A request goes first to the non-suspending
// instance, the fast path; if that falls back, a pooled instance serves it, whose calls suspend the module's stack
// while they wait.
// Invariants:
// E1  An instance serves one request at a time. V8 would let a second one enter while the first is suspended,
//     and the memory of the module is not made for that.
// E2  After each request the instance is restored to its state after initialisation, so no request sees what another
//     left.
import { setFlagsFromString } from 'node:v8';
import type { GuestEndpoints, HostCalls } from '../../../engine/needs/guest.ts';
import type { Awaitable, CallContext, Refusal } from '../../../model/call.ts';
import type { EndpointRequest, EndpointResponse } from '../../../model/endpoint.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { AdmittedModule } from '../admission/admission.ts';
import type { GuestLog } from '../../../model/guest-log.ts';
import type { InstanceMemory } from '../binding/instance-memory.ts';
import { type WaitingHandle, beginRequest, endRequest, waitingHandle } from './http-binding.ts';
import type { MemoryImage } from './memory-image.ts';
import { ModuleInstance } from './module-instance.ts';
import { NonSuspendingInstance } from './non-suspending-instance.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** An instance of the pool, and its export `handle`. */
interface Slot {
  readonly instance: ModuleInstance;
  readonly handle: WaitingHandle;
  /** Fails the request that the instance serves; undefined while it serves none. */
  abandon: ((reason: GuestFault) => void) | undefined;
}

/** A request that waits for an instance; `hasCalled`: its handler has made calls on the fast path. */
interface Waiting {
  readonly hasCalled: boolean;
  readonly proceed: (slot: Slot) => void;
  readonly fail: (reason: unknown) => void;
}

export class EndpointPool implements GuestEndpoints {
  readonly #module: AdmittedModule;
  readonly #limits: WasmLimits;
  readonly #memory: InstanceMemory;
  readonly #log: GuestLog;
  /** Name of the endpoint in the log, indexed by route. */
  readonly #sources: readonly string[];
  readonly #image: MemoryImage;
  readonly #fastPath: NonSuspendingInstance;
  readonly #idle: Slot[] = [];
  readonly #busy = new Set<Slot>();
  readonly #waiting: Waiting[] = [];
  #closed = false;

  /** Makes the first instance. Throws GuestFault if the module does not start, SVC_OVERLOADED if memory is lacking. */
  constructor(module: AdmittedModule, limits: WasmLimits, memory: InstanceMemory, log: GuestLog) {
    this.#module = module;
    this.#limits = limits;
    this.#memory = memory;
    memory.addHolder(() => this.#letGoOfIdle());
    this.#log = log;
    this.#sources = module.descriptor.endpoints.flatMap(({ name, routes }) =>
      routes.map(() => `endpoint ${name}`),
    );
    // A setting of the whole process, which V8 reads whenever it makes a stack.
    setFlagsFromString(`--wasm-stack-switching-stack-size=${limits.handlerStackKib}`);
    const first = this.#newSlot(false);
    // Every start leads to the same state: it gets no time, no random numbers and no input.
    this.#image = first.instance.memoryImage();
    this.#idle.push(first);
    this.#fastPath = new NonSuspendingInstance(
      () => new ModuleInstance(module, limits, memory, log, false),
      this.#image,
      this.#sources.length,
    );
    memory.addHolder(() => this.#fastPath.letGo());
  }

  handle(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Awaitable<EndpointResponse | Refusal> {
    if (this.#closed) throw closedFault();
    if (calls.speculate !== undefined) {
      const fastPath = this.#fastPath.serve(context, request, calls, this.#sourceOf(request));
      if (fastPath instanceof Promise)
        return fastPath.then(() => this.handle(context, request, calls));
      if (fastPath !== undefined) return fastPath;
    }
    const hasCalled = calls.beginReplay?.() ?? false;
    const slot = this.#freeSlot(hasCalled);
    return slot === undefined
      ? this.#serveLater(context, request, calls, hasCalled)
      : this.#serve(slot, context, request, calls);
  }

  /** Instances that currently exist. */
  get instances(): number {
    return this.#idle.length + this.#busy.size + (this.#fastPath.isReady ? 1 : 0);
  }

  /** Fails the requests that are being served or wait for an instance. */
  close(): void {
    this.#closed = true;
    const reason = closedFault();
    for (const { fail } of this.#waiting.splice(0)) fail(reason);
    for (const slot of this.#busy) {
      slot.instance.abandon();
      slot.abandon?.(reason);
    }
    while (this.#letGoOfIdle());
    this.#fastPath.letGo();
  }

  async #serveLater(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
    hasCalled: boolean,
  ): Promise<EndpointResponse | Refusal> {
    const slot = await this.#nextFreeSlot(hasCalled);
    if (this.#closed) throw closedFault();
    if (calls.cancelReason !== undefined) {
      this.#release(slot);
      throw calls.cancelReason;
    }
    return this.#serve(slot, context, request, calls);
  }

  /** Serves a request. The slot's `abandon` ends the request too, because a suspended stack may wait for ever. */
  #serve(
    slot: Slot,
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Promise<EndpointResponse | Refusal> {
    const { instance, handle } = slot;
    const source = this.#sourceOf(request);
    return new Promise((resolve, reject) => {
      slot.abandon = reject;
      const settle = (outcome: () => EndpointResponse | Refusal) => {
        if (this.#closed) return;
        try {
          resolve(outcome());
        } catch (error) {
          reject(error);
        }
        this.#release(slot);
      };
      const fail = (error: unknown) =>
        settle(() => {
          throw instance.fail(error, source);
        });
      try {
        beginRequest(instance, handle, context, request, calls).then(
          (result) => settle(() => endRequest(instance, result, source)),
          fail,
        );
      } catch (error) {
        fail(error);
      }
    });
  }

  #sourceOf({ route }: EndpointRequest): string {
    return this.#sources[route] ?? 'module';
  }

  /**
   * Returns a slot for a request; undefined if all instances are busy. `hasCalled`: the handler has made calls, so the
   * request must not fail with SVC_OVERLOADED, which means that nothing was done.
   */
  #freeSlot(hasCalled: boolean): Slot | undefined {
    if (!this.#hasRoom) return undefined;
    const slot = this.#idle.pop() ?? this.#newSlot(hasCalled);
    this.#busy.add(slot);
    return slot;
  }

  #nextFreeSlot(hasCalled: boolean): Promise<Slot> {
    const { endpointInstancesMax, waitingRequestsMax } = this.#limits;
    if (!hasCalled && this.#waiting.length >= waitingRequestsMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        `All ${endpointInstancesMax} instances of the module serve requests, and ` +
          `${waitingRequestsMax} more requests wait. Try again later, or raise the limits.`,
      );
    return new Promise((proceed, fail) => {
      this.#waiting.push({ hasCalled, proceed, fail });
    });
  }

  /** Discards an idle instance. Returns false if none is idle. */
  #letGoOfIdle(): boolean {
    const slot = this.#idle.pop();
    slot?.instance.letGo();
    return slot !== undefined;
  }

  #newSlot(hasCalled: boolean): Slot {
    try {
      const instance = new ModuleInstance(
        this.#module,
        this.#limits,
        this.#memory,
        this.#log,
        true,
      );
      return { instance, handle: waitingHandle(instance), abandon: undefined };
    } catch (error) {
      if (!hasCalled || !(error instanceof SvcError)) throw error;
      throw new GuestFault('memory', error.message, { limit: 'memory', cause: error });
    }
  }

  /** Restores the instance or discards it; then the next waiting request gets it, or a new one. */
  #release(slot: Slot): void {
    slot.abandon = undefined;
    this.#busy.delete(slot);
    if (slot.instance.restore(this.#image)) this.#idle.push(slot);
    this.#serveWaiting();
  }

  /**
   * Serves waiting requests as long as there are instances. If an instance cannot be created, the next request fails,
   * so that none waits for ever.
   */
  #serveWaiting(): void {
    while (this.#waiting.length > 0 && this.#hasRoom) {
      const next = this.#waiting.shift()!;
      try {
        next.proceed(this.#freeSlot(next.hasCalled)!);
      } catch (error) {
        next.fail(error);
      }
    }
  }

  get #hasRoom(): boolean {
    return this.#idle.length > 0 || this.#busy.size < this.#limits.endpointInstancesMax;
  }
}

function closedFault(): GuestFault {
  return new GuestFault('trap', 'The module was closed.');
}
