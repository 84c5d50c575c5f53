// Supervisor: sees to it that one shard thread runs a service. It starts it, hands it the journal,
// stops it, and starts another when it has ended, by itself or because it did not answer any more, with
// growing pauses; meanwhile callers are told to try again. The main thread runs nothing else of a
// service, so it keeps answering whatever a guest does. Invariants:
// I1  The journal is asked for after the module is admitted: a refused module touches nothing on disk.
// I2  At most one shard thread lives at a time.
// I3  After `stop` no thread is started, none is left, and nobody is asking for the journal.
// I4  The port is held only while no shard is about to listen on it.
import type { MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { AdmittedModule } from './hosting/wasm/admission.ts';
import { HeldPort } from './held-port.ts';
import { LimitCounters } from './limit-counters.ts';
import type { Log } from './log.ts';
import { SvcError } from './model/svc-error.ts';
import { RestartPauses } from './restart-pauses.ts';
import type { Address, ShardSettings } from './shard-messages.ts';
import { type ShardEnd, ShardThread } from './shard-thread.ts';
import type { SupervisorLimits } from './supervisor-limits.ts';

export interface Supervised {
  /** What a shard's thread runs. */
  readonly shardFile: URL;
  readonly settings: Omit<ShardSettings, 'counters'>;
  /** What the shards run, or why there is nothing to be run. */
  readonly module: Promise<AdmittedModule>;
  readonly limits: SupervisorLimits;
  /** All that a shard's thread has for an environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called at each start, once the module is admitted; the port leads to the journal's writer. */
  readonly connectJournal: () => Promise<MessagePort>;
  readonly log: Log;
}

export interface Started {
  readonly address: Address;
  readonly descriptor: ModuleDescriptor;
}

export class Supervisor {
  /** What all shards of this service have met. */
  readonly counters = new LimitCounters();
  readonly #supervised: Supervised;
  readonly #pauses: RestartPauses;
  readonly #heldPort = new HeldPort();
  #shard: ShardThread | undefined;
  /** The latest start; it settles with it, and never rejects. */
  #startSettled: Promise<unknown> = Promise.resolve();
  #isStopping = false;
  #pause: NodeJS.Timeout | undefined;
  #address: Address;

  constructor(supervised: Supervised) {
    this.#supervised = supervised;
    this.#pauses = new RestartPauses(supervised.limits);
    this.#address = supervised.settings.address;
  }

  /** Resolves once the service listens; rejects with the reason why it cannot. */
  async start(): Promise<Started> {
    const started = this.#start();
    this.#startSettled = started.catch(() => {});
    return started;
  }

  /** Finishes what is in flight. Says whether all of it could finish. */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    clearTimeout(this.#pause);
    const { stopGraceMs, stopMarginMs } = this.#supervised.limits;
    const inTime = (await this.#shard?.stop(stopGraceMs, stopGraceMs + stopMarginMs)) ?? true;
    await this.#startSettled;
    await this.#heldPort.release();
    return inTime;
  }

  async #start(): Promise<Started> {
    const { shardFile, settings, module, limits, env = {}, connectJournal, log } = this.#supervised;
    const shard = new ShardThread({
      file: shardFile,
      settings: { ...settings, address: this.#address, counters: this.counters.shared },
      module,
      limits,
      env,
      log,
    });
    this.#shard = shard;
    try {
      const descriptor = await shard.admitted;
      const journal = await connectJournal();
      await this.#heldPort.release();
      shard.serve(journal);
      // A service that comes back keeps the port that it was given.
      this.#address = await shard.listening;
      const sinceMs = performance.now();
      void shard.ended.then((end) => this.#hasEnded(end, performance.now() - sinceMs));
      return { address: this.#address, descriptor };
    } catch (error) {
      await shard.end();
      throw error;
    }
  }

  #hasEnded({ reason, isHang }: ShardEnd, servedMs: number): void {
    if (isHang) this.counters.count('shard-hangs');
    const message = isHang
      ? 'the shard did not answer, was ended, and is started again'
      : 'the shard ended by itself and is started again';
    this.#startAgain(message, reason, servedMs);
  }

  #startAgain(message: string, reason: string, servedMs: number): void {
    if (this.#isStopping) return;
    this.counters.count('shard-ends');
    const pauseMs = this.#pauses.next(servedMs);
    this.#supervised.log({
      level: 'error',
      message,
      fields: { code: 'SVC_SHARD_FAILED', reason, ends: this.#pauses.ends, pauseMs },
    });
    this.#heldPort.hold(this.#address, pauseMs);
    this.#pause = setTimeout(() => {
      this.start().then(
        () => this.#supervised.log({ level: 'info', message: 'the service is served again' }),
        (error: unknown) => {
          const why =
            error instanceof SvcError ? `${error.message} [${error.code}]` : String(error);
          this.#startAgain('the shard could not be started and is tried again', why, 0);
        },
      );
    }, pauseMs);
  }
}
