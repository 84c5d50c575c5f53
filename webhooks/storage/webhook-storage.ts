// WebhookStorage is everything that the webhook service stores: the journal of tenants, a journal for each segment, the salts, and the value by
// which the master key is checked.
//
// Invariant: all of it is in one folder, or in one database. The master key itself is in neither.
import type { DatabaseOptions } from '@svc/host';
import type { KeyCheckStorage } from '../subscriptions/master-key.ts';
import type { Salts } from '../subscriptions/salts.ts';

/** Where the operator wants it. */
export type StorageChoice =
  /** Absolute path of the folder. */
  | { readonly dataFolder: string; readonly database?: undefined }
  | { readonly database: DatabaseOptions; readonly dataFolder?: undefined };

/** The options of a service that say where its journal is. */
export type JournalOptions =
  | { readonly dataFolder: string }
  | { readonly database: DatabaseOptions };

export interface SegmentJournals {
  /** Returns the numbers of the segments that there are, and finishes removals that were cut off. */
  list(): Promise<readonly number[]>;
  /** Removes a segment that is not open, with all that it has. It does nothing if there is none. */
  remove(number: number): Promise<void>;
  journalOf(number: number): JournalOptions;
}

export interface WebhookStorage {
  readonly keyCheck: KeyCheckStorage;
  readonly salts: Salts;
  readonly tenants: JournalOptions;
  readonly segments: SegmentJournals;
  /** Ends the use of the storage, once the services are stopped. */
  close(): void;
}
