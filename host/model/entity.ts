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

/**
 * What happened to an entity, in order: its events, and its deletions. `timeMs` and `seed` are those of
 * the command; journals of format 1 have no seed.
 */
export type JournalRecord =
  | {
      readonly kind: 'event';
      readonly seq: number;
      readonly timeMs: number;
      readonly seed?: bigint | undefined;
      readonly event: StoredEvent;
    }
  | {
      readonly kind: 'deleted';
      readonly seq: number;
      readonly timeMs: number;
      readonly seed?: bigint | undefined;
    };
