// JournalProgress is how far a journal is, beside a host that may be writing it, and which module has used it last. Every
// implementation of the journal has one.
import type { Awaitable } from '@svc/model/call';
import type { Position, Positions } from '../engine/needs/feed.ts';

/** All methods throw, or reject with, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE. */
export interface JournalProgress {
  /** Whether a host uses the journal. */
  isHosted(): Awaitable<boolean>;
  /** Returns the positions up to the last record that is stored now. None of them is parsed from a text. */
  positions(): Awaitable<Positions>;
  /**
   * Returns when the first record of these components after a position was stored, in milliseconds since 1970. Undefined:
   * there is none among the next 10,000 records.
   */
  nextTimeMs(position: Position, components: readonly string[]): Awaitable<number | undefined>;
  /** Returns the module that has used the journal last; undefined if it is not recorded. `descriptor`: JSON text. */
  lastModule(): Awaitable<
    { readonly fingerprint: string; readonly descriptor: string } | undefined
  >;
  /** Closes the connection; the next read opens it again. */
  close(): void;
}
