// SqliteConnection is the value with which a thread uses the SQLite journal that another thread has opened.
import type { MessagePort } from 'node:worker_threads';

export interface SqliteConnection {
  readonly kind: 'sqlite';
  /** The data folder, absolute. The thread reads the journal there through a connection of its own. */
  readonly dir: string;
  /** Shared memory of the position of the last record that is on disk (storage/journal-end.ts). */
  readonly end: SharedArrayBuffer;
  /** The port leads to the thread that writes. It moves with the connection to the thread that uses it. */
  readonly ports: readonly [writer: MessagePort];
}
