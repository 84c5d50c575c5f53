// Supervisor: sees to it that one shard thread runs a service. It starts it, hands it the journal,
// stops it, and starts another when it ends by itself, with growing pauses. The main thread runs
// nothing else of a service, so it keeps answering whatever a guest does. Invariants:
// I1  The journal is asked for after the module is admitted: a refused module touches nothing on disk.
// I2  At most one shard thread lives at a time.
// I3  After `stop` no thread is started, none is left, and nobody is asking for the journal.
import type { MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { Log } from './log.ts';
import { SvcError } from './model/svc-error.ts';
import type { Address, ShardSettings } from './shard-messages.ts';
import { ShardThread } from './shard-thread.ts';
import type { SupervisorLimits } from './supervisor-limits.ts';

export interface Supervised {
  /** What a shard's thread runs. */
  readonly shardFile: URL;
  readonly settings: ShardSettings;
  readonly limits: SupervisorLimits;
  /** Called at each start, once the module is admitted; the port leads to the journal's writer. */
  readonly connectJournal: () => Promise<MessagePort>;
  readonly log: Log;
}

export interface Started {
  readonly address: Address;
  readonly descriptor: ModuleDescriptor;
}

export class Supervisor {
  readonly #supervised: Supervised;
  #shard: ShardThread | undefined;
  /** The latest start; it settles with it, and never rejects. */
  #startSettled: Promise<unknown> = Promise.resolve();
  #restarts = 0;
  #isStopping = false;
  #pause: NodeJS.Timeout | undefined;
  #address: Address;

  constructor(supervised: Supervised) {
    this.#supervised = supervised;
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
    return inTime;
  }

  async #start(): Promise<Started> {
    const { shardFile, settings, connectJournal, log } = this.#supervised;
    const shard = new ShardThread(shardFile, { ...settings, address: this.#address }, log);
    this.#shard = shard;
    try {
      const descriptor = await shard.admitted;
      shard.serve(await connectJournal());
      // A service that comes back keeps the port that it was given.
      this.#address = await shard.listening;
      const sinceMs = performance.now();
      void shard.ended.then((reason) => {
        const servedMs = performance.now() - sinceMs;
        if (servedMs >= this.#supervised.limits.healthyAfterMs) this.#restarts = 0;
        this.#startAgain('the shard ended by itself and is started again', reason);
      });
      return { address: this.#address, descriptor };
    } catch (error) {
      await shard.end();
      throw error;
    }
  }

  #startAgain(message: string, reason: string): void {
    if (this.#isStopping) return;
    const { restartPauseMs, restartPauseMaxMs } = this.#supervised.limits;
    const pauseMs = Math.min(restartPauseMs * 2 ** this.#restarts++, restartPauseMaxMs);
    this.#supervised.log({
      level: 'error',
      message,
      fields: { code: 'SVC_SHARD_FAILED', reason, pauseMs },
    });
    this.#pause = setTimeout(() => {
      this.start().catch((error: unknown) => {
        const why = error instanceof SvcError ? `${error.message} [${error.code}]` : String(error);
        this.#startAgain('the shard could not be started and is tried again', why);
      });
    }, pauseMs);
  }
}
