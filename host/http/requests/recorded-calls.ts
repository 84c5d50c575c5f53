// RecordedCalls are the calls of a handler with their results, as request-calls.ts records them for a replay: the replayed handler
// has to make the same calls in the same order.
import type { HostCalls } from '@svc/model/guest';
import type { Awaitable, Refusal, Reply } from '@svc/model/call';
import { GuestFault } from '@svc/model/guest-fault';
import type { RowPage, RowQuery } from '@svc/model/view';

export const BYTES_PER_UNIT = 2;

export type Call = Parameters<HostCalls['call']>;
export type Outcome = Reply | Refusal;

/** A recorded call of an entity and its result: an answer, a failure, or the promise of either. */
export interface RecordedCall {
  readonly call: Call;
  answer: Awaitable<Outcome> | undefined;
  failure?: unknown;
}

/** A recorded query of a view, and its page or refusal. */
interface RecordedFind {
  readonly query: RowQuery;
  readonly page: RowPage | Refusal;
}

export class RecordedCalls {
  readonly #calls: (RecordedCall | RecordedFind)[] = [];
  /** Index of the next call to replay. */
  #next = 0;
  /** UTF-16 units of the texts of all calls and results. */
  units = 0;

  /** Memory of the calls and results, in bytes. */
  get bytes(): number {
    return this.units * BYTES_PER_UNIT;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Whether the handler has made all recorded calls since the replay began. */
  get isReplayed(): boolean {
    return this.#next === this.#calls.length;
  }

  /** The last call, if it is one of an entity. */
  get last(): RecordedCall | undefined {
    const last = this.#calls.at(-1);
    return last !== undefined && 'call' in last ? last : undefined;
  }

  beginReplay(): void {
    this.#next = 0;
  }

  /** Adds a call of an entity whose units are counted. All recorded calls have to be replayed. */
  add(recorded: RecordedCall): void {
    this.#calls.push(recorded);
    this.#next++;
  }

  /** Records and counts the result of a call that another shard answers. Never rejects. */
  async settle(recorded: RecordedCall, later: Promise<Outcome>): Promise<void> {
    try {
      recorded.answer = await later;
      this.units += outcomeUnits(recorded.answer);
    } catch (error) {
      recorded.answer = undefined;
      recorded.failure = error;
    }
  }

  /** Adds and counts a query. All recorded calls have to be replayed. */
  addFind(query: RowQuery, page: RowPage | Refusal): void {
    this.#calls.push({ query, page });
    this.#next++;
    this.units += queryUnits(query) + ('kind' in page ? outcomeUnits(page) : pageUnits(page));
  }

  /**
   * Returns the record of a call of an entity that the handler makes; undefined: all recorded calls are replayed, and this one
   * is new. Throws GuestFault if another call was recorded.
   */
  nextCall(call: Call): RecordedCall | undefined {
    const recorded = this.#calls[this.#next];
    if (recorded === undefined) return undefined;
    if (!('call' in recorded) || !isSame(recorded.call, call)) throw anotherCall();
    this.#next++;
    return recorded;
  }

  /** Returns the recorded page of a query that the handler makes. Undefined, and throws, as `nextCall` does. */
  nextPage(query: RowQuery): RowPage | Refusal | undefined {
    const recorded = this.#calls[this.#next];
    if (recorded === undefined) return undefined;
    if (!('query' in recorded) || !isSameQuery(recorded.query, query)) throw anotherCall();
    this.#next++;
    return recorded.page;
  }
}

function anotherCall(): GuestFault {
  return new GuestFault('trap', 'a handler that was run again made another call');
}

function isSame([target, name, input, metadata, key]: Call, again: Call): boolean {
  const [targetAgain, nameAgain, inputAgain, metadataAgain, keyAgain] = again;
  return (
    target.component === targetAgain.component &&
    target.id === targetAgain.id &&
    name === nameAgain &&
    input === inputAgain &&
    key === keyAgain &&
    metadata.length === metadataAgain.length &&
    metadata.every(([field, value], index) => {
      const [fieldAgain, valueAgain] = metadataAgain[index]!;
      return field === fieldAgain && value === valueAgain;
    })
  );
}

function isSameQuery(query: RowQuery, again: RowQuery): boolean {
  return (
    query.view === again.view &&
    query.query === again.query &&
    query.input === again.input &&
    query.limit === again.limit &&
    query.cursor === again.cursor
  );
}

/** Returns the UTF-16 units of a call's texts. */
export function callUnits([{ component, id }, name, input, metadata, key = '']: Call): number {
  let units = component.length + id.length + name.length + input.length + key.length;
  for (const [field, value] of metadata) units += field.length + value.length;
  return units;
}

export function callBytes(call: Call): number {
  return callUnits(call) * BYTES_PER_UNIT;
}

/** Returns the UTF-16 units of a result's texts. */
export function outcomeUnits(outcome: Outcome): number {
  if (outcome.kind === 'reply') return outcome.json.length;
  const { message, details = '', otherCode = '' } = outcome;
  return message.length + details.length + otherCode.length;
}

function queryUnits({ view, query, input, cursor = '' }: RowQuery): number {
  return view.length + query.length + input.length + cursor.length;
}

function pageUnits({ rows, cursor = '' }: RowPage): number {
  let units = cursor.length;
  for (const row of rows) units += row.length;
  return units;
}
