// ModuleInstance: one live instance of a module: its memory, its fuel, its phase, its log. A call is `begin`,
// the binding's work, and `settle`; an error in between goes through `fail`.
//
// Invariants: one call at a time. After a fault the instance is `lost`, and the host calls it only to read
// its last log lines.
import assert from 'node:assert/strict';
import type { HostCalls } from '@svc/model/guest';
import type { CallContext, Spent } from '@svc/model/call';
import { GuestFault } from '@svc/model/guest-fault';
import { lastLogLines } from '@svc/model/last-log-lines';
import { SvcError } from '@svc/kit/svc-error';
import type { AdmittedModule } from '../admission/admission.ts';
import { CallState, PHASE, type Phase } from '../binding/call-state.ts';
import {
  type CoreExports,
  type CoreInterface,
  coreExports,
  interfaceOfModule,
} from '../binary/core-interface.ts';
import { takeLastLog, takeLog } from '../binding/diagnostics-binding.ts';
import type { GuestLog } from '@svc/model/guest-log';
import { type FuelLimit, payFuel, usedUp } from '../binding/fuel.ts';
import { GuestMemory } from '../binding/guest-memory.ts';
import type { ImportTarget } from '../binding/host-call.ts';
import { createImports } from '../binding/import-binding.ts';
import type { InstanceMemory, MemoryShare } from '../binding/instance-memory.ts';
import { MemoryImage } from './memory-image.ts';
import {
  BEGIN_EXPORT,
  FUEL_EXPORT,
  GROWTH_REFUSED_EXPORT,
  SAVE_GLOBALS_EXPORT,
  PAGES_EXPORT,
  RESTORE_GLOBALS_EXPORT,
  START_EXPORT,
} from '../metering/module-rewriter.ts';
import { trapFrames } from '../binding/trap-frames.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** Beginning of a module's abort message: `abort: message at file:line:column`. */
const ABORT = 'abort';
/** Size of a page of WebAssembly's linear memory, in bytes. */
export const PAGE_BYTES = 64 * 1024;
/** Maximum number of consecutive calls that use less than half of a grown memory; then the instance is replaced. */
const ROOMY_CALLS_MAX = 100;
const SOURCE_AT_START = 'module';

export class ModuleInstance {
  readonly exports: CoreExports;
  readonly memory: GuestMemory;
  readonly limits: WasmLimits;
  /** The world of the module's version. */
  readonly world: CoreInterface;
  /** Its share of the memory of all instances. */
  readonly share: MemoryShare;
  /** True after a fault, and after `letGo`: discard the instance. */
  lost = false;
  readonly #state: CallState;
  /** Consecutive calls that needed less than half of a memory that has grown. */
  #roomyCalls = 0;
  readonly #fuel: WebAssembly.Global;
  /** Fuel at the beginning of the current call, and the record of the fuel that it used. */
  #fuelGiven = 0;
  #spent: Spent | undefined;
  readonly #growthRefused: WebAssembly.Global;
  readonly #pages: WebAssembly.Global;
  readonly #begin: (fuel: number) => void;
  readonly #restoreGlobals: () => void;
  readonly #log: GuestLog;

  /**
   * Instantiates and initialises the module. `suspending`: calls of the host may suspend, as handlers need. Throws
   * GuestFault when the module's own start faults, SVC_OVERLOADED if there is no memory for the instance.
   */
  constructor(
    module: AdmittedModule,
    limits: WasmLimits,
    instances: InstanceMemory,
    log: GuestLog,
    suspending: boolean,
  ) {
    this.limits = limits;
    this.#log = log;
    this.#state = new CallState(limits.handlesMax);
    const target: ImportTarget = {
      state: this.#state,
      memory: undefined,
      exports: undefined,
      fuel: undefined,
    };
    this.share = instances.newShare(module.sizes.initialMemoryPages * PAGE_BYTES);
    this.world = interfaceOfModule(module.descriptor);
    let instance: WebAssembly.Instance;
    try {
      instance = new WebAssembly.Instance(
        module.compiled,
        createImports(target, this.world, suspending),
      );
    } catch (error) {
      this.lost = true;
      this.share.release();
      throw startFailure(error);
    }
    this.#fuel = instance.exports[FUEL_EXPORT] as WebAssembly.Global;
    this.#growthRefused = instance.exports[GROWTH_REFUSED_EXPORT] as WebAssembly.Global;
    this.#pages = instance.exports[PAGES_EXPORT] as WebAssembly.Global;
    this.#begin = instance.exports[BEGIN_EXPORT] as (fuel: number) => void;
    this.#restoreGlobals = instance.exports[RESTORE_GLOBALS_EXPORT] as () => void;
    this.exports = coreExports(instance, this.world);
    this.memory = new GuestMemory(
      this.exports,
      module.stringEncoding,
      this.#state,
      limits,
      this.share,
    );
    target.exports = this.exports;
    target.memory = this.memory;
    target.fuel = this.#fuel;
    try {
      this.memory.noticeGrowth();
      (instance.exports[START_EXPORT] as (() => void) | undefined)?.();
      this.exports.initialize?.();
      this.settle(SOURCE_AT_START);
    } catch (error) {
      throw this.fail(error, SOURCE_AT_START);
    }
    (instance.exports[SAVE_GLOBALS_EXPORT] as () => void)();
  }

