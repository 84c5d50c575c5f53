// ViewFold folds the records of a feed into the rows of one view, in pages: the rows that a page changes and the position
// after it are stored together. It owns the position; the writer of the rows belongs to the caller.
//
// Invariants
// V1  Stored rows are those of the stored position: a fold that is interrupted goes on where its rows are. The position in
//     memory may be ahead of the stored one by records that changed no row.
// V2  Whatever the pages, the same rows come out, and the fold stops at the same event.
// V3  The code of the view gets no event that is skipped.
import type { Feed, FeedRecord, Position } from '../engine/needs/feed.ts';
import type { GuestViews } from '@svc/model/guest';
import type { FoldedTo, RowChange, SkippedEvent } from '../engine/needs/views.ts';
import { fitsUtf8 } from '../engine/text-size.ts';
import type { EntityEvent, EntityRef } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { ViewLimits } from '@svc/model/view-limits';
import { SvcError } from '@svc/kit/svc-error';
import type { FoldedRows } from './building-rows.ts';
import type { FoldedView } from './folded-view.ts';
import { RowBatch, UndecodedEvent } from './row-batch.ts';
import { ViewStopped } from './view-stopped.ts';

/** Number of records without a change of any row after which the position is stored. */
const UNCHANGED_RECORDS_MAX = 10_000;
/** Maximum number of keys of an event. */
const KEYS_MAX = 16;

/** The part of a feed that a fold needs. */
export type FoldFeed = Pick<Feed, 'start' | 'read' | 'count' | 'mark'>;

export interface ViewFoldNeeds {
  readonly view: FoldedView;
  readonly guest: GuestViews;
  readonly feed: FoldFeed;
  readonly writer: FoldedRows;
  /** Where the rows are; undefined: nothing is folded. */
  readonly foldedTo: FoldedTo | undefined;
  /** Events that are left out. */
  readonly skips?: readonly SkippedEvent[];
  readonly limits: Pick<ViewLimits, 'keyBytesMax' | 'rowBytesMax'>;
  /** Receives the keys of rows that are larger than half of the limit. */
  readonly onLargeRow?: (key: string) => void;
}

export class ViewFold {
  readonly #needs: ViewFoldNeeds;
  #position: Position;
  #storedPosition: Position;
  /** When the latest event was recorded that is folded; undefined: none is. */
  #latestMs: number | undefined;
  /** Number of records that the next page looks at, at most. */
  #pageSize: number;
  /** Names of the events that are skipped. */
  readonly #skipped: ReadonlySet<string>;

  constructor(needs: ViewFoldNeeds) {
    this.#needs = needs;
    this.#position = needs.foldedTo?.position ?? needs.feed.start;
    this.#storedPosition = this.#position;
    this.#latestMs = needs.foldedTo?.latestMs;
    this.#pageSize = 1;
    this.#skipped = new Set(needs.skips?.map(({ entity, seq }) => eventName(entity, seq)));
  }

  /** The position up to which events are folded. */
  get position(): Position {
    return this.#position;
  }

