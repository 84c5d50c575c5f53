// ReconcileQueue: which services are to be looked at, and when.
//
// Invariants
// Q1  A service is worked on by one worker at a time, and after every mark at least once.
// Q2  At most `reconcileWorkers` services are worked on at the same time, in the order in which they became due.
// Q3  A service that fails, or is not settled yet, is looked at again after a pause that doubles from `backoffMinMs` to
//     `backoffMaxMs`. A change of what is desired ends every pause; a report of the orchestrator does not end one after
//     a failure.
// Q4  Reports have a service looked at ten times a second at most, and less and less often while each look is followed by
//     another report, as of an orchestrator that reports its own reconciles.
//
// There is no limit of services: each has one entry of a few hundred bytes, and all of them are in the journal.
import type { ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';
import { serviceId } from '../flows/service-id.ts';
import type { OrchestratorSection } from './orchestrator-section.ts';

/** `unsettled`: what is desired is under way, and the service has to be looked at again. */
export type WorkOutcome = 'settled' | 'unsettled';

/** The reason for a mark: what is desired has changed, or what runs may have. */
export type MarkCause = 'desired' | 'observed';

export interface ReconcileQueueOptions {
  /** Brings a service to what is desired. A rejection is a failure. */
  readonly work: (key: ServiceKey, stopping: AbortSignal) => Promise<WorkOutcome>;
  readonly onFailure: (key: ServiceKey, error: unknown) => void;
  readonly section: Pick<OrchestratorSection, 'reconcileWorkers' | 'backoffMinMs' | 'backoffMaxMs'>;
  readonly clock: Clock;
}

interface Entry {
  readonly key: ServiceKey;
  /** `settled`: it stays for a pause, so that a noisy orchestrator cannot keep a worker busy with one service. */
  state: 'due' | 'working' | 'failed' | WorkOutcome;
  /** The strongest mark since the work on it began. */
  marked: MarkCause | undefined;
  /** Failures and unsettled outcomes in a row. */
  attempts: number;
  /** Looks in a row that reports have caused. */
  reports: number;
  /** When it became due, by the monotonic clock. */
  dueMs: number;
  /** When the last work on it ended, by the monotonic clock, and the pause after it. */
  endedMs: number;
  pauseMs: number;
  cancelPause: () => void;
}

const nothing = () => {};
/** Doublings after which every pause is the longest one. */
const DOUBLINGS_MAX = 32;
/** Longest pause before a report counts of a service that is not settled. */
const REPORT_PAUSE_MAX_MS = 1000;

export class ReconcileQueue {
  readonly #options: ReconcileQueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #due = new Set<Entry>();
  readonly #stopping = new AbortController();
  #working = 0;
  #onIdle = nothing;

  constructor(options: ReconcileQueueOptions) {
    this.#options = options;
  }

  /** Number of services that are worked on, wait to be, or pause after it. */
  get size(): number {
    return this.#entries.size;
  }

  /** Number of services by what they wait for: a worker, the end of their work, or of a pause because they failed or are not settled. */
  counts(): Readonly<Record<'due' | 'working' | 'failed' | 'unsettled', number>> {
    const counts = { due: 0, working: 0, failed: 0, unsettled: 0 };
    for (const { state } of this.#entries.values()) if (state !== 'settled') counts[state]++;
    return counts;
  }

  /** Time for which the first service in the queue has waited for a worker, in milliseconds; 0: none waits. */
  waitMs(): number {
    const [first] = this.#due;
    return first === undefined ? 0 : this.#options.clock.monotonicMs() - first.dueMs;
  }

  /** Has the service looked at, unless the queue has stopped. */
  mark(key: ServiceKey, cause: MarkCause): void {
    if (this.#stopping.signal.aborted) return;
    const id = serviceId(key);
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      this.#markAgain(entry, cause);
      return;
    }
    const made: Entry = {
      key,
      state: 'due',
      marked: undefined,
      attempts: 0,
      reports: 0,
      dueMs: 0,
      endedMs: Number.NEGATIVE_INFINITY,
      pauseMs: 0,
      cancelPause: nothing,
    };
    this.#entries.set(id, made);
    this.#makeDue(made);
  }

  /** Starts nothing more, aborts the work under way, and waits for its end, at most the grace. */
  async stop(graceMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort(new Error('the control plane is stopping'));
    for (const entry of this.#entries.values()) entry.cancelPause();
    this.#due.clear();
    if (this.#working === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const cancel = this.#options.clock.after(graceMs, resolve);
    await promise;
    cancel();
  }

  #markAgain(entry: Entry, cause: MarkCause): void {
    switch (entry.state) {
      case 'due':
        return;
      case 'working':
        if (entry.marked !== 'desired') entry.marked = cause;
        return;
      case 'failed':
      case 'settled':
      case 'unsettled':
        if (cause === 'desired') {
          entry.attempts = 0;
          entry.reports = 0;
          this.#makeDue(entry);
        } else if (entry.state !== 'failed' && entry.marked === undefined) {
          entry.marked = cause;
          if (entry.state === 'unsettled') this.#pause(entry, this.#reportPauseMs(entry));
        }
    }
  }

  #makeDue(entry: Entry): void {
    entry.cancelPause();
    entry.cancelPause = nothing;
    entry.state = 'due';
    entry.dueMs = this.#options.clock.monotonicMs();
    this.#due.add(entry);
    this.#startWork();
  }

  #startWork(): void {
    for (const entry of this.#due) {
      if (this.#working >= this.#options.section.reconcileWorkers) return;
      this.#due.delete(entry);
      entry.reports = entry.marked === 'observed' ? entry.reports + 1 : 0;
      entry.state = 'working';
      entry.marked = undefined;
      this.#working++;
      void this.#work(entry);
    }
  }

  /** Never rejects. */
  async #work(entry: Entry): Promise<void> {
    let outcome: WorkOutcome | 'failed';
    try {
      outcome = await this.#options.work(entry.key, this.#stopping.signal);
    } catch (error) {
      outcome = 'failed';
      if (!this.#stopping.signal.aborted) this.#options.onFailure(entry.key, error);
    }
    this.#working--;
    if (this.#stopping.signal.aborted) {
      if (this.#working === 0) this.#onIdle();
      return;
    }
    this.#end(entry, outcome);
    this.#startWork();
  }

  #end(entry: Entry, outcome: WorkOutcome | 'failed'): void {
    const { clock, section } = this.#options;
    entry.endedMs = clock.monotonicMs();
    if (entry.marked === 'desired') {
      entry.attempts = 0;
      this.#makeDue(entry);
      return;
    }
    entry.state = outcome;
    if (outcome === 'settled') {
      entry.attempts = 0;
      entry.pauseMs = this.#doubled(entry.reports);
    } else entry.pauseMs = this.#doubled(entry.attempts++);
    const isReported = outcome === 'unsettled' && entry.marked === 'observed';
    this.#pause(entry, isReported ? this.#reportPauseMs(entry) : section.backoffMaxMs);
  }

  /** Lets the service be, from the last work on it, for its pause, or for less. */
  #pause(entry: Entry, atMostMs: number): void {
    const { clock } = this.#options;
    entry.cancelPause();
    const passedMs = clock.monotonicMs() - entry.endedMs;
    const leftMs = Math.max(0, Math.min(entry.pauseMs, atMostMs) - passedMs);
    entry.cancelPause = clock.after(leftMs, () => {
      if (entry.state === 'settled' && entry.marked === undefined)
        this.#entries.delete(serviceId(entry.key));
      else this.#makeDue(entry);
    });
  }

  #reportPauseMs({ reports }: Entry): number {
    return Math.min(REPORT_PAUSE_MAX_MS, this.#doubled(reports));
  }

  #doubled(times: number): number {
    const { backoffMinMs, backoffMaxMs } = this.#options.section;
    return Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(times, DOUBLINGS_MAX));
  }
}
