// HistoryThread answers questions about stored entities in a thread of its own, which exists while somebody asks: it runs
// the module's code and reads as much of the journal as it is asked for. It answers one question at a time, and is ended
// when an answer takes too long or too much memory, or when nobody has asked for a while.
import { Worker } from 'node:worker_threads';
import { SvcError } from '@svc/kit/svc-error';
import type {
  AnswerToQuestion,
  FromHistoryWorker,
  HistoryQuestion,
  HistoryReader,
  HistoryWork,
} from './history-reader.ts';

const WAITING_MAX = 32;
/** Answers that a question waits for, each as long as one may take. */
const PATIENCE = 1.5;

interface Asked {
  readonly question: HistoryQuestion;
  readonly sinceMs: number;
  readonly resolve: (message: FromHistoryWorker) => void;
  readonly reject: (reason: unknown) => void;
}

export interface HistoryThreadOptions {
  /** Asked for when a thread is started. */
  readonly work: () => HistoryWork;
  /** All that the thread has for an environment. */
  readonly env: Readonly<Record<string, string>>;
  /** For one answer. */
  readonly timeoutMs?: number;
  readonly memoryMib?: number;
  /** Without a question the thread is ended then. */
  readonly idleMs?: number;
  /** What the thread runs. */
  readonly file?: URL;
}

export class HistoryThread implements HistoryReader {
  readonly #options: Required<HistoryThreadOptions>;
  readonly #waiting: Asked[] = [];
  #asked: Asked | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #mustRenew = false;
  #isClosed = false;
  #ended: Promise<void> | undefined;

  constructor(options: HistoryThreadOptions) {
    const file = new URL('./history-worker.ts', import.meta.url);
    this.#options = {
      timeoutMs: 10_000,
      memoryMib: 256,
      idleMs: 30_000,
      file,
      ...options,
    };
  }

  /** Rejects with SVC_ANSWER_TIMED_OUT, SVC_OVERLOADED, SVC_STOPPING and whatever the question fails with. */
  async ask<Question extends HistoryQuestion>(
    question: Question,
  ): Promise<AnswerToQuestion<Question>> {
    if (this.#isClosed) throw stopping();
    if (this.#waiting.length >= WAITING_MAX) throw overloaded();
    const { promise, resolve, reject } = Promise.withResolvers<FromHistoryWorker>();
    this.#waiting.push({ question, sinceMs: performance.now(), resolve, reject });
    this.#goOn();
    const message = await promise;
    if (message.kind === 'failed') throw new SvcError(message.code, message.message);
    return message.answer as AnswerToQuestion<Question>;
  }

  /** May be called again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    this.#settled()?.reject(stopping());
    await (this.#ended ??= this.#end());
  }

  /** There is other work now: what is asked from here on is answered by another thread. */
  renew(): void {
    if (this.#asked === undefined) void this.#end();
    else this.#mustRenew = true;
  }

  #goOn(): void {
    if (this.#asked !== undefined) return;
    clearTimeout(this.#timer);
    this.#asked = this.#next();
    const { timeoutMs, idleMs } = this.#options;
    if (this.#asked === undefined) {
      this.#timer = setTimeout(() => void this.#end(), idleMs).unref();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#fail(
        new SvcError(
          'SVC_ANSWER_TIMED_OUT',
          `What was asked about the past was not answered within ${timeoutMs} ms. Ask for less.`,
        ),
      );
    }, timeoutMs);
    this.#worker ??= this.#start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#worker.postMessage(this.#asked.question);
  }

  /** Who had to wait for two that took too long is told to try again, and not much later than that. */
  #next(): Asked | undefined {
    const leastMs = performance.now() - PATIENCE * this.#options.timeoutMs;
    for (;;) {
      const asked = this.#waiting.shift();
      if (asked === undefined || asked.sinceMs >= leastMs) return asked;
      asked.reject(overloaded());
    }
  }

  #start(): Worker {
    const { file, work, env, memoryMib } = this.#options;
    const worker = new Worker(file, {
      name: 'history',
      workerData: work(),
      env,
      resourceLimits: { maxOldGenerationSizeMb: memoryMib },
    });
    // One that was ended may have had something to say.
    const ifPresent = (act: () => void) => {
      if (this.#worker === worker) act();
    };
    worker.on('message', (message: FromHistoryWorker) =>
      ifPresent(() => {
        this.#settled()?.resolve(message);
        if (this.#mustRenew) void this.#end();
        this.#goOn();
      }),
    );
    worker.on('error', (error: NodeJS.ErrnoException) =>
      ifPresent(() => this.#fail(failureOf(error, memoryMib))),
    );
    return worker;
  }

  /** What was asked is settled, well or not. */
  #settled(): Asked | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    clearTimeout(this.#timer);
    return asked;
  }

  /** The thread is of no more use; what waits is answered by another. */
  #fail(reason: unknown): void {
    this.#settled()?.reject(reason);
    void this.#end();
    this.#goOn();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    this.#mustRenew = false;
    await worker?.terminate();
  }
}

function failureOf(error: NodeJS.ErrnoException, memoryMib: number): unknown {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new SvcError(
    'SVC_OVERLOADED',
    `To look there takes more than ${memoryMib} MiB of memory. Ask for less.`,
  );
}

function overloaded(): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    'Too many questions about the past wait for their answer. Try again.',
  );
}

function stopping(): SvcError {
  return new SvcError('SVC_STOPPING', 'The service is stopping.');
}