  /**
   * Folds the next page, of at most `recordsMax` records. Returns whether there was one. Rejects with ViewStopped, and with
   * the errors of the feed and of `ViewWriter.put`; then nothing of the page is stored.
   */
  async step(recordsMax: number): Promise<boolean> {
    for (;;) {
      const size = Math.min(this.#pageSize, recordsMax);
      const { feed, view } = this.#needs;
      // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
      const page = await feed.read(this.#position, size, view.sources);
      const { position } = page;
      if (position === this.#position) return false;
      const records = this.#withoutSkipped(page.records);
      try {
        const isStored = await this.#fold(records, position);
        if (isStored) {
          this.#pageSize = Math.min(size * 2, recordsMax);
          return true;
        }
      } catch (failure) {
        if (!isOfView(failure)) throw failure;
        if (size === 1) throw this.#stopped(records[0]!, position, failure);
      }
      // A smaller page finds the event at which the fold fails, and needs less memory.
      this.#pageSize = Math.max(1, Math.floor(size / 2));
    }
  }

  #withoutSkipped(records: readonly FeedRecord[]): readonly FeedRecord[] {
    if (this.#skipped.size === 0) return records;
    return records.filter(
      ({ entity, record }) =>
        record.kind !== 'event' || !this.#skipped.has(eventName(entity, record.seq)),
    );
  }

  /** Folds and stores a page. Returns false if its rows need too much memory and it has more than one record. */
  async #fold(records: readonly FeedRecord[], position: Position): Promise<boolean> {
    const { view, writer, feed } = this.#needs;
    const batch = new RowBatch(this.#needs);
    const keys = await this.#keysOf(records);
    for (const [index, { entity, record }] of records.entries()) {
      if (record.kind === 'event') await batch.fold(eventOf(records[index]!), keys[index]!);
      else if (!view.hasKeys) await batch.remove(entity.id);
      if (batch.isTooLarge && records.length > 1) return false;
    }
    await batch.flush();
    if (batch.isTooLarge && records.length > 1) return false;
    const changes = batch.changes();
    this.#reportLarge(changes);
    if (changes.length > 0 || feed.count(this.#storedPosition, position) >= UNCHANGED_RECORDS_MAX) {
      const latestMs = latestOf(records, this.#latestMs);
      const mark = await feed.mark(position);
      await writer.put(changes, { position, mark, latestMs });
      this.#latestMs = latestMs;
      this.#storedPosition = position;
    }
    this.#position = position;
    return true;
  }

  #reportLarge(changes: readonly RowChange[]): void {
    const { onLargeRow, limits } = this.#needs;
    if (onLargeRow === undefined) return;
    const bytesMax = Math.floor(limits.rowBytesMax / 2);
    for (const { key, json } of changes)
      if (json !== undefined && !fitsUtf8(json, bytesMax)) onLargeRow(key);
  }

  /** Returns the keys of each record's rows; those of a deletion are not used. Throws GuestFault and UndecodedEvent. */
  async #keysOf(records: readonly FeedRecord[]): Promise<readonly (readonly string[])[]> {
    const { view, guest } = this.#needs;
    if (!view.hasKeys) return records.map(({ entity }) => [entity.id]);
    const events = records.filter(({ record }) => record.kind === 'event').map(eventOf);
    if (events.length === 0) return records.map(() => []);
    const named = await guest.keys(view.id, events);
    if (typeof named === 'string') throw new UndecodedEvent(named);
    if (named.length !== events.length)
      throw new GuestFault(
        'value',
        `${events.length} events have ${named.length} lists of keys; each event has one`,
      );
    const lists = named.values();
    return records.map(({ record }) =>
      record.kind === 'event' ? this.#checked(lists.next().value!) : [],
    );
  }

  /** Returns the keys, each once. Throws GuestFault. */
  #checked(keys: readonly string[]): readonly string[] {
    const { keyBytesMax } = this.#needs.limits;
    if (keys.length > KEYS_MAX)
      throw new GuestFault('limit', `an event has ${keys.length} keys, ${KEYS_MAX} are allowed`);
    for (const key of keys) {
      if (key === '' || !key.isWellFormed())
        throw new GuestFault('value', 'a key is an empty text, or not Unicode');
      if (!fitsUtf8(key, keyBytesMax))
        throw new GuestFault('limit', `a key takes more than ${keyBytesMax} bytes`);
    }
    return [...new Set(keys)];
  }

  #stopped({ entity, record }: FeedRecord, after: Position, failure: Error): ViewStopped {
    const { view, writer } = this.#needs;
    const at = { entity, seq: record.seq };
    return new ViewStopped(view.id, at, { revision: writer.revision, after }, failure);
  }
}

/** Whether the failure comes from the code of the view or from its events, so that it would occur again. */
function isOfView(failure: unknown): failure is Error {
  if (failure instanceof GuestFault || failure instanceof UndecodedEvent) return true;
  return failure instanceof SvcError && failure.code === 'SVC_VIEW_ROW_INVALID';
}

/** Returns the latest time of records and a time. */
function latestOf(records: readonly FeedRecord[], timeMs: number | undefined): number | undefined {
  let latestMs = timeMs;
  for (const { record } of records) latestMs = Math.max(latestMs ?? 0, record.timeMs);
  return latestMs;
}

function eventName({ component, id }: EntityRef, seq: number): string {
  return JSON.stringify([component, id, seq]);
}

/** Call it only for a record that is an event. */
function eventOf({ entity, record }: FeedRecord): EntityEvent {
  if (record.kind !== 'event') throw new TypeError('a deletion is no event');
  const { seq, timeMs, event } = record;
  return { entity, seq, timeMs, event };
}
