// Lifts and lowers the types that several interfaces of wit/runtime.wit share: refusals, stored
// events, and lists of names and values. Offsets are those of the canonical ABI.
import { REFUSAL_CODES } from '@svc/contract';
import type { Refusal } from '@svc/model/call';
import type { EntityEvent, StoredEvent } from '@svc/model/entity';
import { type GuestMemory, badValue } from './guest-memory.ts';

/** Number of cases of the variant `code` before `other`: those that the contract names, in its order. */
const OTHER_CODE = REFUSAL_CODES.length;
const CODE_CASES = OTHER_CODE + 1;

/** Size of `refusal`, aligned to 4: code 0 (its text at 4), message 12, details 20 (its text at 24). */
export const REFUSAL_SIZE = 32;

export function liftRefusal(memory: GuestMemory, address: number): Refusal {
  const code = memory.tag(address, CODE_CASES);
  const message = memory.stringAt(address + 12);
  const details =
    memory.tag(address + 20, 2) === 1 ? { details: memory.stringAt(address + 24) } : {};
  return code === OTHER_CODE
    ? {
        kind: 'refusal',
        code: 'OTHER',
        otherCode: memory.stringAt(address + 4),
        message,
        ...details,
      }
    : { kind: 'refusal', code: REFUSAL_CODES[code]!, message, ...details };
}

export function storeRefusal(memory: GuestMemory, address: number, refusal: Refusal): void {
  if (refusal.code === 'OTHER') {
    memory.storeU8(address, OTHER_CODE);
    memory.storeString(address + 4, refusal.otherCode ?? '');
  } else {
    memory.storeU8(address, REFUSAL_CODES.indexOf(refusal.code));
  }
  memory.storeString(address + 12, refusal.message);
  memory.storeU8(address + 20, refusal.details === undefined ? 0 : 1);
  if (refusal.details !== undefined) memory.storeString(address + 24, refusal.details);
}

/** Returns whether an option whose tag was passed as a parameter has a value. */
export function liftOption(tag: number): boolean {
  if (tag !== 0 && tag !== 1) throw badValue('a wrong tag of an option');
  return tag === 1;
}

const PAIR_SIZE = 16;
type Pairs = readonly (readonly [name: string, value: string])[];

/** Returns the list's address and sets `loweredLength`. */
export function lowerPairs(memory: GuestMemory, pairs: Pairs): number {
  const start = memory.allocateList(pairs.length, PAIR_SIZE, 4);
  let address = start;
  for (const [name, value] of pairs) {
    memory.storeString(address, name);
    memory.storeString(address + 8, value);
    address += PAIR_SIZE;
  }
  memory.loweredLength = pairs.length;
  return start;
}

export function liftPairs(memory: GuestMemory, pointer: number, length: number): Pairs {
  const pairs: [string, string][] = [];
  let address = memory.list(pointer, length, PAIR_SIZE, 4);
  for (let left = length >>> 0; left > 0; left--) {
    pairs.push([memory.stringAt(address), memory.stringAt(address + 8)]);
    address += PAIR_SIZE;
  }
  return pairs;
}

/** Returns the list's address and sets `loweredLength`. */
export function lowerStrings(memory: GuestMemory, texts: readonly string[]): number {
  const start = memory.allocateList(texts.length, 8, 4);
  let address = start;
  for (const text of texts) {
    memory.storeString(address, text);
    address += 8;
  }
  memory.loweredLength = texts.length;
  return start;
}

/** Size of `stored-event`, aligned to 4: manifest 0, json 8. */
const EVENT_SIZE = 16;

export function storeEvent(memory: GuestMemory, address: number, event: StoredEvent): void {
  memory.storeString(address, event.manifest);
  memory.storeString(address + 8, event.json);
}

/** Size of `entity-event`, aligned to 8: entity 0, seq 16, time-ms 24, event 32. */
export const ENTITY_EVENT_SIZE = 48;

export function storeEntityEvent(memory: GuestMemory, address: number, event: EntityEvent): void {
  memory.storeString(address, event.entity.component);
  memory.storeString(address + 8, event.entity.id, false);
  memory.storeU64(address + 16, BigInt(event.seq));
  memory.storeU64(address + 24, BigInt(event.timeMs));
  memory.storeString(address + 32, event.event.manifest);
  memory.storeString(address + 40, event.event.json, false);
}

/**
 * Returns the list's address and sets `loweredLength`. The texts are not cached for repetition: a text may be a slice
 * of a larger string, all of which would then stay in memory.
 */
export function lowerEvents(memory: GuestMemory, events: readonly StoredEvent[]): number {
  const start = memory.allocateList(events.length, EVENT_SIZE, 4);
  let address = start;
  for (const event of events) {
    memory.storeString(address, event.manifest, false);
    memory.storeString(address + 8, event.json, false);
    address += EVENT_SIZE;
  }
  memory.loweredLength = events.length;
  return start;
}

export function liftEvents(memory: GuestMemory, pointer: number, length: number): StoredEvent[] {
  const events: StoredEvent[] = [];
  let address = memory.list(pointer, length, EVENT_SIZE, 4);
  for (let left = length >>> 0; left > 0; left--) {
    events.push({ manifest: memory.stringAt(address), json: memory.stringAt(address + 8) });
    address += EVENT_SIZE;
  }
  return events;
}
