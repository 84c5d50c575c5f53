// EntityRef, StoredEvent, RecordedEvent: an entity, and what the journal keeps of it.

/** An entity: the id of its component, and its own id. */
export interface EntityRef {
  readonly component: string;
  readonly id: string;
}

/** An event in its stored form. `json` is an object with a `type` field that holds the case name. */
export interface StoredEvent {
  readonly manifest: string;
  readonly json: string;
}

/** What the journal keeps of the command that a record came of. */
export interface Origin {
  /** The number of the record among those of its entity, from 1. */
  readonly seq: number;
  readonly timeMs: number;
  /** Journals of format 1 have none. */
  readonly seed?: bigint | undefined;
  /** The trace id, 32 hexadecimal digits; journals of format 1 and 2 have none. */
  readonly trace?: string | undefined;
  /** The idempotency key that it answered. */
  readonly key?: string | undefined;
}

/** What happened to an entity, in order: its events, and its deletions. */
export type JournalRecord =
  | (Origin & { readonly kind: 'event'; readonly event: StoredEvent })
  | (Origin & { readonly kind: 'deleted' });

/** What a record is. Every reader decides by it, never by which other members a record has. */
export type RecordKind = JournalRecord['kind'];
