// ShardThread: one thread of a shard, from its start to its end: what it has said so far, and the ways
// to stop it. Whether another follows is the supervisor's business. Invariants:
// I1  `ended` resolves once, whatever ends the thread; what the thread still owed is rejected before.
// I2  A port that the thread can no longer take is closed, so that its other end learns of it.
import { Worker, type MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { Log } from './log.ts';
import { SvcError, type SvcErrorCode } from './model/svc-error.ts';
import type { Address, FromShard, ShardSettings, ToShard } from './shard-messages.ts';

export class ShardThread {
  /** Rejects when the module is refused, or the thread ends before. */
  readonly admitted: Promise<ModuleDescriptor>;
  /** Rejects when the service cannot be served, or the thread ends before. */
  readonly listening: Promise<Address>;
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  /** Whether everything in flight could finish. */
  readonly #stopped = Promise.withResolvers<boolean>();
  #isListening = false;
  #hasEnded = false;

  /** `file`: what the thread runs; it speaks the words of shard-messages.ts. */
  constructor(file: URL, settings: ShardSettings, log: Log) {
    const admitted = Promise.withResolvers<ModuleDescriptor>();
    const listening = Promise.withResolvers<Address>();
    const ended = Promise.withResolvers<string>();
    this.#worker = new Worker(file, { name: 'shard', workerData: settings });
    let reason = 'the thread ended without saying why';
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
          // Nothing works any more in a thread that says so, at its start or later.
          fail(message.code, message.message);
          reason = `${message.message} [${message.code}]`;
          return void this.end();
        case 'log':
          return log(message.entry);
        case 'stopped':
          return this.#stopped.resolve(true);
      }
    });
    this.#worker.on('error', (error: unknown) => {
      reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    this.#worker.on('exit', () => {
      this.#hasEnded = true;
      fail(
        'SVC_SHARD_FAILED',
        `The thread that runs the module ended at its start: ${reason}. ` +
          'Start the service again; when it happens again, report it with this reason.',
      );
      this.#stopped.resolve(false);
      ended.resolve(reason);
    });
    // Each is looked at in its turn; a failure must not count as unhandled before.
    admitted.promise.catch(() => {});
    listening.promise.catch(() => {});
    this.admitted = admitted.promise;
    this.listening = listening.promise;
    this.ended = ended.promise;
  }

  /** Lets an admitted module be served. */
  serve(journal: MessagePort): void {
    if (this.#hasEnded) journal.close();
    else this.#send({ kind: 'serve', journal }, [journal]);
  }

  /** Says whether everything in flight could finish. Before it listens, nothing is. */
  async stop(graceMs: number, boundMs: number): Promise<boolean> {
    if (!this.#isListening || this.#hasEnded) {
      await this.end();
      return true;
    }
    this.#send({ kind: 'stop', graceMs });
    const timer = setTimeout(() => this.#stopped.resolve(false), boundMs);
    const inTime = await this.#stopped.promise;
    clearTimeout(timer);
    await this.end();
    return inTime;
  }

  /** Ends the thread, whatever it is doing. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(message: ToShard, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
