// EntityRef, StoredEvent, JournalRecord: an entity, and its records in the journal.

/** An entity: the id of its component, and its own id. */
export interface EntityRef {
  readonly component: string;
  readonly id: string;
}

/** An event in its stored form. `json` is the JSON text of an object whose field `type` holds the case name. */
export interface StoredEvent {
  readonly manifest: string;
  readonly json: string;
}

/** An event with the entity that it belongs to. `entity` and `seq` identify the event. */
export interface EntityEvent {
  readonly entity: EntityRef;
  /** Number of the event among the records of its entity, from 1. */
  readonly seq: number;
  /** When it was recorded, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly timeMs: number;
  readonly event: StoredEvent;
}

/** The data that the journal stores about the command which produced a record. */
export interface Origin {
  /** Number of the record among those of its entity, from 1. */
  readonly seq: number;
  /** Time of the command, in milliseconds since 1970. */
  readonly timeMs: number;
  /** Seed of the command's random numbers; undefined in journals of format 1. */
  readonly seed?: bigint | undefined;
  /** The trace id, 32 hexadecimal digits; undefined in journals of formats 1 and 2. */
  readonly trace?: string | undefined;
  /** Idempotency key of the command, if it had one. */
  readonly key?: string | undefined;
  /** Author of the command as JSON text (contract/author.ts); undefined where no token was verified, and in journals before format 6. */
  readonly by?: string | undefined;
}

/** A record of an entity: an event, or the entity's deletion. */
export type JournalRecord =
  | (Origin & { readonly kind: 'event'; readonly event: StoredEvent })
  | (Origin & { readonly kind: 'deleted' });

/** The kind of a record. Every reader decides by it, never by which other members a record has. */
export type RecordKind = JournalRecord['kind'];
