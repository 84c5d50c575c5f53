// The imports `journal.read` and `journal.find`: pages of recorded events, and of the rows of views.
import type { HostCalls } from '@svc/model/guest';
import { type Awaitable, type Refusal, refusal } from '@svc/model/call';
import { readFailure } from '@svc/model/call-failure';
import { GuestFault } from '@svc/model/guest-fault';
import type { RowPage } from '@svc/model/view';
import { printable } from '../binary/printable.ts';
import { liftOption, lowerStrings, storeEvent, storeRefusal } from './canonical-values.ts';
import type { GuestMemory } from './guest-memory.ts';
import {
  CALL_ERROR,
  type ImportTarget,
  MUST_WAIT,
  entered,
  hasStack,
  payForMoving,
  settled,
  storeCallError,
} from './host-call.ts';

type RecordedEvents = Awaited<ReturnType<HostCalls['readEvents']>>;

/** Maximum number of events, or of rows, of one call. */
const PAGE_MAX = 1000;
/** Size of `recorded-event`, aligned to 8. Offsets: seq 0, time-ms 8, event 16. */
const RECORDED_EVENT_SIZE = 32;
/**
 * Size of `result<page, call-error>`, aligned to 8: tag 0, page or error 8. Offsets in the page: rows 0, cursor 8 (its
 * text 12), as-of-ms 24 (its value 32).
 */
const FIND_RESULT_SIZE = 48;

export function readJournal(
  target: ImportTarget,
  component: number,
  componentLength: number,
  id: number,
  idLength: number,
  afterSeq: bigint,
  limit: number,
  result: number,
): Awaitable<void> {
  target.state.enterHandlerCall('journal.read');
  const { memory, calls } = entered(target);
  // Offsets in `result<list<recorded-event>, string>`: tag 0, list or string 4.
  const address = memory.record(result, 12, 4);
  const entity = {
    component: memory.string(component, componentLength),
    id: memory.string(id, idLength),
  };
  payForMoving(target);
  const count = limit >>> 0;
  if (count < 1 || count > PAGE_MAX) {
    storeReadFailure(memory, address, `the limit must be 1 to ${PAGE_MAX}`);
    return;
  }
  const after = Math.min(Number(BigInt.asUintN(64, afterSeq)), Number.MAX_SAFE_INTEGER);
  return settled(
    target,
    memory,
    () => calls.readEvents(entity, after, count),
    (present, events) => storeEvents(present, address, events),
    (present, error) => storeReadFailure(present, address, readError(error)),
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

type Find = NonNullable<HostCalls['find']>;
/** Function through which a query reaches the host; undefined: the service has no views. */
type Finder = (calls: HostCalls) => Find | undefined;

export const findAndWait: Finder = ({ find }) => find;

export const findAtOnce: Finder = ({ find, findAtOnce: atOnce }) =>
  find &&
  ((...query) => {
    if (!hasStack()) throw MUST_WAIT;
    const page = atOnce?.(...query);
    if (page === undefined) throw MUST_WAIT;
    return page;
  });

export function findRows(
  target: ImportTarget,
  finder: Finder,
  view: number,
  viewLength: number,
  query: number,
  queryLength: number,
  input: number,
  inputLength: number,
  limit: number,
  hasCursor: number,
  cursor: number,
  cursorLength: number,
  result: number,
): Awaitable<void> {
  target.state.enterHandlerCall('journal.find');
  const { memory, calls } = entered(target);
  const address = memory.record(result, FIND_RESULT_SIZE, 8);
  const viewText = memory.string(view, viewLength);
  const queryText = memory.string(query, queryLength);
  const inputText = memory.string(input, inputLength);
  const cursorText = liftOption(hasCursor) ? memory.string(cursor, cursorLength) : undefined;
  payForMoving(target);
  const count = limit >>> 0;
  if (count < 1 || count > PAGE_MAX) {
    storePage(memory, address, refusal('BAD_REQUEST', `the limit must be 1 to ${PAGE_MAX}`));
    return;
  }
  const find = finder(calls);
  // An error would pass for an answer to whoever has sent the request.
  if (find === undefined)
    throw new GuestFault(
      'value',
      `The module queries the view '${printable(viewText, 100)}', and registers no view.`,
    );
  return settled(
    target,
    memory,
    () => find(viewText, queryText, inputText, count, cursorText),
    (present, outcome) => storePage(present, address, outcome),
    (present, error) => {
      storeCallError(present, address + 8, error);
      present.storeU8(address, 1);
    },
  );
}

/** Stores the page or the refusal. Throws a GuestFault for a view or a query that the module does not declare. */
function storePage(memory: GuestMemory, address: number, outcome: RowPage | Refusal): void {
  if ('kind' in outcome) {
    if (outcome.code === 'NOT_FOUND')
      throw new GuestFault(
        'value',
        `The module queries what it does not have: ${outcome.message}.`,
      );
    memory.storeU8(address, 1);
    memory.storeU8(address + 8, CALL_ERROR.refused);
    storeRefusal(memory, address + 12, outcome);
    return;
  }
  const { rows, cursor, asOfMs } = outcome;
  const list = lowerStrings(memory, rows);
  memory.storeU8(address, 0);
  memory.storeU32(address + 8, list);
  memory.storeU32(address + 12, rows.length);
  memory.storeU8(address + 16, cursor === undefined ? 0 : 1);
  if (cursor !== undefined) memory.storeString(address + 20, cursor);
  memory.storeU8(address + 32, asOfMs === undefined ? 0 : 1);
  if (asOfMs !== undefined) memory.storeU64(address + 40, BigInt(asOfMs));
}
