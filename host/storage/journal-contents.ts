// JournalContents is what the composition of a service asks of the journal that it has opened, and notes in it, beside
// the records of entities. Every implementation of the journal has it.
import type { Awaitable } from '@svc/model/call';
import type { JournalLocation } from './journal-location.ts';

/** A type of events that the journal holds: events of the component are stored under this manifest. */
export interface StoredEventType {
  readonly component: string;
  readonly manifest: string;
}

/** The module that writes the journal from now on. */
export interface WritingModule {
  /** SHA-256 of the module's file, in hexadecimal digits. */
  readonly fingerprint: string;
  /** The module's descriptor as JSON text. */
  readonly descriptor: string;
  /** When the module began to write, in milliseconds since 1970. */
  readonly timeMs: number;
}

export interface JournalContents {
  readonly location: JournalLocation;
  /**
   * Returns all types of events that the journal holds, sorted by component and manifest. Reads no event. Throws, or rejects with,
   * SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE.
   */
  eventTypes(): Awaitable<readonly StoredEventType[]>;
  /** Notes the module whose events are stored from now on. */
  noteModule(module: WritingModule): void;
}
