// HostCall: what the imports of a handler share: entering the host, paying for the bytes that a call moves, and the state
// after a wait.
//
// Invariant: the clock of a call reports the call's own time, and advances only where the module has waited
// for the host. So it measures the work of host and module together, and never the module's alone.
import assert from 'node:assert/strict';
import type { HostCalls } from '@svc/model/guest';
import type { Awaitable } from '@svc/model/call';
import { type CallFailureWord, callFailure } from '@svc/model/call-failure';
import { GuestFault } from '@svc/model/guest-fault';
import type { CoreExports } from '../binary/core-interface.ts';
import type { CallState } from './call-state.ts';
import { REFUSAL_SIZE } from './canonical-values.ts';
import { payFuel } from './fuel.ts';
import type { GuestMemory } from './guest-memory.ts';

/** Parts of an instance that its imports use; the instance exists only after its imports. */
export interface ImportTarget {
  readonly state: CallState;
  memory: GuestMemory | undefined;
  exports: CoreExports | undefined;
  fuel: WebAssembly.Global | undefined;
}

/** Size of `call-error`, aligned to 4: case 0, payload 4. */
export const CALL_ERROR_SIZE = 4 + REFUSAL_SIZE;
export const CALL_ERROR = { refused: 0, denied: 1, unavailable: 2, timedOut: 3, other: 4 } as const;
const CASE_OF_WORD: Readonly<Record<CallFailureWord, number>> = {
  DENIED: CALL_ERROR.denied,
  UNAVAILABLE: CALL_ERROR.unavailable,
  TIMED_OUT: CALL_ERROR.timedOut,
  INTERNAL: CALL_ERROR.other,
};

/** Thrown through a handler that cannot suspend and would have to wait. */
export class MustWait extends Error {}

/** One shared error without a useful stack trace: nobody reads it, and capturing it costs more than the call. */
export const MUST_WAIT = new MustWait();

/**
 * Stack that the host's own part of a call needs; each item takes eight bytes. A handler that cannot suspend runs on
 * the host's stack: if it recurses until almost nothing is left, the stack would overflow in the middle of the host's
 * code. A handler that can suspend has a stack of its own.
 */
const STACK_NEEDED = Array.from({ length: 512 }, () => 0);

/**
 * Returns whether the host's part of a call fits the stack: parameters are pushed on it, which throws if it is full.
 */
export function hasStack(): boolean {
  try {
    Reflect.apply(nothing, undefined, STACK_NEEDED);
    return true;
  } catch {
    return false;
  }
}

function nothing(): void {}

/** Starts a handler's call of the host, and returns the memory and the host functions that the call uses. */
export function entered({ state, memory }: ImportTarget): {
  memory: GuestMemory;
  calls: HostCalls;
} {
  const { calls } = state;
  assert(memory !== undefined && calls !== undefined);
  memory.beginLifting();
  return { memory, calls };
}

/** Pays for the bytes that the host lifted and lowered for a call. */
export function payForMoving({ fuel, memory }: ImportTarget): void {
  assert(fuel !== undefined && memory !== undefined);
  payFuel(fuel, memory.takeMovedBytes(), 'handler-fuel');
}

/**
 * Advances the clock after a wait, and returns the memory. Throws if the instance was closed meanwhile: its handler
 * must not continue.
 */
export function waited({ state, memory }: ImportTarget): GuestMemory {
  if (memory === undefined || state.calls === undefined)
    throw new GuestFault('trap', 'The module was closed.');
  state.nowMs = BigInt(state.calls.nowMs());
  return memory;
}

/**
 * Makes a call of the host, and stores its outcome by `store`, or its failure by `storeFailure`, at once or after the
 * wait. `storeFailure` throws an error that the module must not see.
 */
export function settled<Outcome>(
  target: ImportTarget,
  memory: GuestMemory,
  call: () => Awaitable<Outcome>,
  store: (memory: GuestMemory, outcome: Outcome) => void,
  storeFailure: (memory: GuestMemory, error: unknown) => void,
): Awaitable<void> {
  let outcome: Awaitable<Outcome>;
  try {
    outcome = call();
  } catch (error) {
    storeFailure(memory, error);
    return;
  }
  if (!(outcome instanceof Promise)) {
    store(memory, outcome);
    payForMoving(target);
    return;
  }
  return outcome.then(
    (value) => {
      store(waited(target), value);
      payForMoving(target);
    },
    (error: unknown) => storeFailure(waited(target), error),
  );
}

/** Stores the `call-error` of a call that has failed, or throws an error that the module must not see. */
export function storeCallError(memory: GuestMemory, address: number, error: unknown): void {
  const failure = callFailure(error);
  if (failure === undefined) throw error;
  const kind = CASE_OF_WORD[failure.word];
  memory.storeU8(address, kind);
  if (kind !== CALL_ERROR.timedOut) memory.storeString(address + 4, failure.text);
}
