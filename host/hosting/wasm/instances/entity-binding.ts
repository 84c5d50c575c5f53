// The module's export `entity`: lowers the parameters of each function, calls it, and lifts its
// result. Offsets are those of the canonical ABI for wit/runtime.wit.
import { DELETE_ENTITY, NO_ACTIONS } from '@svc/model/call';
import type { CallContext, Effect, Refusal, Reply, Spent } from '@svc/model/call';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import type { TimerChange } from '@svc/model/timer';
import { eventsTooLarge } from '@svc/model/events-too-large';
import { GuestFault } from '@svc/model/guest-fault';
import { PHASE } from '../binding/call-state.ts';
import {
  REFUSAL_SIZE,
  liftEvents,
  liftRefusal,
  lowerEvents,
  lowerPairs,
} from '../binding/canonical-values.ts';
import type { CallInContext } from '../binary/core-interface.ts';
import type { GuestMemory } from '../binding/guest-memory.ts';
import { liftTimerChanges } from '../binding/timer-values.ts';
import type { ModuleInstance } from './module-instance.ts';
import type { WasmLimits } from '../wasm-limits.ts';

/** `result<effect, refusal>` and `result<string, refusal>`: tag 0, payload 4. */
const RESULT_SIZE = 4 + REFUSAL_SIZE;

/** An entity that lives in an instance. */
export interface EntityHandle {
  /** The number by which the module knows the entity. */
  readonly rep: number;
  /** The component, as the log names it. */
  readonly source: string;
}

/** Creates the entity in the instance. */
export function constructEntity(
  instance: ModuleInstance,
  entity: EntityRef,
  snapshot: string | undefined,
  source: string,
): EntityHandle {
  const { exports, memory, limits } = instance;
  instance.begin(PHASE.closed, limits.entityFuel, 'entity-fuel');
  try {
    const component = memory.lowerString(entity.component);
    const componentLength = memory.loweredLength;
    const id = memory.lowerString(entity.id);
    const idLength = memory.loweredLength;
    const text = snapshot === undefined ? 0 : memory.lowerString(snapshot);
    const textLength = snapshot === undefined ? 0 : memory.loweredLength;
    const some = snapshot === undefined ? 0 : 1;
    const handle = exports.construct(
      component,
      componentLength,
      id,
      idLength,
      some,
      text,
      textLength,
    );
    const rep = instance.takeHandle(handle);
    instance.release(exports.constructPost, handle);
    instance.settle(source);
    return { rep, source };
  } catch (error) {
    throw instance.fail(error, source);
  }
}

/** Returns the fuel for folding events in one call. */
export function applyFuel(
  { applyFuelPerEvent: perEvent, applyFuelPerBatch: perBatch }: WasmLimits,
  events: number,
): number {
  return Math.max(perEvent, Math.min(perEvent * events, perBatch));
}

