// The module's export `view`: lowers events and rows, calls `keys` and `fold`, and lifts their results. Offsets are those of
// the canonical ABI for wit/runtime.wit.
import type { Spent } from '@svc/model/call';
import type { EntityEvent } from '@svc/model/entity';
import type { KeyedEvent, RowState } from '@svc/model/view';
import { PHASE } from '../binding/call-state.ts';
import { ENTITY_EVENT_SIZE, storeEntityEvent } from '../binding/canonical-values.ts';
import { type GuestMemory, badValue } from '../binding/guest-memory.ts';
import { applyFuel } from './entity-binding.ts';
import type { ModuleInstance } from './module-instance.ts';

/** Size of `keyed-event`, aligned to 8: event 0, rows 48. */
const KEYED_EVENT_SIZE = ENTITY_EVENT_SIZE + 8;
/** Size of `row`, aligned to 4: key 0, json 8 (its text 12). */
const ROW_SIZE = 20;
/** Size of `result<list<…>, string>`, aligned to 4: tag 0, list or text 4. */
const RESULT_SIZE = 12;
const STRING_SIZE = 8;
const U32_SIZE = 4;

/** A call of one of the functions of `view`. */
export interface ViewCall {
  readonly view: string;
  /** Name of the view in the log. */
  readonly source: string;
  readonly spent: Spent | undefined;
}

/** Does what `GuestViews.keys` does. */
export function viewKeys(
  instance: ModuleInstance,
  { view, source, spent }: ViewCall,
  events: readonly EntityEvent[],
): string[][] | string {
  const { memory, limits, exports } = instance;
  instance.begin(PHASE.closed, applyFuel(limits, events.length), 'apply-fuel', 0n, spent);
  try {
    const name = memory.lowerString(view);
    const nameLength = memory.loweredLength;
    const list = lowerEntityEvents(memory, events);
    const result = exports.keys!(name, nameLength, list, events.length);
    const keys = lifted(memory, result, (pointer, length) => liftKeys(memory, pointer, length));
    if (typeof keys !== 'string' && keys.length !== events.length)
      throw badValue(`keys of ${keys.length} events for ${events.length}`);
    instance.release(exports.keysPost, result);
    instance.settle(source);
    return keys;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

/** Does what `GuestViews.fold` does. */
export function foldView(
  instance: ModuleInstance,
  { view, source, spent }: ViewCall,
  rows: readonly RowState[],
  events: readonly KeyedEvent[],
): RowState[] | string {
  const { memory, limits, exports } = instance;
  instance.begin(PHASE.closed, applyFuel(limits, events.length), 'apply-fuel', 0n, spent);
  try {
    const name = memory.lowerString(view);
    const nameLength = memory.loweredLength;
    const rowList = lowerRows(memory, rows);
    const eventList = lowerKeyedEvents(memory, events);
    const result = exports.fold!(name, nameLength, rowList, rows.length, eventList, events.length);
    const changed = lifted(memory, result, (pointer, length) => liftRows(memory, pointer, length));
    if (typeof changed !== 'string') checkKeys(changed, rows);
    instance.release(exports.foldPost, result);
    instance.settle(source);
    return changed;
  } catch (error) {
    throw instance.fail(error, source);
  }
}

/** Throws unless each changed row has the key of a given one, and none comes twice. */
function checkKeys(changed: readonly RowState[], rows: readonly RowState[]): void {
  const given = new Set(rows.map(({ key }) => key));
  for (const { key } of changed)
    if (!given.delete(key)) throw badValue('a row twice, or of a key that it was not given');
}

function lowerEntityEvents(memory: GuestMemory, events: readonly EntityEvent[]): number {
  const start = memory.allocateList(events.length, ENTITY_EVENT_SIZE, 8);
  let address = start;
  for (const event of events) {
    storeEntityEvent(memory, address, event);
    address += ENTITY_EVENT_SIZE;
  }
  return start;
}

function lowerKeyedEvents(memory: GuestMemory, events: readonly KeyedEvent[]): number {
  const start = memory.allocateList(events.length, KEYED_EVENT_SIZE, 8);
  let address = start;
  for (const { event, rows } of events) {
    storeEntityEvent(memory, address, event);
    const list = memory.allocateList(rows.length, U32_SIZE, 4);
    for (const [at, row] of rows.entries()) memory.storeU32(list + at * U32_SIZE, row);
    memory.storeU32(address + ENTITY_EVENT_SIZE, list);
    memory.storeU32(address + ENTITY_EVENT_SIZE + 4, rows.length);
    address += KEYED_EVENT_SIZE;
  }
  return start;
}

function lowerRows(memory: GuestMemory, rows: readonly RowState[]): number {
  const start = memory.allocateList(rows.length, ROW_SIZE, 4);
  let address = start;
  for (const { key, json } of rows) {
    memory.storeString(address, key);
    memory.storeU8(address + 8, json === undefined ? 0 : 1);
    if (json !== undefined) memory.storeString(address + 12, json, false);
    address += ROW_SIZE;
  }
  return start;
}

/** Lifts the list of a result, or the text of its error. */
function lifted<Item>(
  memory: GuestMemory,
  result: number,
  list: (pointer: number, length: number) => Item[],
): Item[] | string {
  memory.beginLifting();
  const address = memory.record(result, RESULT_SIZE, 4);
  if (memory.tag(address, 2) === 1) return memory.stringAt(address + 4);
  return list(memory.u32(address + 4), memory.u32(address + 8));
}

function liftKeys(memory: GuestMemory, pointer: number, length: number): string[][] {
  const keys: string[][] = [];
  let address = memory.list(pointer, length, STRING_SIZE, 4);
  for (let left = length >>> 0; left > 0; left--) {
    keys.push(liftStrings(memory, memory.u32(address), memory.u32(address + 4)));
    address += STRING_SIZE;
  }
  return keys;
}

function liftStrings(memory: GuestMemory, pointer: number, length: number): string[] {
  const texts: string[] = [];
  let address = memory.list(pointer, length, STRING_SIZE, 4);
  for (let left = length >>> 0; left > 0; left--) {
    texts.push(memory.stringAt(address));
    address += STRING_SIZE;
  }
  return texts;
}

function liftRows(memory: GuestMemory, pointer: number, length: number): RowState[] {
  const rows: RowState[] = [];
  let address = memory.list(pointer, length, ROW_SIZE, 4);
  for (let left = length >>> 0; left > 0; left--) {
    const key = memory.stringAt(address);
    const json = memory.tag(address + 8, 2) === 1 ? memory.stringAt(address + 12) : undefined;
    rows.push({ key, json });
    address += ROW_SIZE;
  }
  return rows;
}
