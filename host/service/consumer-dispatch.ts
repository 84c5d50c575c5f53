// ConsumerDispatch runs the thread that delivers events to the consumers of a module, for as long as a module with consumers is
// served. A service without consumers has none. Operators retry and skip parked events through it.
//
// Invariants
// D1  A shard that starts gets a link to the thread, whether the thread runs already or is started later.
// D2  At most one thread runs, and it starts when all settlements of the one before are stored or have failed.
// D3  After `stop` no thread is left, and none is started. From `pause` to `resume` none is started either.
// D4  A stop waits for settlements only as long as the thread may take to end, because a database may not answer: what is not
//     stored by then is delivered again after the next start.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { ConsumerDescriptor } from '@svc/contract';
import type { ConsumerSettings } from '../consumers/consumer-settings.ts';
import type { ConsumerWriter } from '../engine/needs/consumers.ts';
import { type ConsumerCounts, ConsumerSeries } from '@svc/model/consumer-series';
import type { EntityRef } from '@svc/model/entity';
import type { Log } from '@svc/kit/log';
import type { LogLimits } from '@svc/kit/log-limits';
import { SvcError } from '@svc/kit/svc-error';
import type { FollowerConnection } from '../storage/follower-connection.ts';
import type {
  ConsumerOrder,
  ConsumerThreadData,
  FromConsumerThread,
  ToConsumerThread,
} from './consumer-messages.ts';

/** Pause before a thread that has ended by itself is started again, in milliseconds. */
const RESTART_PAUSE_MS = 1_000;
/** How long a stop waits for the thread and its settlements beyond the time that events in flight have, in milliseconds. */
const STOP_MARGIN_MS = 2_000;

/** The part of an opened journal that the consumers use. */
export interface ConsumedJournal extends ConsumerWriter {
  /** Returns the data with which the thread follows the events that this node delivers now. */
  connectConsumers(): FollowerConnection;
}

export interface ConsumerDispatchOptions {
  readonly settings: ConsumerSettings;
  readonly logLimits: LogLimits;
  /** The number of shards. */
  readonly shards: number;
  /** The whole environment of the thread. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Asks all shards for new links, because the thread that had them has ended. */
  readonly relink: () => void;
}

type Message<Kind extends FromConsumerThread['kind']> = Extract<
  FromConsumerThread,
  { readonly kind: Kind }
>;

export class ConsumerDispatch {
  readonly #options: ConsumerDispatchOptions;
  /** Ends of the links to the present shards that the thread does not have yet, indexed by shard. */
  readonly #ports = new Map<number, MessagePort>();
  readonly #settling = new Set<Promise<void>>();
  /** Resolves when a stop does not wait for settlements any longer. */
  readonly #late = Promise.withResolvers<void>();
  /** The orders that the thread has not answered, by their numbers. */
  readonly #orders = new Map<number, PromiseWithResolvers<boolean>>();
  #lastOrder = 0;
  #consumers: readonly ConsumerDescriptor[] = [];
  #series: ReadonlyMap<string, ConsumerSeries> = new Map();
  #journal: ConsumedJournal | undefined;
  #worker: Worker | undefined;
  #pause: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isPaused = false;
  /** Settles when the consumers are replaced, or their thread is started again, as was asked last; never rejects. */
  #replaced: Promise<void> = Promise.resolve();

  constructor(options: ConsumerDispatchOptions) {
    this.#options = options;
  }