  /**
   * Begins a call with its fuel and the limit that the fuel comes from. `nowMs`: time that the module's clock reports;
   * `spent`: receives the cost of the call.
   */
  begin(phase: Phase, fuel: number, fuelLimit: FuelLimit, nowMs = 0n, spent?: Spent): void {
    assert(!this.lost, 'a lost instance was called');
    this.#state.phase = phase;
    this.#state.fuelLimit = fuelLimit;
    this.#state.nowMs = nowMs;
    this.#state.hostCallsLeft = this.limits.hostCallsMax;
    this.#begin(fuel);
    this.#fuelGiven = fuel;
    this.#spent = spent;
    this.memory.beginLifting();
  }

  /** Begins a handler's call, which may reach the host through `calls`. */
  beginHandler({ nowMs, spent }: CallContext, calls: HostCalls): void {
    const { handlerFuel } = this.limits;
    this.begin(PHASE.handler, handlerFuel, 'handler-fuel', BigInt(nowMs), spent);
    this.#state.componentCallsLeft = this.limits.componentCallsMax;
    this.#state.calls = calls;
  }

  /** Closes the phase once the module's code has returned, and starts the lifting budget of its result. */
  returned(): void {
    this.#state.phase = PHASE.closed;
    this.memory.beginLifting();
  }

  /**
   * Calls the post-return, if there is one. What the module frees and collects then, and its log, has fuel of its
   * own: the cost of a call does not depend on when its instance last collected.
   */
  release(postReturn: ((result: number) => void) | undefined, result: number): void {
    this.#noteSpent();
    this.#state.fuelLimit = 'collection-fuel';
    this.#begin(this.limits.collectionFuel);
    postReturn?.(result);
  }

  /** Ends a successful call, and passes its log lines on to the log. */
  settle(source: string): void {
    this.#state.phase = PHASE.closed;
    this.#state.calls = undefined;
    const lines = takeLog(this, source);
    for (const line of lines) this.#log(line);
    this.memory.noticeGrowth();
  }

  /** Notes the fuel used. A call that used up its fuel has a negative rest. */
  #noteSpent(): void {
    if (this.#spent === undefined) return;
    this.#spent.fuel += this.#fuelGiven - Math.max(0, this.#fuel.value as number);
    this.#spent = undefined;
  }

