// Supervisor: owns the thread of a shard. It starts it, hands it the journal, stops it, and starts
// another when it ends by itself, with growing pauses. The main thread runs nothing else of a service,
// so it keeps answering whatever a guest does. Invariants:
// I1  The journal is opened after the module is admitted: a refused module touches nothing on disk.
// I2  At most one shard thread lives at a time.
// I3  After `stop` no thread is started, and none is left.
import { Worker, type MessagePort } from 'node:worker_threads';
import { SvcError, type SvcErrorCode } from './model/svc-error.ts';
import type { Log } from './log.ts';
import type { Address, FromShard, ShardSettings, ToShard } from './shard-messages.ts';
import type { SupervisorLimits } from './supervisor-limits.ts';
import type { ModuleDescriptor } from '@svc/contract';

interface Supervised {
  readonly settings: ShardSettings;
  readonly limits: SupervisorLimits;
  /** Called at each start, once the module is admitted; the port leads to the journal's writer. */
  readonly connectJournal: () => Promise<MessagePort>;
  readonly log: Log;
}

export class Supervisor {
  readonly #supervised: Supervised;
  #shard: Shard | undefined;
  #restarts = 0;
  #stopping = false;
  #pause: NodeJS.Timeout | undefined;
  #address: Address;

  constructor(supervised: Supervised) {
    this.#supervised = supervised;
    this.#address = supervised.settings.address;
  }

  /** Resolves once the service listens; rejects with the reason why it cannot. */
  async start(): Promise<{ readonly address: Address; readonly descriptor: ModuleDescriptor }> {
    const shard = new Shard(
      { ...this.#supervised.settings, address: this.#address },
      this.#supervised.log,
    );
    this.#shard = shard;
    try {
      const descriptor = await shard.admitted;
      shard.serve(await this.#supervised.connectJournal());
      // A service that comes back keeps the port that it was given.
      this.#address = await shard.listening;
      const sinceMs = performance.now();
      void shard.ended.then((reason) => this.#restart(reason, performance.now() - sinceMs));
      return { address: this.#address, descriptor };
    } catch (error) {
      await shard.end();
      throw error;
    }
  }

  /** Finishes what is in flight. Says whether all of it could finish. */
  async stop(): Promise<boolean> {
    this.#stopping = true;
    clearTimeout(this.#pause);
    const { stopGraceMs, stopMarginMs } = this.#supervised.limits;
    return (await this.#shard?.stop(stopGraceMs, stopGraceMs + stopMarginMs)) ?? true;
  }

  #restart(reason: string, servedMs: number): void {
    if (this.#stopping) return;
    const { restartPauseMs, restartPauseMaxMs, healthyAfterMs } = this.#supervised.limits;
    if (servedMs >= healthyAfterMs) this.#restarts = 0;
    const pauseMs = Math.min(restartPauseMs * 2 ** this.#restarts++, restartPauseMaxMs);
    this.#supervised.log({
      level: 'error',
      message: 'the shard ended by itself and is started again',
      fields: { code: 'SVC_SHARD_FAILED', reason, pauseMs },
    });
    this.#pause = setTimeout(() => {
      this.start().catch((error: unknown) => this.#restart(String(error), 0));
    }, pauseMs);
  }
}

/** One thread, from its start to its end. */
class Shard {
  readonly admitted: Promise<ModuleDescriptor>;
  readonly listening: Promise<Address>;
  /** Resolves with the reason when the thread has ended, whatever the reason. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  readonly #stopped = Promise.withResolvers<void>();
  #isListening = false;

  constructor(settings: ShardSettings, log: Log) {
    const admitted = Promise.withResolvers<ModuleDescriptor>();
    const listening = Promise.withResolvers<Address>();
    const ended = Promise.withResolvers<string>();
    this.#worker = new Worker(new URL('./shard.ts', import.meta.url), { workerData: settings });
    let reason = 'the thread ended';
    const fail = (code: SvcErrorCode, message: string) => {
      const error = new SvcError(code, message);
      admitted.reject(error);
      listening.reject(error);
    };
    this.#worker.on('message', (message: FromShard) => {
      switch (message.kind) {
        case 'admitted':
          return admitted.resolve(message.descriptor);
        case 'listening':
          this.#isListening = true;
          return listening.resolve(message.address);
        case 'failed':
          return fail(message.code, message.message);
        case 'log':
          return log(message.entry);
        case 'stopped':
          return this.#stopped.resolve();
      }
    });
    this.#worker.on('error', (error: unknown) => {
      reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    this.#worker.on('exit', () => {
      fail('SVC_SHARD_FAILED', `The thread that runs the module ended at its start: ${reason}`);
      this.#stopped.resolve();
      ended.resolve(reason);
    });
    // Each is looked at in its turn; a failure must not count as unhandled before.
    admitted.promise.catch(() => {});
    listening.promise.catch(() => {});
    this.admitted = admitted.promise;
    this.listening = listening.promise;
    this.ended = ended.promise;
  }

  serve(journal: MessagePort): void {
    this.#send({ kind: 'serve', journal }, [journal]);
  }

  /** Says whether everything in flight could finish. Before it listens, nothing is. */
  async stop(graceMs: number, boundMs: number): Promise<boolean> {
    if (!this.#isListening) {
      await this.end();
      return true;
    }
    this.#send({ kind: 'stop', graceMs });
    const bound = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => bound.resolve(false), boundMs);
    const inTime = await Promise.race([this.#stopped.promise.then(() => true), bound.promise]);
    clearTimeout(timer);
    await this.end();
    return inTime;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(message: ToShard, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
