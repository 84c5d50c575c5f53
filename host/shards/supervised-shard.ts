// SupervisedShard: sees to it that one shard of a service is served: it starts a thread for it, hands it what it
// serves with, and starts another when it has ended, by itself or because it did not answer any more, with
// growing pauses. The other shards go on meanwhile. While a developer works on the module, a thread with another one
// takes the place of the present one. Invariants:
// I1  At most one thread of the shard serves at a time.
// I2  After `stop` no thread is started, none is left, and nobody is asked for what it serves with.
import type { ModuleDescriptor } from '@svc/contract';
import type { GuestSource } from '../hosting/guest-source.ts';
import { LimitCounters } from '../model/limit-counters.ts';
import type { Log } from '@svc/kit/log';
import { requestThreadEnded, type SharedRequestBudgets } from '../model/request-budgets.ts';
import { SvcError } from '@svc/kit/svc-error';
import { shardAway } from './open-questions.ts';
import { RestartPauses } from './restart-pauses.ts';
import { ShardEnds } from './shard-ends.ts';
import { ShardNumbers } from './shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from './shard-questions.ts';
import type { Address, Peer, ShardSettings } from './shard-messages.ts';
import { type ShardEnd, ShardThread } from './shard-thread.ts';
import type { SupervisorLimits } from './supervisor-limits.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';

export interface Supervised {
  /** What a shard's thread runs. */
  readonly shardFile: URL;
  /** What each shard is started with. */
  readonly settings: Omit<ShardSettings, 'counters' | 'index' | 'budgets'>;
  /** What the shards run, or why there is nothing to be run. */
  readonly source: Promise<GuestSource>;
  readonly limits: SupervisorLimits;
  /** All that a shard's thread has for an environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log: Log;
  /** A shard that had ended, or could not take over, serves again. */
  readonly servesAgain?: () => void;
}

/** What a shard serves with. */
export interface Equipment {
  readonly journal: JournalConnection;
  readonly peers: readonly Peer[];
}

/** The service around the shard. */
export interface AroundShard {
  readonly index: number;
  /** What all shards share. */
  readonly budgets: SharedRequestBudgets;
  /** Where to listen. */
  readonly address: () => Address;
  /** Asked at each start, once the module is admitted: the thread is told to serve next. */
  readonly equip: (thread: ShardThread) => Promise<Equipment>;
  readonly listens: (thread: ShardThread, address: Address | undefined) => void;
  /** The thread does not live any more, and another is started after a pause. */
  readonly hasEnded: (pauseMs: number) => void;
}