  /** Charges the module for the host's work, a unit of fuel for each byte. */
  pay(bytes: number): void {
    payFuel(this.#fuel, bytes, this.#state.fuelLimit);
  }

  /** Takes the resource whose handle the module has given away. */
  takeHandle(handle: number): number {
    return this.#state.takeHandle(handle);
  }

  /**
   * Ends a call that threw, and the instance with it. Returns the error to throw: a GuestFault with the module's
   * abort message and log lines; or the error itself if it is a bug rather than the module's fault.
   */
  fail(error: unknown, source: string): unknown {
    this.letGo();
    this.#noteSpent();
    const fuel = this.#fuel.value as number;
    const growthRefused = this.#growthRefused.value === 1;
    const fault = asFault(error, growthRefused, fuel < 0 ? this.#state.fuelLimit : undefined);
    if (!(fault instanceof GuestFault)) return fault;
    const { guestMessage, logLines } = this.#lastWords(source);
    if (guestMessage === undefined && logLines === undefined) return fault;
    const { faultCause, message, limit, frames } = fault;
    const options = { cause: error, guestMessage, logLines, limit, frames };
    return new GuestFault(faultCause, message, options);
  }

  /** Copies the memory for a later `restore`. Called after initialisation. */
  memoryImage(): MemoryImage {
    return new MemoryImage(this.memory.bytes);
  }

  /**
   * Restores memory and globals to their state after initialisation. The cost grows with the memory. Returns false, and
   * releases the instance, if a new one is better: the memory has grown beyond `reusedPagesMax` or the limit of all
   * instances, more than ROOMY_CALLS_MAX calls used less than half of it, or the instance is lost.
   */
  restore(image: MemoryImage): boolean {
    if (this.lost) return false;
    const bytes = this.#reusableMemory(image.length);
    if (bytes === undefined) {
      this.letGo();
      return false;
    }
    image.restore(bytes);
    this.#restoreGlobals();
    this.#state.reset();
    return true;
  }

  #reusableMemory(initialLength: number): Uint8Array | undefined {
    let bytes: Uint8Array;
    try {
      ({ bytes } = this.memory);
    } catch (error) {
      // A cancelled call has grown the memory beyond the limit, and the growth was not counted yet.
      if (error instanceof GuestFault) return undefined;
      throw error;
    }
    const isTooLarge = bytes.length > this.limits.reusedPagesMax * PAGE_BYTES;
    return isTooLarge || this.#isTooRoomy(bytes.length, initialLength) ? undefined : bytes;
  }

  /** Releases the instance; never call it again. */
  letGo(): void {
    this.lost = true;
    this.share.release(this.exports.memory.buffer.byteLength);
  }

  #isTooRoomy(length: number, initialLength: number): boolean {
    if (length === initialLength) return false;
    const usedBytes = (this.#pages.value as number) * PAGE_BYTES;
    this.#roomyCalls = usedBytes * 2 < length ? this.#roomyCalls + 1 : 0;
    return this.#roomyCalls > ROOMY_CALLS_MAX;
  }

  /** Ends a call that still waits for the host: it reaches no import any more. */
  abandon(): void {
    this.letGo();
    this.#state.reset();
  }

  /** Logs the lines of the call that failed, and returns its abort line and the last of the others. */
  #lastWords(source: string): Pick<GuestFault, 'guestMessage' | 'logLines'> {
    this.#state.phase = PHASE.closed;
    this.#state.hostCallsLeft = 0;
    this.#begin(this.limits.lastWordsFuel);
    try {
      const lines = takeLastLog(this, source);
      const last = lines.at(-1);
      const aborted = last?.message.startsWith(ABORT) === true;
      const others = aborted ? lines.slice(0, -1) : lines;
      for (const line of others) this.#log(line);
      return {
        guestMessage: aborted ? last.message : undefined,
        logLines: lastLogLines(others.map(({ message }) => message)),
      };
    } catch (error) {
      if (asFault(error, false, undefined) instanceof GuestFault)
        return { guestMessage: undefined, logLines: undefined };
      throw error;
    }
  }
}

/** Returns the error for an instance that could not be created: it exceeds its own memory or tables, or the host's. */
function startFailure(error: unknown): unknown {
  const fault = asFault(error, false, undefined);
  if (!(error instanceof RangeError) || fault instanceof GuestFault) return fault;
  return new SvcError(
    'SVC_OVERLOADED',
    'There is no memory for another instance of the module. Lower the limits on instances, or ' +
      'give the host more memory.',
    { cause: error },
  );
}

/** Recognises V8's own message; any other RangeError belongs to the host. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

/**
 * Converts an error that V8 threw for the module into a GuestFault; returns any other error unchanged.
 * `usedUpFuel`: the limit whose fuel is used up, if any.
 */
function asFault(
  error: unknown,
  growthRefused: boolean,
  usedUpFuel: FuelLimit | undefined,
): unknown {
  if (error instanceof GuestFault) return error;
  if (usedUpFuel !== undefined) return usedUp(usedUpFuel, error);
  const cause = { cause: error, frames: trapFrames(error) };
  if (isStackOverflow(error))
    return new GuestFault('stack', 'The module used up its stack.', { ...cause, limit: 'stack' });
  if (error instanceof WebAssembly.RuntimeError)
    return growthRefused
      ? new GuestFault('memory', 'The module trapped after its memory could not grow.', {
          ...cause,
          limit: 'memory',
        })
      : new GuestFault('trap', `The module trapped: ${error.message}.`, cause);
  // V8 throws this error when an import that may suspend is called while no handler runs: in the start, in realloc.
  if (error instanceof WebAssembly.SuspendError)
    return new GuestFault('trap', 'The module called the host where it may not be called.', cause);
  return error;
}