  /** Returns the counts of each consumer of the module that is served. */
  read(): readonly (ConsumerCounts & { readonly consumer: string })[] {
    return Array.from(this.#series, ([consumer, series]) => ({ consumer, ...series.read() }));
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

  /** Delivers events to these consumers, none or more. Call it once all shards serve. */
  begin(journal: ConsumedJournal, consumers: readonly ConsumerDescriptor[] = []): void {
    this.#journal = journal;
    this.#take(consumers);
    this.#start();
  }

  /** Delivers events to the consumers of another module, instead of those before. */
  replace(consumers: readonly ConsumerDescriptor[] = []): void {
    this.#replaced = this.#replaced.then(async () => {
      await this.#endThread(0);
      if (this.#isStopped) return;
      this.#take(consumers);
      if (consumers.length === 0) return;
      this.#options.relink();
      this.#start();
    });
  }

  /**
   * Ends the thread after the events in flight, at most `graceMs` later, because this node is about to deliver other events than
   * before. None is started before `resume`. Resolves once all that was settled is stored.
   */
  pause(graceMs: number): Promise<void> {
    this.#isPaused = true;
    this.#replaced = this.#replaced.then(() => this.#endThread(graceMs));
    return this.#replaced;
  }

  /** Delivers the events that this node delivers now. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#replaced = this.#replaced.then(() => {
      if (this.#isStopped || this.#worker !== undefined || this.#consumers.length === 0) return;
      this.#options.relink();
      this.#start();
    });
  }

  /** Follows what operators have changed of the stored lanes, by another process. A thread that starts reads them anyway. */
  renew(): void {
    this.#send({ kind: 'renew' });
  }

  /**
   * Delivers the event again at which the events of an entity are parked. Resolves with whether they were parked, once that is on
   * disk. Rejects with SVC_NOT_IN_JOURNAL if the module has no such consumer, with SVC_SHARD_UNAVAILABLE if the consumers do not
   * run or end meanwhile, and with the errors of the journal.
   */
  retry(consumer: string, entity: EntityRef): Promise<boolean> {
    return this.#carryOut({ kind: 'retry', consumer, entity });
  }

  /** Does what `retry` does for the entities that have been parked for the longest time, of which there may be more. */
  retrySome(consumer: string): Promise<boolean> {
    return this.#carryOut({ kind: 'retry-some', consumer });
  }

  /**
   * Settles the event `seq` without handling it, if the events of its entity are parked there. Resolves with whether they were.
   * `reason` goes to the log. Rejects as `retry` does.
   */
  skip(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean> {
    return this.#carryOut({ kind: 'skip', consumer, entity, seq, reason });
  }

  /**
   * Ends the thread, after the events in flight, at most `graceMs` later. Resolves once all that was settled is stored, or has failed, or
   * takes too long.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    const timer = setTimeout(this.#late.resolve, graceMs + STOP_MARGIN_MS);
    clearTimeout(this.#pause);
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
    await this.#endThread(graceMs);
    await this.#replaced;
    clearTimeout(timer);
  }

  #take(consumers: readonly ConsumerDescriptor[]): void {
    this.#consumers = consumers;
    // A consumer that stays keeps its counts until the new thread has counted.
    this.#series = new Map(
      consumers.map(({ id }) => [id, this.#series.get(id) ?? new ConsumerSeries()]),
    );
  }

  #carryOut(order: ConsumerOrder): Promise<boolean> {
    if (this.#journal !== undefined && !this.#series.has(order.consumer))
      return Promise.reject(unserved(order.consumer));
    if (this.#worker === undefined) return Promise.reject(unavailable());
    const number = ++this.#lastOrder;
    const answer = Promise.withResolvers<boolean>();
    this.#orders.set(number, answer);
    this.#send({ kind: 'order', number, order });
    return answer.promise;
  }

  #start(): void {
    if (this.#isStopped || this.#isPaused || this.#worker !== undefined) return;
    if (this.#journal === undefined || this.#consumers.length === 0) return;
    const { settings, logLimits, shards, env } = this.#options;
    const workerData: ConsumerThreadData = {
      connection: this.#journal.connectConsumers(),
      consumers: this.#consumers,
      settings,
      logLimits,
      series: Object.fromEntries(Array.from(this.#series, ([id, { shared }]) => [id, shared])),
      shards,
    };
    const worker = new Worker(new URL('./consumer-thread.ts', import.meta.url), {
      name: 'consumers',
      workerData,
      env,
    });
    this.#worker = worker;
    let reason = 'the thread ended without saying why';
    worker.on('message', (message: FromConsumerThread) => this.#receive(worker, message));
    worker.on('error', (error: unknown) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    worker.on('exit', () => this.#ended(worker, reason));
    for (const [index, port] of this.#ports) this.#send({ kind: 'shard', index, port }, [port]);
    this.#ports.clear();
  }

  #receive(worker: Worker, message: FromConsumerThread): void {
    switch (message.kind) {
      case 'log':
        return this.#options.log(message.entry);
      case 'settle':
        return this.#answerWith(worker, message.number, (journal) =>
          journal.settleConsumer(message.consumer, message.settlement),
        );
      case 'conclude':
        return this.#answerWith(worker, message.number, (journal) =>
          journal.concluded?.(message.consumer),
        );
      case 'carried-out':
        return this.#answered(message);
    }
  }

  #answered({ number, isDone, failure }: Message<'carried-out'>): void {
    const order = this.#orders.get(number);
    this.#orders.delete(number);
    if (isDone === undefined) order?.reject(new SvcError(failure!.code, failure!.message));
    else order?.resolve(isDone);
  }

  /** Lets the journal do something, and reports to the thread when it is done. */
  #answerWith(
    worker: Worker,
    number: number,
    work: (journal: ConsumerWriter) => Promise<void> | undefined,
  ): void {
    const answer = (failure?: SvcError): void => {
      const { code, message } = failure ?? {};
      const sent = code === undefined ? undefined : { code, message: message! };
      post(worker, { kind: 'settled', number, failure: sent });
    };
    const settled: Promise<void> = Promise.resolve(work(this.#journal!))
      .then(
        () => answer(),
        (error: unknown) => answer(asSvcError(error)),
      )
      .finally(() => this.#settling.delete(settled));
    this.#settling.add(settled);
  }

  #ended(worker: Worker, reason: string): void {
    for (const order of this.#orders.values()) order.reject(unavailable());
    this.#orders.clear();
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    if (this.#isStopped) return;
    this.#options.log({
      level: 'error',
      message: 'the thread that delivers events to consumers ended by itself and is started again',
      fields: { code: 'SVC_SHARD_FAILED', reason, pauseMs: RESTART_PAUSE_MS },
    });
    this.#pause = setTimeout(() => {
      this.#replaced = this.#replaced.then(() => this.#startAgain());
    }, RESTART_PAUSE_MS);
  }

  async #startAgain(): Promise<void> {
    await this.#settled();
    if (this.#worker !== undefined || this.#isStopped) return;
    this.#options.relink();
    this.#start();
  }

  /** Ends the thread, and waits until what it had to store is stored. */
  async #endThread(graceMs: number): Promise<void> {
    clearTimeout(this.#pause);
    const worker = this.#worker;
    if (worker !== undefined) {
      const ended = new Promise((resolve) => {
        worker.once('exit', resolve);
      });
      this.#send({ kind: 'stop', graceMs });
      this.#worker = undefined;
      const timer = setTimeout(() => void worker.terminate(), graceMs + STOP_MARGIN_MS);
      await ended;
      clearTimeout(timer);
    }
    await this.#settled();
  }

  /** Resolves when all settlements are stored or have failed, or a stop does not wait for them any longer. */
  async #settled(): Promise<void> {
    await Promise.race([Promise.all(this.#settling), this.#late.promise]);
  }

  #send(message: ToConsumerThread, ports: readonly MessagePort[] = []): void {
    if (this.#worker !== undefined) post(this.#worker, message, ports);
  }
}

function post(worker: Worker, message: ToConsumerThread, ports: readonly MessagePort[] = []): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  worker.postMessage(message, [...ports]);
}

function unavailable(): SvcError {
  return new SvcError(
    'SVC_SHARD_UNAVAILABLE',
    'The thread that delivers events to consumers does not run at the moment. Try again.',
  );
}

function unserved(consumer: string): SvcError {
  return new SvcError(
    'SVC_NOT_IN_JOURNAL',
    `The service that runs has no consumer '${consumer}'. If a module before had it, its events can be skipped while the ` +
      'service is stopped, and retried by a module that has it.',
  );
}

function asSvcError(error: unknown): SvcError {
  return error instanceof SvcError
    ? error
    : new SvcError('SVC_JOURNAL_UNAVAILABLE', String(error), { cause: error });
}