/** Applies events. Returns the module's text about an event that it could not decode; undefined if there is none. */
export function applyEvents(
  instance: ModuleInstance,
  { rep, source }: EntityHandle,
  events: readonly StoredEvent[],
  spent?: Spent,
): string | undefined {
  const { exports, memory, limits } = instance;
  instance.begin(PHASE.closed, applyFuel(limits, events.length), 'apply-fuel', 0n, spent);
  try {
    const list = lowerEvents(memory, events);
    const result = exports.apply(rep, list, events.length);
    // `result<_, string>`: tag 0, string 4.
    const address = memory.record(result, 12, 4);
    const problem = memory.tag(address, 2) === 1 ? memory.stringAt(address + 4) : undefined;
    instance.release(exports.applyPost, result);
    instance.settle(source);
    return problem;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

export function command(
  instance: ModuleInstance,
  { rep, source }: EntityHandle,
  context: CallContext,
  name: string,
  input: string,
): Effect | Refusal {
  const { exports, limits } = instance;
  const nowMs = BigInt(context.nowMs);
  instance.begin(PHASE.command, limits.commandFuel, 'command-fuel', nowMs, context.spent);
  try {
    const result = callInContext(instance, exports.command, rep, context, { name, input });
    const outcome = liftEffect(instance.memory, result, instance.world.hasTimersAndViews);
    instance.release(exports.commandPost, result);
    instance.settle(source);
    return outcome;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

export function query(
  instance: ModuleInstance,
  { rep, source }: EntityHandle,
  context: CallContext,
  name: string,
  input: string,
): Reply | Refusal {
  const { exports, limits } = instance;
  const nowMs = BigInt(context.nowMs);
  instance.begin(PHASE.query, limits.queryFuel, 'query-fuel', nowMs, context.spent);
  try {
    const result = callInContext(instance, exports.query, rep, context, { name, input });
    const outcome = liftReply(instance.memory, result);
    instance.release(exports.queryPost, result);
    instance.settle(source);
    return outcome;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

export function takeSnapshot(instance: ModuleInstance, { rep, source }: EntityHandle): string {
  const { exports, memory, limits } = instance;
  instance.begin(PHASE.closed, limits.entityFuel, 'entity-fuel');
  try {
    const result = exports.snapshot(rep);
    const text = memory.stringAt(memory.record(result, 8, 4));
    instance.release(exports.snapshotPost, result);
    instance.settle(source);
    return text;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

export function destroyEntity(instance: ModuleInstance, { rep, source }: EntityHandle): void {
  instance.begin(PHASE.closed, instance.limits.entityFuel, 'entity-fuel');
  try {
    instance.exports.destroy?.(rep);
    instance.settle(source);
  } catch (error) {
    throw instance.fail(error, source);
  }
}

/** Calls the export, closes the phase, and returns the pointer to the result. */
function callInContext(
  instance: ModuleInstance,
  call: CallInContext,
  rep: number,
  context: CallContext,
  { name, input }: { readonly name: string; readonly input: string },
): number {
  const { memory } = instance;
  const metadata = lowerPairs(memory, context.metadata);
  const metadataLength = memory.loweredLength;
  const namePointer = memory.lowerString(name);
  const nameLength = memory.loweredLength;
  const inputPointer = memory.lowerString(input);
  const inputLength = memory.loweredLength;
  const result = call(
    rep,
    BigInt(context.nowMs),
    context.seed,
    metadata,
    metadataLength,
    namePointer,
    nameLength,
    inputPointer,
    inputLength,
  );
  instance.returned();
  return result;
}

/** `effect`: events 0, delete-entity 8, reply 12, and where effects have timers: timers 20. */
function liftEffect(memory: GuestMemory, result: number, hasTimers: boolean): Effect | Refusal {
  const address = memory.record(result, RESULT_SIZE, 4);
  if (memory.tag(address, 2) === 1) return liftRefusal(memory, address + 4);
  const events = eventsAt(memory, address + 4);
  if (!Array.isArray(events)) return events;
  const actions = memory.bool(address + 12) ? DELETE_ENTITY : NO_ACTIONS;
  const reply = memory.stringAt(address + 16);
  if (!hasTimers || memory.u32(address + 28) === 0)
    return { kind: 'effect', events, actions, reply };
  const timers = timersAt(memory, address + 24);
  return Array.isArray(timers) ? { kind: 'effect', events, actions, reply, timers } : timers;
}

/** Lifts the events whose list lies at `address`, or returns a refusal if they are too large. */
function eventsAt(memory: GuestMemory, address: number): StoredEvent[] | Refusal {
  try {
    return liftEvents(memory, memory.u32(address), memory.u32(address + 4));
  } catch (error) {
    return tooLarge(error);
  }
}

/** Lifts the changes of timers whose list lies at `address`, or returns a refusal if they are too large. */
function timersAt(memory: GuestMemory, address: number): TimerChange[] | Refusal {
  try {
    return liftTimerChanges(memory, memory.u32(address), memory.u32(address + 4));
  } catch (error) {
    return tooLarge(error);
  }
}

/**
 * Returns a refusal for a limit that lifting has met, and throws any other error. A fault would lose the other entities of
 * the instance too. Lifting has not changed the module's memory, so a refusal suffices.
 */
function tooLarge(error: unknown): Refusal {
  if (error instanceof GuestFault && error.faultCause === 'limit')
    return eventsTooLarge('it is more than a module may pass on in one call');
  throw error;
}

function liftReply(memory: GuestMemory, result: number): Reply | Refusal {
  const address = memory.record(result, RESULT_SIZE, 4);
  if (memory.tag(address, 2) === 1) return liftRefusal(memory, address + 4);
  return { kind: 'reply', json: memory.stringAt(address + 4) };
}
