// HandlerExport: an export that serves calls which may reach the host: `http.handle`, `consumer.handle`. It says how an
// input is lowered and an outcome lifted; the pool runs it.
import type { HostCalls } from '@svc/model/guest';
import type { CallContext } from '@svc/model/call';
import type { CoreExports, Handler } from '../binary/core-interface.ts';
import type { GuestMemory } from '../binding/guest-memory.ts';
import type { ModuleInstance } from './module-instance.ts';

export interface HandlerExport<Input, Outcome> {
  /** Returns the function; the module was admitted with it. */
  function(exports: CoreExports): Handler;
  /** Lowers the context and the input, and calls the function, either as it is or as `waitingHandler` wraps it. */
  call<Result>(
    memory: GuestMemory,
    handler: (...parameters: Parameters<Handler>) => Result,
    context: CallContext,
    input: Input,
  ): Result;
  /** Lifts the outcome that lies at `result`. */
  lift(memory: GuestMemory, result: number): Outcome;
  postReturn(exports: CoreExports): ((result: number) => void) | undefined;
}

export type WaitingHandler = (...parameters: Parameters<Handler>) => Promise<number>;

/** Wraps the handler as a call that may suspend. Call it once per instance. */
export function waitingHandler<Input, Outcome>(
  exported: HandlerExport<Input, Outcome>,
  instance: ModuleInstance,
): WaitingHandler {
  return WebAssembly.promising(exported.function(instance.exports));
}

/** Begins a handler's call. Pass what it throws or rejects with to `ModuleInstance.fail`. */
export function beginCall<Input, Outcome>(
  exported: HandlerExport<Input, Outcome>,
  instance: ModuleInstance,
  handler: WaitingHandler,
  { context, input, calls }: HandlerCall<Input>,
): Promise<number> {
  instance.beginHandler(context, calls);
  return exported.call(instance.memory, handler, context, input);
}

/** Ends the call. `result`: the handler's result. Throws the error that `ModuleInstance.fail` returns. */
export function endCall<Input, Outcome>(
  exported: HandlerExport<Input, Outcome>,
  instance: ModuleInstance,
  result: number,
  source: string,
): Outcome {
  try {
    instance.returned();
    const outcome = exported.lift(instance.memory, result);
    instance.release(exported.postReturn(instance.exports), result);
    instance.settle(source);
    return outcome;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

/** A call of a handler. */
export interface HandlerCall<Input> {
  readonly context: CallContext;
  readonly input: Input;
  readonly calls: HostCalls;
  /** Index of the handler among those of the export. */
  readonly handler: number;
  /** Name of the handler in the log. */
  readonly source: string;
}
