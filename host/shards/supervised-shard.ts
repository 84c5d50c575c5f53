// SupervisedShard keeps one shard of a service running: it starts a thread, equips it with journal, links and memory,
// and starts another one, after growing pauses, when the thread has ended or has stopped answering. The other shards
// continue meanwhile. While a developer works on the module, a thread with another module can replace the current
// one. Invariants:
// I1  At most one thread of the shard serves at a time.
// I2  After `stop` no thread is started, none is left, and no resources are requested.
import type { ModuleDescriptor } from '@svc/contract';
import type { CertificateTexts } from '@svc/identity/certificates';
import type { GuestSource } from '../hosting/guest-source.ts';
import type { ConfigurationTexts } from '@svc/model/configuration';
import { LimitCounters } from '@svc/model/limit-counters';
import type { Log } from '@svc/kit/log';
import type { SharedViews } from '@svc/model/view';
import { requestThreadEnded, type SharedRequestBudgets } from '@svc/model/request-budgets';
import { SvcError } from '@svc/kit/svc-error';
import { shardAway } from './open-questions.ts';
import type { LimitMemory } from './limit-memory.ts';
import { RestartPauses } from './restart-pauses.ts';
import { ShardEnds } from './shard-ends.ts';
import { ShardNumbers } from './shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from './shard-questions.ts';
import type { Address, Peer, ShardSettings } from './shard-messages.ts';
import { type ShardEnd, ShardThread } from './shard-thread.ts';
import type { SupervisorLimits } from './supervisor-limits.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';

export interface Supervised {
  /** Code of a shard's thread. */
  readonly shardFile: URL;
  /** Start data that all shards share. */
  readonly settings: Omit<ShardSettings, 'counters' | 'index' | 'budgets'>;
  /** Source that the shards run; rejects if there is none to run. */
  readonly source: Promise<GuestSource>;
  readonly limits: SupervisorLimits;
  /** The whole environment of a shard's thread. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log: Log;
  /**
   * Called whenever a thread is about to serve a source. Returns the memory of its views, which are kept up to date from
   * then on; undefined if it has none.
   */
  readonly serveViews?: (source: GuestSource) => SharedViews | undefined;
  /** Returns the certificates in use. Absent: the service listens without TLS. */
  readonly certificates?: (() => CertificateTexts) | undefined;
  /** Returns the values of a source's configuration. Absent: no source has one. */
  readonly configuration?: ((source: GuestSource) => ConfigurationTexts | undefined) | undefined;
  /** Called when a shard serves again that had ended or could not take over. */
  readonly recovered?: () => void;
}

/** The journal, links and memory with which a shard serves. */
export interface ShardResources {
  readonly journal: JournalConnection;
  readonly peers: readonly Peer[];
}

/** Callbacks and shared parts of the service. */
export interface ShardDependencies {
  readonly index: number;
  /** Budgets that all shards share. */
  readonly budgets: SharedRequestBudgets;
  /** Buckets of limits that all shards share. */
  readonly limits: LimitMemory;
  /** Returns the address to listen on. */
  readonly address: () => Address;
  /** Called at each start, once the module is admitted. The thread is then asked to serve. */
  readonly acquire: (thread: ShardThread) => Promise<ShardResources>;
  /** Called when the thread listens. The address is undefined if the service has no HTTP server. */
  readonly listens: (thread: ShardThread, address: Address | undefined) => void;
  /** Called when the thread has ended or could not start; another one is started after `pauseMs`. */
  readonly hasEnded: (pauseMs: number) => void;
}

