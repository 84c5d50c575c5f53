// JournalInspection reads the entities of a journal for a person or a check, also while a host writes the journal. It continues
// past damage, and reports it. It creates and changes nothing. Every implementation of the journal has one.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef, JournalRecord } from '@svc/model/entity';

export interface ComponentSummary {
  readonly component: string;
  readonly entities: number;
  readonly events: number;
}

export interface EntitySummary {
  readonly id: string;
  readonly events: number;
  /** Time of its last record. Undefined: it has only refused commands with idempotency keys, and has no record. */
  readonly lastTimeMs: number | undefined;
  /** Whether its last record is a deletion. */
  readonly deleted: boolean;
}

/** A record as it is stored, or the damage that was found instead of it. */
export type InspectedRecord =
  | JournalRecord
  | { readonly kind: 'damaged'; readonly seq: number; readonly problem: string };

export interface InspectedPage {
  readonly records: readonly InspectedRecord[];
  /** The `afterSeq` of the next page. */
  readonly lastSeq: number;
  /** The number of records that are stored; less than the limit at the end of the history. */
  readonly storedCount: number;
}

/**
 * All methods throw, or reject with, SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_DATA_UNUSABLE and
 * SVC_JOURNAL_UNAVAILABLE.
 */
export interface JournalInspection {
  /** Returns all components, sorted by id. */
  components(): Awaitable<readonly ComponentSummary[]>;
  /**
   * Returns entities of a component with `id > afterId` whose id begins with `prefix`, sorted by id, at most `limit`.
   */
  entities(
    component: string,
    afterId: string,
    limit: number,
    prefix?: string,
  ): Awaitable<readonly EntitySummary[]>;
  /** Returns the number of entities of a component whose id begins with `prefix`, counted up to `max`. */
  countEntities(component: string, prefix: string, max: number): Awaitable<number>;
  hasComponent(component: string): Awaitable<boolean>;
  hasEntity(entity: EntityRef): Awaitable<boolean>;
  /** Returns records with `seq > afterSeq`, oldest first, at most `limit`, and an entry for each gap between them. */
  records(entity: EntityRef, afterSeq: number, limit: number): Awaitable<InspectedPage>;
  /** Closes the connection; the next read opens it again. */
  close(): void;
}

export interface ScannedHistory {
  readonly id: string;
  /** The records from the first one on, with an entry for what is missing between them. */
  readonly records: readonly InspectedRecord[];
  readonly lastSeq: number;
  /** The number of entries of `records` that are stored, damaged ones included. */
  readonly storedCount: number;
  /** False if the page has ended, or may have ended, before the last record of the history. */
  readonly isWhole: boolean;
}

/** Reads the histories of many entities with few reads. */
export interface HistoryScan {
  /**
   * Returns the histories of the first entities with `afterId < id ≤ lastId`; none is left if the list is empty. Throws, or rejects
   * with, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE.
   */
  page(component: string, afterId: string, lastId: string): Awaitable<readonly ScannedHistory[]>;
  close(): void;
}
