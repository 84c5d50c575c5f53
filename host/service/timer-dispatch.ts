// TimerDispatch runs the thread that dispatches due timers to the shards of a service. The thread is started when the first
// timer exists: a service without timers has none.
//
// Invariants
// D1  A shard that starts gets a link to the thread, whether the thread runs already or is started later.
// D2  After `stop` no thread is left, and none is started.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { TimerSettings } from '../engine/timer-settings.ts';
import type { Log } from '@svc/kit/log';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import { TimerSeries } from '../storage/timer-series.ts';
import { systemClock } from '../system.ts';
import { FailureReports } from './failure-reports.ts';
import type { FromTimerThread, TimerThreadData, ToTimerThread } from './timer-thread-messages.ts';

/** Pause before a thread that has ended by itself is started again, in milliseconds. */
const RESTART_PAUSE_MS = 1_000;
/** How long a stop waits for the thread beyond the time that firings in flight have, in milliseconds. */
const STOP_MARGIN_MS = 2_000;

/** The part of an opened journal that the thread reads. */
export type TimedJournal = Pick<OpenedJournal, 'followerConnection' | 'alarm' | 'timersExist'>;

export interface TimerDispatchOptions {
  readonly settings: TimerSettings;
  /** The number of shards. */
  readonly shards: number;
  /** The whole environment of the thread. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Asks all shards for new links, because the thread that had them has ended. */
  readonly relink: () => void;
}

export class TimerDispatch {
  /** The counts that the thread takes. */
  readonly series = new TimerSeries();
  readonly #options: TimerDispatchOptions;
  readonly #reports: FailureReports;
  /** Ends of the links to the present shards that the thread does not have yet, indexed by shard. */
  readonly #ports = new Map<number, MessagePort>();
  #journal: TimedJournal | undefined;
  #worker: Worker | undefined;
  #pause: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: TimerDispatchOptions) {
    this.#options = options;
    this.#reports = new FailureReports(systemClock, (reason) =>
      options.log({ level: 'error', message: 'a timer could not be fired', fields: { reason } }),
    );
  }

  /** Returns the shard's end of a new link. It is called at each start of a shard. */
  link(index: number): MessagePort {
    const { port1, port2 } = new MessageChannel();
    if (this.#isStopped) port2.close();
    else if (this.#worker === undefined) {
      this.#ports.get(index)?.close();
      this.#ports.set(index, port2);
    } else this.#send({ kind: 'shard', index, port: port2 }, [port2]);
    return port1;
  }

  /** Starts the thread as soon as the journal has timers. */
  begin(journal: TimedJournal): void {
    this.#journal = journal;
    void journal.timersExist().then(() => this.#start());
  }

  /** Ends the thread, after the firings in flight, at most `graceMs` later. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#pause);
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => {
      worker.once('exit', resolve);
    });
    this.#send({ kind: 'stop', graceMs });
    const timer = setTimeout(() => void worker.terminate(), graceMs + STOP_MARGIN_MS);
    await ended;
    clearTimeout(timer);
  }

  #start(): void {
    if (this.#isStopped || this.#journal === undefined) return;
    const { settings, shards, env } = this.#options;
    const { followerConnection: connection, alarm } = this.#journal;
    const series = this.series.shared;
    const workerData: TimerThreadData = { connection, alarm, series, settings, shards };
    const worker = new Worker(new URL('./timer-thread.ts', import.meta.url), {
      name: 'timers',
      workerData,
      env,
    });
    this.#worker = worker;
    worker.on('message', ({ message }: FromTimerThread) => this.#log(message));
    worker.on('error', (error: unknown) => this.#log(String(error)));
    worker.on('exit', () => this.#ended(worker));
    for (const [index, port] of this.#ports) this.#send({ kind: 'shard', index, port }, [port]);
    this.#ports.clear();
  }

  #ended(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    if (this.#isStopped) return;
    this.#log('the thread has ended and is started again');
    this.#pause = setTimeout(() => {
      this.#options.relink();
      this.#start();
    }, RESTART_PAUSE_MS);
  }

  #log(reason: string): void {
    this.#reports.add(new Error(reason));
  }

  #send(message: ToTimerThread, ports: readonly MessagePort[] = []): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#worker?.postMessage(message, [...ports]);
  }
}