export class SupervisedShard {
  /** What its threads have met. */
  readonly counters = new LimitCounters();
  readonly ends = new ShardEnds();
  /** What its threads have counted; undefined before the module is admitted. */
  numbers: ShardNumbers | undefined;
  /** Its thread serves requests and calls. */
  isServing = false;
  readonly #supervised: Supervised;
  readonly #around: AroundShard;
  /** Spans that it keeps. */
  readonly #capacity: number;
  #pauses: RestartPauses;
  /** What its next thread runs. */
  #source: Promise<GuestSource>;
  #thread: ShardThread | undefined;
  /** The latest start; it settles with it, and never rejects. */
  #startSettled: Promise<unknown> = Promise.resolve();
  #isStopping = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(supervised: Supervised, around: AroundShard) {
    this.#supervised = supervised;
    this.#around = around;
    const { sections } = supervised.settings;
    this.#capacity = sections.observability.ringCapacity;
    this.#pauses = new RestartPauses(supervised.limits);
    this.#source = supervised.source;
  }

  /** Resolves once the shard listens; rejects with the reason why it cannot. */
  async start(): Promise<ModuleDescriptor> {
    const started = this.#start();
    this.#startSettled = started.catch(() => {});
    return started;
  }

  /** A thread that loads the host's code while its module is made; it serves nothing before it `takeOver`s. */
  standBy(source: Promise<GuestSource>): ShardThread {
    return this.#newThread(source);
  }

  /**
   * The thread that stood by, whose module has started, serves in the place of the present one, once what is in flight
   * there is finished or its time is over. Rejects when it cannot: it is tried again then.
   */
  async takeOver(
    standby: ShardThread,
    source: GuestSource,
    graceMs: number,
  ): Promise<ModuleDescriptor> {
    clearTimeout(this.#pause);
    const [present, presentStarted] = [this.#thread, this.#startSettled];
    this.#thread = standby;
    this.#source = Promise.resolve(source);
    this.#pauses = new RestartPauses(this.#supervised.limits);
    const taken = (async () => {
      const boundMs = graceMs + this.#supervised.limits.stopMarginMs;
      await present?.stop(graceMs, boundMs);
      await presentStarted;
      this.isServing = false;
      this.numbers = this.numbers?.next(source.descriptor);
      return this.#serve(standby);
    })();
    this.#startSettled = taken.catch(() => {});
    try {
      return await taken;
    } catch (error) {
      this.#startAgain('the shard could not be started and is tried again', reasonOf(error), 0);
      throw error;
    }
  }

  /** Asks it something (shard-thread.ts). */
  async ask<Question extends ShardQuestion>(
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>> {
    if (this.#thread === undefined) throw shardAway();
    return this.#thread.ask(question, timeoutMs);
  }

  /** Resolves once no request is served: the shard was stopped, or its thread is not there. */
  async finished(): Promise<void> {
    await this.#thread?.finished;
  }

  /** Finishes what is in flight. Says whether all of it could finish. */
  async stop(othersFinished: Promise<unknown>): Promise<boolean> {
    this.#isStopping = true;
    clearTimeout(this.#pause);
    const { stopGraceMs, stopMarginMs } = this.#supervised.limits;
    const boundMs = stopGraceMs + stopMarginMs;
    const inTime = (await this.#thread?.stop(stopGraceMs, boundMs, othersFinished)) ?? true;
    await this.#startSettled;
    return inTime;
  }

  async #start(): Promise<ModuleDescriptor> {
    if (this.#isStopping) throw stopping();
    this.#thread = this.#newThread(this.#source);
    return this.#serve(this.#thread);
  }

  #newThread(source: Promise<GuestSource>): ShardThread {
    const { shardFile, settings, limits, env = {}, log } = this.#supervised;
    const { index, address, budgets } = this.#around;
    return new ShardThread({
      file: shardFile,
      settings: { ...settings, index, address: address(), counters: this.counters.shared, budgets },
      source,
      limits,
      env,
      log,
    });
  }

  async #serve(shard: ShardThread): Promise<ModuleDescriptor> {
    const { equip, listens } = this.#around;
    try {
      const descriptor = await shard.admitted;
      if (this.#isStopping) throw stopping();
      const { journal, peers } = await equip(shard);
      this.numbers ??= new ShardNumbers(descriptor, this.#capacity);
      shard.serve(journal, peers, this.numbers.shared);
      listens(shard, await shard.listening);
      this.isServing = true;
      const sinceMs = performance.now();
      void shard.ended.then((end) => {
        // One in whose place another serves has ended as it should.
        if (shard === this.#thread) this.#hasEnded(end, performance.now() - sinceMs);
      });
      return descriptor;
    } catch (error) {
      await shard.end();
      throw error;
    }
  }

  #hasEnded({ reason, isHang }: ShardEnd, servedMs: number): void {
    this.isServing = false;
    this.numbers?.threadEnded();
    requestThreadEnded(this.#around.budgets, this.#around.index);
    if (isHang) this.counters.count('shard-hangs');
    const message = isHang
      ? 'the shard did not answer, was ended, and is started again'
      : 'the shard ended by itself and is started again';
    this.#startAgain(message, reason, servedMs);
  }

  #startAgain(message: string, reason: string, servedMs: number): void {
    if (this.#isStopping) return;
    this.counters.count('shard-ends');
    const { index } = this.#around;
    this.ends.add({ atMs: Date.now(), shard: index, reason: `${message}: ${reason}` });
    const pauseMs = this.#pauses.next(servedMs);
    this.#supervised.log({
      level: 'error',
      message,
      fields: {
        code: 'SVC_SHARD_FAILED',
        reason,
        ends: this.#pauses.ends,
        pauseMs,
        ...this.#which(),
      },
    });
    this.#around.hasEnded(pauseMs);
    this.#pause = setTimeout(() => {
      const source = this.#source;
      this.start().then(
        () => {
          const { log, servesAgain } = this.#supervised;
          log({
            level: 'info',
            message: 'the service is served again',
            fields: this.#which(),
          });
          servesAgain?.();
        },
        (error: unknown) => {
          // Another module has taken over meanwhile.
          if (source !== this.#source) return;
          const why = reasonOf(error);
          this.#startAgain('the shard could not be started and is tried again', why, 0);
        },
      );
    }, pauseMs);
  }

  /** A service of one shard has no number to tell. */
  #which(): { readonly shard?: number } {
    return this.#supervised.settings.count === 1 ? {} : { shard: this.#around.index };
  }
}

function stopping(): SvcError {
  return new SvcError('SVC_STOPPING', 'The service was told to stop before it was started.');
}

function reasonOf(error: unknown): string {
  return error instanceof SvcError ? `${error.message} [${error.code}]` : String(error);
}