export class SupervisedShard {
  /** Counts of the limits that the threads of the shard have hit. */
  readonly counters = new LimitCounters();
  readonly ends = new ShardEnds();
  /** Counts of its threads; undefined before the module is admitted. */
  numbers: ShardNumbers | undefined;
  /** Whether its thread serves requests and calls. */
  isServing = false;
  readonly #supervised: Supervised;
  readonly #dependencies: ShardDependencies;
  /** Maximum number of spans that the shard keeps. */
  readonly #capacity: number;
  #pauses: RestartPauses;
  /** Source that its next thread runs. */
  #source: Promise<GuestSource>;
  #thread: ShardThread | undefined;
  /** Settles with the latest start, and never rejects. */
  #startSettled: Promise<unknown> = Promise.resolve();
  #isStopping = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(supervised: Supervised, dependencies: ShardDependencies) {
    this.#supervised = supervised;
    this.#dependencies = dependencies;
    const { sections } = supervised.settings;
    this.#capacity = sections.observability.ringCapacity;
    this.#pauses = new RestartPauses(supervised.limits);
    this.#source = supervised.source;
  }

  /** Starts the shard. Resolves once it listens; rejects with the reason why it cannot. */
  async start(): Promise<ModuleDescriptor> {
    const started = this.#start();
    this.#startSettled = started.catch(() => {});
    return started;
  }

  /** Starts a thread that loads the host's code while the module is built. It serves nothing before `takeOver`. */
  standBy(source: Promise<GuestSource>): ShardThread {
    return this.#newThread(source);
  }

  /**
   * Replaces the current thread by the standby one, whose module has started, once the requests in flight there have
   * finished or their time is over. Rejects if the standby thread cannot serve; a
   * thread for the same module is then started after a pause.
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

  /** Asks the shard a question (shard-thread.ts). */
  async ask<Question extends ShardQuestion>(
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>> {
    if (this.#thread === undefined) throw shardAway();
    return this.#thread.ask(question, timeoutMs);
  }

  /** Resolves once no requests are served, because the shard was stopped or has no thread. */
  async finished(): Promise<void> {
    await this.#thread?.finished;
  }

  /** Stops the shard after the requests in flight. Resolves with whether all of them could finish. */
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
    const { index, address, budgets } = this.#dependencies;
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
    const { acquire, listens } = this.#dependencies;
    try {
      const descriptor = await shard.admitted;
      if (this.#isStopping) throw stopping();
      const { journal, peers } = await Promise.race([acquire(shard), endOf(shard)]);
      this.numbers ??= new ShardNumbers(descriptor, this.#capacity);
      const source = await this.#source;
      const { serveViews, certificates, configuration } = this.#supervised;
      shard.serve({
        journal,
        peers,
        numbers: this.numbers.shared,
        views: serveViews?.(source),
        certificates: certificates?.(),
        configuration: configuration?.(source),
        limits: this.#dependencies.limits.of(source, descriptor),
      });
      listens(shard, await shard.listening);
      this.isServing = true;
      const sinceMs = performance.now();
      void shard.ended.then((end) => {
        // A thread that was replaced has ended as expected.
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
    requestThreadEnded(this.#dependencies.budgets, this.#dependencies.index);
    if (isHang) this.counters.count('shard-hangs');
    const message = isHang
      ? 'the shard did not answer, was ended, and is started again'
      : 'the shard ended by itself and is started again';
    this.#startAgain(message, reason, servedMs);
  }

  #startAgain(message: string, reason: string, servedMs: number): void {
    if (this.#isStopping) return;
    this.counters.count('shard-ends');
    const { index } = this.#dependencies;
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
    this.#dependencies.hasEnded(pauseMs);
    this.#pause = setTimeout(() => {
      const source = this.#source;
      this.start().then(
        () => {
          const { log, recovered } = this.#supervised;
          log({
            level: 'info',
            message: 'the service is served again',
            fields: this.#which(),
          });
          recovered?.();
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

  /** Log field with the shard's index; empty for a service of one shard. */
  #which(): { readonly shard?: number } {
    return this.#supervised.settings.count === 1 ? {} : { shard: this.#dependencies.index };
  }
}

/** Rejects if the thread ends before it listens, as it may while it waits for the journal; otherwise stays pending. */
async function endOf(shard: ShardThread): Promise<never> {
  await shard.listening;
  return new Promise(() => {});
}

function stopping(): SvcError {
  return new SvcError('SVC_STOPPING', 'The service was stopped before it had started.');
}

function reasonOf(error: unknown): string {
  return error instanceof SvcError ? `${error.message} [${error.code}]` : String(error);
}
