// TestJournal is a journal for tests that outlives the service that has it open. The test decides what becomes of each write, and
// when the journal crashes, as it does when the power fails. It is in memory, and keeps what the journal in a folder promises.
//
// Invariants
// X1  A write whose caller was answered is never lost.
// X2  A crash loses the last of the writes that nobody was answered, and never one before a write that it keeps.
// X3  A service reads and stores nothing any more after the crash of its journal, whatever another service does with it.
import { SvcError } from '@svc/kit/svc-error';
import type { TimerLimits } from '@svc/model/timer-limits';
import { MemoryContents, MemoryJournal, type WriteFate } from './memory-journal.ts';

/**
 * - `stored`: as usual.
 * - `failed`, `disk-full`: nothing of it is stored, and its caller gets SVC_JOURNAL_UNAVAILABLE or SVC_DISK_FULL.
 * - `{ crash: n }`: the journal crashes. Of this write and the queued ones after it, the first `n` are on disk, and nobody is
 *   answered.
 */
export type WriteOutcome = 'stored' | 'failed' | 'disk-full' | { readonly crash: number };

/** A write that is about to be stored. */
export interface JournalWrite {
  /** Number of the write, counted from 1 over all services that had the journal open. */
  readonly number: number;
}

export interface TestJournalOptions {
  /** Decides about each write. The first write of a service is that of its schedules. Default: all are stored. */
  readonly onWrite?: (write: JournalWrite) => WriteOutcome;
}

const STORED: WriteFate = { isStored: true, failure: undefined };

/** A service that has the journal open. */
interface Opened {
  readonly journal: MemoryJournal;
  readonly failure: PromiseWithResolvers<SvcError>;
  isCrashed: boolean;
  /** Number of queued writes that are on disk though nobody is answered. */
  unanswered: number;
}

export class TestJournal {
  readonly #contents = new MemoryContents();
  readonly #onWrite: (write: JournalWrite) => WriteOutcome;
  #writes = 0;
  #opened: Opened | undefined;

  constructor({ onWrite = () => 'stored' }: TestJournalOptions = {}) {
    this.#onWrite = onWrite;
  }

  /** Number of writes so far, whatever became of them. Those after a crash are none. */
  get writes(): number {
    return this.#writes;
  }

  /**
   * Opens the journal for a service. `failure` resolves if it crashes. Throws SVC_DATA_IN_USE while another service has it open:
   * one that has not stopped, and whose journal has not crashed.
   */
  open(timerLimits: TimerLimits): {
    readonly journal: MemoryJournal;
    readonly failure: Promise<SvcError>;
  } {
    if (this.#opened?.journal.isClosed === false) throw inUse();
    const failure = Promise.withResolvers<SvcError>();
    const journal = new MemoryJournal({
      timerLimits,
      contents: this.#contents,
      judge: () => this.#judge(opened),
    });
    const opened: Opened = { journal, failure, isCrashed: false, unanswered: 0 };
    this.#opened = opened;
    return { journal, failure: failure.promise };
  }

  /**
   * Lets the journal crash for the service that has it open, and does nothing if none has. Of the queued writes, the first
   * ones are on disk, at most `stored`, though their callers get SVC_JOURNAL_UNAVAILABLE. Stop the service, and create another one with the journal.
   */
  crash(stored = 0): void {
    const opened = this.#opened;
    if (opened === undefined || opened.journal.isClosed) return;
    this.#opened = undefined;
    opened.isCrashed = true;
    opened.unanswered = stored;
    // The journal decides about all queued writes before this microtask.
    queueMicrotask(() => void (opened.unanswered = 0));
    opened.journal.cutOff();
    opened.failure.resolve(crashed());
  }

  #judge(opened: Opened): WriteFate {
    if (!opened.isCrashed) {
      const outcome = this.#onWrite({ number: ++this.#writes });
      if (outcome === 'stored') return STORED;
      if (typeof outcome === 'string') return { isStored: false, failure: refused(outcome) };
      this.crash(outcome.crash);
    }
    return { isStored: opened.unanswered-- > 0, failure: crashed() };
  }

  /**
   * Returns all that is stored, as text: the events of all entities in their order, replies, timers and consumers. Two journals that
   * hold the same have the same text.
   */
  contents(): string {
    const { order, replies, timers, consumers } = this.#contents;
    const lines = [...order.records, ...replies, ...timers.all(), ...consumers.all()];
    return lines.map((line) => `${JSON.stringify(line, asText)}\n`).join('');
  }
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function refused(outcome: 'failed' | 'disk-full'): SvcError {
  return outcome === 'failed'
    ? new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The write failed, as the test wants it. Try again.')
    : new SvcError('SVC_DISK_FULL', 'The disk is full, as the test wants it. Make space on it.');
}

function crashed(): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    'The journal has crashed, as the test wants it. Stop the service, and create it again.',
  );
}

function inUse(): SvcError {
  return new SvcError(
    'SVC_DATA_IN_USE',
    'Another service has the journal of the test open. Stop it, or let the journal crash, first.',
  );
}
