// The imports of a module: clock, journal, routing, and the intrinsics of its own resource. The first three may be
// called only in the phases that allow them. In an instance that can suspend, `call` and `read` suspend the module's
// stack while the host waits. In an instance that cannot, `call` returns at once or throws MustWait, and `read`
// always throws MustWait.
//
// Invariant: the clock of a call reports the call's own time, and advances only where the module has waited
// for the host. So it measures the work of host and module together, and never the module's alone.
import assert from 'node:assert/strict';
import type { HostCalls } from '../../../engine/needs/guest.ts';
import type { Awaitable, Refusal, Reply } from '../../../model/call.ts';
import { type CallFailureWord, callFailure, readFailure } from '../../../model/call-failure.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { type CallState, PHASE } from './call-state.ts';
import { REFUSAL_SIZE, liftPairs, storeEvent, storeRefusal } from './canonical-values.ts';
import type { CoreExports, CoreInterface } from '../binary/core-interface.ts';
import { payFuel } from './fuel.ts';
import type { GuestMemory } from './guest-memory.ts';

/** Parts of an instance that its imports use; the instance exists only after its imports. */
export interface ImportTarget {
  readonly state: CallState;
  memory: GuestMemory | undefined;
  exports: CoreExports | undefined;
  fuel: WebAssembly.Global | undefined;
}

type RecordedEvents = Awaited<ReturnType<HostCalls['readEvents']>>;

/** Maximum number of events of one read. */
const EVENTS_MAX = 1000;
/** Size of `result<string, call-error>`. Offsets: tag 0, string 4; or case of the error 4, its payload 8. */
const CALL_RESULT_SIZE = 8 + REFUSAL_SIZE;
const CALL_ERROR = { refused: 0, denied: 1, unavailable: 2, timedOut: 3, other: 4 } as const;
const CASE_OF_WORD: Readonly<Record<CallFailureWord, number>> = {
  DENIED: CALL_ERROR.denied,
  UNAVAILABLE: CALL_ERROR.unavailable,
  TIMED_OUT: CALL_ERROR.timedOut,
  INTERNAL: CALL_ERROR.other,
};
const CLOCK_HELP =
  ' Commands, queries and handlers have the time, a fold has none: put it into the event.';
/** Size of `recorded-event`, aligned to 8. Offsets: seq 0, time-ms 8, event 16. */
const RECORDED_EVENT_SIZE = 32;

/**
 * Stack that the host's own part of a call needs; each item takes eight bytes. A handler that cannot suspend runs on
 * the host's stack: if it recurses until almost nothing is left, the stack would overflow in the middle of the host's
 * code. A handler that can suspend has a stack of its own.
 */
const STACK_NEEDED = Array.from({ length: 512 }, () => 0);

/** Thrown through a handler that cannot suspend and would have to wait. */
export class MustWait extends Error {}

/** One shared error without a useful stack trace: nobody reads it, and capturing it costs more than the call. */
const MUST_WAIT = new MustWait();

/** Creates the import object. It has no prototype, so it contains only the names listed here. */
export function createImports(
  target: ImportTarget,
  world: CoreInterface,
  suspending: boolean,
): object {
  const { state } = target;
  return bare({
    [world.clock]: bare({
      'now-ms': () => {
        state.enter('clock.now-ms', state.phase !== PHASE.closed, CLOCK_HELP);
        return state.nowMs;
      },
    }),
    [world.journal]: bare({
      read: suspending
        ? new WebAssembly.Suspending(readJournal.bind(undefined, target))
        : () => {
            state.enter('journal.read', state.phase === PHASE.handler);
            throw MUST_WAIT;
          },
    }),
    [world.routing]: bare({
      call: suspending
        ? new WebAssembly.Suspending(callEntity.bind(undefined, target, callAndWait))
        : callEntity.bind(undefined, target, callAtOnce),
    }),
    [world.entityResource]: bare({
      '[resource-new]instance': (rep: number) => {
        state.enter('resource-new', target.exports !== undefined);
        return state.newHandle(rep);
      },
      '[resource-rep]instance': (handle: number) => {
        state.enter('resource-rep', target.exports !== undefined);
        return state.repOf(handle);
      },
      '[resource-drop]instance': (handle: number) => {
        state.enter('resource-drop', target.exports !== undefined);
        dropResource(target, state.takeHandle(handle));
      },
    }),
  });
}

function bare<T extends object>(properties: T): T {
  return Object.assign(Object.create(null) as T, properties);
}

/** Runs the destructor of a resource that the module itself drops, in the phase `closed`. */
function dropResource({ state, exports }: ImportTarget, rep: number): void {
  const { phase } = state;
  state.phase = PHASE.closed;
  exports?.destroy?.(rep);
  state.phase = phase;
}

/** Starts a handler's call of the host, and returns the memory and the host functions that the call uses. */
function entered({ state, memory }: ImportTarget): { memory: GuestMemory; calls: HostCalls } {
  const { calls } = state;
  assert(memory !== undefined && calls !== undefined);
  memory.beginLifting();
  return { memory, calls };
}

/** Pays for the bytes that the host lifted and lowered for a call. */
function payForMoving({ fuel, memory }: ImportTarget): void {
  assert(fuel !== undefined && memory !== undefined);
  payFuel(fuel, memory.takeMovedBytes(), 'handler-fuel');
}

/**
 * Advances the clock after a wait, and returns the memory. Throws if the instance was closed meanwhile: its handler
 * must not continue.
 */
function waited({ state, memory }: ImportTarget): GuestMemory {
  if (memory === undefined || state.calls === undefined)
    throw new GuestFault('trap', 'The module was closed.');
  state.nowMs = BigInt(state.calls.nowMs());
  return memory;
}

