// What the engine needs of a journal. Its key is (component, entity id, sequence number), unique:
// a second writer loses by conflict, never silently. Every record also has a place in one global
// order without gaps.
import type { Awaitable, Refusal, Reply } from '../../model/call.ts';
import type { EntityRef, JournalRecord, StoredEvent } from '../../model/entity.ts';
import type { SvcError } from '@svc/kit/svc-error';

/** UTF-16 units of JSON text after which a read ends, so that what is large is read in small pages. */
export const READ_UNITS_MAX = 1024 * 1024;

/** What a command with an idempotency key was answered. */
export interface StoredReply {
  readonly key: string;
  /** Of the command's name and input. */
  readonly digest: string;
  /** When the command was decided. */
  readonly timeMs: number;
  readonly outcome: Reply | Refusal;
}

/** An answer to be kept, in the place of an older one of its key. */
export interface ReplyToStore extends StoredReply {
  /** Answers that were given before then need not be kept any longer, of whatever entity. */
  readonly forgetBeforeMs: number;
}

/** The state of an entity as it was after one of its records, which is on disk. */
export interface Snapshot {
  readonly seq: number;
  /** Of the module that made it: another one does not read it. */
  readonly fingerprint: string;
  /** JSON text. */
  readonly state: string;
}

/** How the current incarnation of an entity begins: its snapshot, if there is one, and the first records. */
export interface IncarnationStart {
  /** Sequence number of the record with which the state begins: that of the snapshot, or the last deletion; 0 when there is neither. */
  readonly afterSeq: number;
  /** The state after that record; undefined: the empty one. */
  readonly snapshot: string | undefined;
  /** What follows, as `read` answers it. */
  readonly records: readonly JournalRecord[];
  /** There are no more. */
  readonly isWhole: boolean;
}

export interface Journal {
  /**
   * Queues the records of one command and what it answered, if that is to be kept: all of it is stored,
   * or nothing. There may be no records where there is an answer, whose
   * key the records carry. `settled` is called exactly once, later: without an argument when they are on disk, with the failure when they are not.
   * Appends settle in the order in which they were queued. After a failed append of an entity, its
   * later appends that were queued before `settled` was called fail too.
   */
  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    answer?: ReplyToStore,
  ): void;
  /**
   * Records of one entity with `seq > afterSeq`, oldest first, at most `limit`, and none after the
   * one with which their JSON text reaches READ_UNITS_MAX. An empty list is the end. Only what is
   * on disk. Rejects with SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
   */
  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]>;
  /**
   * Events that follow the record `afterSeq` one by one, oldest first, at most `limit`, each of them whole: as many as
   * there are of those that cost less so than by `read`. Where it answers fewer, none even, `read` says what follows.
   * Where it is missing, `read` costs no more. To be asked after `incarnation`. Throws as `read` does.
   */
  eventsAfter?(entity: EntityRef, afterSeq: number, limit: number): readonly StoredEvent[];
  /** `seq` of the entity's last deletion, 0 when it never was deleted. Rejects as `read` does. */
  lastDeletion(entity: EntityRef): Promise<number>;
  /**
   * What the entity is to be brought into memory with: where a snapshot of this fingerprint is kept, and its
   * present life goes on from there, with that. A plain value wherever nothing has to be waited for. Throws,
   * or rejects, as `read` does.
   */
  incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Awaitable<IncarnationStart>;
  /**
   * Keeps the state after a record whose append has settled, in the place of an older one, as well as it can:
   * nobody is told whether it could, and `incarnation` may or may not find it.
   */
  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void;
  /**
   * What the entity answered to the key, if that is kept and on disk. A plain value wherever nothing has to
   * be waited for. Throws, or rejects, as `read` does.
   */
  answer(entity: EntityRef, key: string): Awaitable<StoredReply | undefined>;
  /** Waits for everything queued, then closes. */
  close(): Promise<void>;
}
