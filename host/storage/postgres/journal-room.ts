// JournalRoom is how many bytes the journal may still grow, in memory that the threads of a node share. The thread that has opened
// the journal measures it now and then; those that write subtract what they store.
//
// Invariant: between two measurements the journal grows by what was left at the first one, and by one group of each thread.
import { SvcError } from '@svc/kit/svc-error';

export class JournalRoom {
  readonly #left: Float64Array;

  /** `shared`: memory of another thread's JournalRoom; without it, new memory is allocated, without a limit. */
  constructor(shared?: SharedArrayBuffer) {
    this.#left = new Float64Array(shared ?? new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
    if (shared === undefined) this.#left[0] = Infinity;
  }

  /** Memory to create another thread's JournalRoom with. */
  get shared(): SharedArrayBuffer {
    return this.#left.buffer as SharedArrayBuffer;
  }

  /** Notes that the journal has this size, in bytes. `bytesMax`: its limit; 0: it has none. */
  measured(bytes: number, bytesMax: number): void {
    this.#left[0] = bytesMax === 0 ? Infinity : bytesMax - bytes;
  }

  /** Counts bytes that are stored. Returns SVC_JOURNAL_FULL if there is no room for them. */
  take(bytes: number): SvcError | undefined {
    const left = this.#left[0]!;
    if (bytes > left) return full();
    this.#left[0] = left - bytes;
    return undefined;
  }
}

function full(): SvcError {
  return new SvcError(
    'SVC_JOURNAL_FULL',
    'The journal in the database has no room for the write, which was not stored. Raise svc.journal.bytes-max.',
  );
}