/** Function through which a call reaches the host. */
type Caller = (
  calls: HostCalls,
  ...call: Parameters<HostCalls['call']>
) => Awaitable<Reply | Refusal>;

const callAndWait: Caller = (calls, ...call) => calls.call(...call);

const callAtOnce: Caller = (calls, target, name, input, metadata, key) => {
  if (!hasStack()) throw MUST_WAIT;
  const answer = calls.speculate?.(target, name, input, metadata, key);
  if (answer === undefined) throw MUST_WAIT;
  return answer;
};

/**
 * Returns whether the host's part of a call fits the stack: parameters are pushed on it, which throws if it is full.
 */
function hasStack(): boolean {
  try {
    Reflect.apply(nothing, undefined, STACK_NEEDED);
    return true;
  } catch {
    return false;
  }
}

function nothing(): void {}

function callEntity(
  target: ImportTarget,
  caller: Caller,
  component: number,
  componentLength: number,
  id: number,
  idLength: number,
  name: number,
  nameLength: number,
  input: number,
  inputLength: number,
  metadata: number,
  metadataLength: number,
  hasKey: number,
  key: number,
  keyLength: number,
  result: number,
): Awaitable<void> {
  target.state.enterComponentCall();
  const { memory, calls } = entered(target);
  const address = memory.record(result, CALL_RESULT_SIZE, 4);
  const entity = {
    component: memory.string(component, componentLength),
    id: memory.string(id, idLength),
  };
  if (hasKey !== 0 && hasKey !== 1)
    throw new GuestFault('value', 'The module passed a wrong tag of an option.');
  const nameText = memory.string(name, nameLength);
  const inputText = memory.string(input, inputLength);
  const pairs = liftPairs(memory, metadata, metadataLength);
  const keyText = hasKey === 1 ? memory.string(key, keyLength) : undefined;
  payForMoving(target);
  let outcome: Awaitable<Reply | Refusal>;
  try {
    outcome = caller(calls, entity, nameText, inputText, pairs, keyText);
  } catch (error) {
    if (error instanceof MustWait) throw error;
    storeCallFailure(memory, address, error);
    return;
  }
  if (!(outcome instanceof Promise)) {
    storeOutcome(memory, address, outcome);
    payForMoving(target);
    return;
  }
  return outcome.then(
    (settled) => {
      storeOutcome(waited(target), address, settled);
      payForMoving(target);
    },
    (error: unknown) => storeCallFailure(waited(target), address, error),
  );
}

function storeOutcome(memory: GuestMemory, address: number, outcome: Reply | Refusal): void {
  if (outcome.kind === 'reply') {
    memory.storeU8(address, 0);
    memory.storeString(address + 4, outcome.json);
    return;
  }
  memory.storeU8(address, 1);
  memory.storeU8(address + 4, CALL_ERROR.refused);
  storeRefusal(memory, address + 8, outcome);
}

function storeCallFailure(memory: GuestMemory, address: number, error: unknown): void {
  const failure = callFailure(error);
  if (failure === undefined) throw error;
  const kind = CASE_OF_WORD[failure.word];
  memory.storeU8(address, 1);
  memory.storeU8(address + 4, kind);
  if (kind !== CALL_ERROR.timedOut) memory.storeString(address + 8, failure.text);
}

function readJournal(
  target: ImportTarget,
  component: number,
  componentLength: number,
  id: number,
  idLength: number,
  afterSeq: bigint,
  limit: number,
  result: number,
): Awaitable<void> {
  target.state.enter('journal.read', target.state.phase === PHASE.handler);
  const { memory, calls } = entered(target);
  // Offsets in `result<list<recorded-event>, string>`: tag 0, list or string 4.
  const address = memory.record(result, 12, 4);
  const entity = {
    component: memory.string(component, componentLength),
    id: memory.string(id, idLength),
  };
  payForMoving(target);
  const count = limit >>> 0;
  if (count < 1 || count > EVENTS_MAX) {
    storeReadFailure(memory, address, `the limit must be 1 to ${EVENTS_MAX}`);
    return;
  }
  const after = Math.min(Number(BigInt.asUintN(64, afterSeq)), Number.MAX_SAFE_INTEGER);
  let events: Awaitable<RecordedEvents>;
  try {
    events = calls.readEvents(entity, after, count);
  } catch (error) {
    storeReadFailure(memory, address, readError(error));
    return;
  }
  if (!(events instanceof Promise)) {
    storeEvents(memory, address, events);
    payForMoving(target);
    return;
  }
  return events.then(
    (settled) => {
      storeEvents(waited(target), address, settled);
      payForMoving(target);
    },
    (error: unknown) => storeReadFailure(waited(target), address, readError(error)),
  );
}

function storeEvents(memory: GuestMemory, address: number, events: RecordedEvents): void {
  let item = memory.allocateList(events.length, RECORDED_EVENT_SIZE, 8);
  memory.storeU8(address, 0);
  memory.storeU32(address + 4, item);
  memory.storeU32(address + 8, events.length);
  for (const { seq, timeMs, event } of events) {
    memory.storeU64(item, BigInt(seq));
    memory.storeU64(item + 8, BigInt(timeMs));
    storeEvent(memory, item + 16, event);
    item += RECORDED_EVENT_SIZE;
  }
}

function storeReadFailure(memory: GuestMemory, address: number, message: string): void {
  memory.storeU8(address, 1);
  memory.storeString(address + 4, message);
}

/** Returns the error's text for the module, or throws an error that the module must not see. */
function readError(error: unknown): string {
  const failure = readFailure(error);
  if (failure === undefined) throw error;
  return failure.text;
}
