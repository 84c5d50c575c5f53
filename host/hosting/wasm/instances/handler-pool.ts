// HandlerPool holds the instances that serve calls of one export: requests of a module's endpoints, or events for its
// consumers. A call goes first to the non-suspending instance, the fast path; if that falls back, a pooled instance
// serves it, whose own calls suspend the module's stack while they wait.
// Invariants:
// E1  An instance serves one call at a time. V8 would let a second one enter while the first is suspended,
//     and the memory of the module is not made for that.
// E2  After each call the instance is restored to its state after initialisation, so no call sees what another left.
import { setFlagsFromString } from 'node:v8';
import type { Awaitable } from '@svc/model/call';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { AdmittedModule } from '../admission/admission.ts';
import type { GuestLog } from '@svc/model/guest-log';
import type { InstanceMemory } from '../binding/instance-memory.ts';
import {
  type HandlerCall,
  type HandlerExport,
  type WaitingHandler,
  beginCall,
  endCall,
  waitingHandler,
} from './handler-export.ts';
import type { MemoryImage } from './memory-image.ts';
import { ModuleInstance } from './module-instance.ts';
import { NonSuspendingInstance } from './non-suspending-instance.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** An instance of the pool, and its handler. */
interface Slot {
  readonly instance: ModuleInstance;
  readonly handler: WaitingHandler;
  /** Fails the call that the instance serves; undefined while it serves none. */
  abandon: ((reason: GuestFault) => void) | undefined;
}

/** The parts of a hosting that all pools of a module share. */
export interface PoolNeeds {
  readonly module: AdmittedModule;
  readonly limits: WasmLimits;
  readonly memory: InstanceMemory;
  readonly log: GuestLog;
}

/** A call that waits for an instance; `hasCalled`: its handler has made calls on the fast path. */
interface Waiting {
  readonly hasCalled: boolean;
  readonly proceed: (slot: Slot) => void;
  readonly fail: (reason: unknown) => void;
}

export class HandlerPool<Input, Outcome> {
  readonly #exported: HandlerExport<Input, Outcome>;
  readonly #module: AdmittedModule;
  readonly #limits: WasmLimits;
  readonly #memory: InstanceMemory;
  readonly #log: GuestLog;
  readonly #image: MemoryImage;
  readonly #fastPath: NonSuspendingInstance<Input, Outcome>;
  readonly #idle: Slot[] = [];
  readonly #busy = new Set<Slot>();
  readonly #waiting: Waiting[] = [];
  #closed = false;

  /**
   * Makes the first instance. `handlers`: how many handlers the export has. Throws GuestFault if the module does not start,
   * SVC_OVERLOADED if memory is lacking.
   */
  constructor(
    { module, limits, memory, log }: PoolNeeds,
    exported: HandlerExport<Input, Outcome>,
    handlers: number,
  ) {
    this.#exported = exported;
    this.#module = module;
    this.#limits = limits;
    this.#memory = memory;
    memory.addHolder(() => this.#letGoOfIdle());
    this.#log = log;
    // A setting of the whole process, which V8 reads whenever it makes a stack.
    setFlagsFromString(`--wasm-stack-switching-stack-size=${limits.handlerStackKib}`);
    const first = this.#newSlot(false);
    // Every start leads to the same state: it gets no time, no random numbers and no input.
    this.#image = first.instance.memoryImage();
    this.#idle.push(first);
    this.#fastPath = new NonSuspendingInstance(
      () => new ModuleInstance(module, limits, memory, log, false),
      this.#image,
      exported,
      handlers,
    );
    memory.addHolder(() => this.#fastPath.letGo());
  }

  /** Serves a call. Calls may overlap. Throws GuestFault, and SVC_OVERLOADED if too many calls wait. */
  handle(call: HandlerCall<Input>): Awaitable<Outcome> {
    if (this.#closed) throw closedFault();
    const { calls } = call;
    if (calls.speculate !== undefined) {
      const fastPath = this.#fastPath.serve(call);
      if (fastPath instanceof Promise) return fastPath.then(() => this.handle(call));
      if (fastPath !== undefined) return fastPath;
    }
    const hasCalled = calls.beginReplay?.() ?? false;
    const slot = this.#freeSlot(hasCalled);
    return slot === undefined ? this.#serveLater(call, hasCalled) : this.#serve(slot, call);
  }

  /** Instances that currently exist. */
  get instances(): number {
    return this.#idle.length + this.#busy.size + (this.#fastPath.isReady ? 1 : 0);
  }

  /** Fails the calls that are being served or wait for an instance. */
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

  async #serveLater(call: HandlerCall<Input>, hasCalled: boolean): Promise<Outcome> {
    call.calls.noteWaiting?.(true);
    const slot = await this.#nextFreeSlot(hasCalled);
    call.calls.noteWaiting?.(false);
    if (this.#closed) throw closedFault();
    const { cancelReason } = call.calls;
    if (cancelReason !== undefined) {
      this.#release(slot);
      throw cancelReason;
    }
    return this.#serve(slot, call);
  }

  /** Serves a call. The slot's `abandon` ends the call too, because a suspended stack may wait for ever. */
  #serve(slot: Slot, call: HandlerCall<Input>): Promise<Outcome> {
    const { instance, handler } = slot;
    const { source } = call;
    return new Promise((resolve, reject) => {
      slot.abandon = reject;
      const settle = (outcome: () => Outcome) => {
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
        beginCall(this.#exported, instance, handler, call).then(
          (result) => settle(() => endCall(this.#exported, instance, result, source)),
          fail,
        );
      } catch (error) {
        fail(error);
      }
    });
  }

  /**
   * Returns a slot for a call; undefined if all instances are busy. `hasCalled`: the handler has made calls, so the
   * call must not fail with SVC_OVERLOADED, which means that nothing was done.
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
      const handler = waitingHandler(this.#exported, instance);
      return { instance, handler, abandon: undefined };
    } catch (error) {
      if (!hasCalled || !(error instanceof SvcError)) throw error;
      throw new GuestFault('memory', error.message, { limit: 'memory', cause: error });
    }
  }

  /** Restores the instance or discards it; then the next waiting call gets it, or a new one. */
  #release(slot: Slot): void {
    slot.abandon = undefined;
    this.#busy.delete(slot);
    if (slot.instance.restore(this.#image)) this.#idle.push(slot);
    this.#serveWaiting();
  }

  /**
   * Serves waiting calls as long as there are instances. If an instance cannot be created, the next call fails,
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
