// Journal is what the engine needs of a journal. Records have the unique key (component, entity id, sequence number), so a
// second writer of an entity gets a conflict. Those who follow the journal read its records in the order of its feed (feed.ts).
import type { Awaitable, Refusal, Reply } from '@svc/model/call';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import type { SvcError } from '@svc/kit/svc-error';
import type { StoredTimer, TimerWrites } from './timers.ts';
import type { Positions } from './feed.ts';

/** UTF-16 units of JSON text after which a read ends, so that large records are read in small pages. */
export const READ_UNITS_MAX = 1024 * 1024;

/** The reply to a command with an idempotency key. */
export interface StoredReply {
  readonly key: string;
  /** Digest of the command's name and input. */
  readonly digest: string;
  /** Time at which the command was decided, by the clock of its engine, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly timeMs: number;
  readonly outcome: Reply | Refusal;
  /** Round in which the call of a consumer was refused (StoredLane); absent for 0. It means nothing beside a reply. */
  readonly round?: number | undefined;
}

/** A reply that is to be stored. It replaces an older reply to its key. */
export interface ReplyToStore extends StoredReply {
  /**
   * Retention of replies, in milliseconds. When the journal stores this reply, it may delete the replies of that age in the
   * same slice of the journal, whatever their entity. It measures the age by its own time, because the engine's clock may be
   * ahead of those of other writers. SQLite has one slice and the writers of one machine, so the time of the append is its own
   * time. Replies to keys of events have no retention: they stay until their event is settled.
   */
  readonly retentionMs: number;
}

/**
 * The result of a lookup ahead that was not made, because the replies of other lookups took the memory: `Journal.answer` has to look
 * the key up.
 */
export const LEFT_TO_ANSWER = 'left to answer';
/** The reply that a lookup ahead has found; undefined: no reply is on disk. */
export type ReplyAhead = StoredReply | undefined | typeof LEFT_TO_ANSWER;

/** The data that an append stores besides the records of its entity. */
export interface StoredBeside {
  /** The reply to a command with an idempotency key. */
  readonly reply?: ReplyToStore | undefined;
  /** The changes of timers. */
  readonly timers?: TimerWrites | undefined;
  /**
   * Whether the append was decided without the entity's state, so that it has no records: it is stored although an
   * earlier append of the entity has failed, and no other append fails because it does.
   */
  readonly isDetached?: boolean | undefined;
}

/** The state of an entity after one of its records, which is on disk. */
export interface Snapshot {
  readonly seq: number;
  /** Fingerprint of the module that made the state. Other modules do not read it. */
  readonly fingerprint: string;
  /** JSON text. */
  readonly state: string;
}

/** How the current incarnation of an entity begins: its snapshot, if there is one, and the first records. */
export interface IncarnationStart {
  /** Sequence number of the record of the snapshot, or else of the last deletion; 0 when there is neither. */
  readonly afterSeq: number;
  /** The state after that record as JSON text; undefined: the empty state. */
  readonly snapshot: string | undefined;
  /** The records that follow, as `read` returns them. */
  readonly records: readonly JournalRecord[];
  /** Whether these are all records that follow. */
  readonly isWhole: boolean;
}

export interface Journal {
  /** Positions of the journal's feed, which followers read. */
  readonly positions: Positions;
  /**
   * Queues the records of one command, and what is stored beside them: all of it is stored, or nothing. The list of records may
   * be empty if there is something beside it. `settled` is called exactly once, later:
   * - without an argument when everything is on disk;
   * - with SVC_CALL_UNCERTAIN when it is unknown whether everything is or nothing. A read that begins from then on returns what is
   *   final: it has the append, or no later read has it. A journal that does not know yet lets such a read wait, or rejects it;
   * - with another failure when nothing is on disk, and never will be. The page of SVC_JOURNAL_UNAVAILABLE has the exceptions of a
   *   journal that ends with its host.
   *
   * The appends of one entity are stored, and settle, in the order in which they were queued. Those of different entities
   * settle in any order. After an append of an entity that was not stored, or of which that is unknown, its later appends that
   * were queued before `settled` was called fail as well. None of them is stored if the first one is not. Neither holds for an
   * append that is detached. An append with timers also fails with SVC_TIMER_GONE, SVC_TIMERS_FULL, or SVC_TIMER_INVALID, if a cron
   * expression has no occurrence.
   *
   * A journal with several nodes stores an append only if the lease that the node held of the entity (Leases) when the append was
   * queued has not ended when it is stored. Otherwise the append fails, with SVC_ENTITY_MOVED. Before a lease has another epoch, no
   * append of an earlier epoch can be stored any more, so that what is read from then on is final.
   */
  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside?: StoredBeside,
  ): void;
  /**
   * Reads records of one entity that are on disk, with `seq > afterSeq`, oldest first, at most `limit`, and none after the
   * record with which their JSON text reaches READ_UNITS_MAX. An empty list is the end. Rejects with SVC_JOURNAL_CORRUPT or
   * SVC_JOURNAL_UNAVAILABLE.
   */
  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]>;
  /**
   * Reads events that follow the record `afterSeq` without a gap, oldest first, at most `limit`, at a lower cost than
   * `read`. It may return fewer events than there are, even none; then `read` returns the next ones. A journal whose
   * `read` costs no more does not have this method. Call it after `incarnation`. Throws as `read` does.
   */
  eventsAfter?(entity: EntityRef, afterSeq: number, limit: number): readonly StoredEvent[];
  /** Returns `seq` of the entity's last deletion; 0 if the entity was never deleted. Rejects as `read` does. */
  lastDeletion(entity: EntityRef): Promise<number>;
  /**
   * Reads the beginning of the entity's current incarnation: the snapshot of this fingerprint, if one is stored in that
   * incarnation, and the first records, at most `limit`. Returns a plain value if nothing has to be waited for. Throws,
   * or rejects, as `read` does.
   */
  incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Awaitable<IncarnationStart>;
  /**
   * Stores the state after a record whose append has settled, instead of an older snapshot. A failure is not reported: then
   * `incarnation` does not find the snapshot. A journal with several nodes keeps the snapshot of the later record, whoever has it
   * stored: the lease may have ended since.
   */
  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void;
  /**
   * Reads the reply of the entity to an idempotency key; undefined: no reply is on disk. Returns a plain value if
   * nothing has to be waited for. Throws, or rejects, as `read` does.
   */
  answer(entity: EntityRef, key: string): Awaitable<StoredReply | undefined>;
  /**
   * Does what `answer` does, for a command that has come and runs later. A journal whose `answer` has to wait has this method, so
   * that the lookups of many commands wait together: it sends those that begin in one turn of the event loop in one request, and the
   * next ones when it has the response. The replies of a response end with the one with which their JSON text reaches READ_UNITS_MAX,
   * so that lookups bring a bounded number of bytes, however many wait. Those that did not fit resolve with LEFT_TO_ANSWER. Never
   * throws; rejects as `read` does.
   */
  lookAhead?(entity: EntityRef, key: string): Promise<ReplyAhead>;
  /**
   * Reads a timer that is on disk; undefined: no timer has this number, because it was settled, replaced, cancelled, or
   * removed with its entity. Returns a plain value if nothing has to be waited for. Throws, or rejects, as `read` does.
   */
  timer(number: number): Awaitable<StoredTimer | undefined>;
  /** Waits until everything that was queued has settled, then closes the journal. */
  close(): Promise<void>;
}
