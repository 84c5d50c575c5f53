// HistoryThread answers questions about stored entities in a separate thread, because an answer runs the module's
// code and may read much of the journal. The thread is started for a question and answers one at a time. It is ended
// when an answer takes too long or too much memory, or when there was no question for a while.
import { Worker } from 'node:worker_threads';
import { SvcError } from '@svc/kit/svc-error';
import type {
  AnswerToQuestion,
  FromHistoryWorker,
  HistoryQuestion,
  HistoryReader,
  HistoryWork,
} from './history-reader.ts';

/** Maximum number of questions that wait. */
const WAITING_MAX = 32;
/** Maximum time that a question may wait for others, as a multiple of the time limit of one answer. */
const WAIT_FACTOR = 1.5;

interface Asked {
  readonly question: HistoryQuestion;
  readonly sinceMs: number;
  readonly resolve: (message: FromHistoryWorker) => void;
  readonly reject: (reason: unknown) => void;
}

export interface HistoryThreadOptions {
  /** Returns the start data; called whenever a thread is started. */
  readonly work: () => HistoryWork;
  /** The whole environment of the thread. */
  readonly env: Readonly<Record<string, string>>;
  /** Time limit for one answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Maximum size of the thread's old generation, in MiB. */
  readonly memoryMib?: number;
  /** A thread without a question is ended after this time, in milliseconds. */
  readonly idleMs?: number;
  /** Code of the thread. */
  readonly file?: URL;
}

export class HistoryThread implements HistoryReader {
  readonly #options: Required<HistoryThreadOptions>;
  readonly #waiting: Asked[] = [];
  #asked: Asked | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** True if the thread has to end after the question in progress. */
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

  /** Rejects with SVC_ANSWER_TIMED_OUT, SVC_OVERLOADED, SVC_STOPPING, and the error of the question itself. */
  async ask<Question extends HistoryQuestion>(
    question: Question,
  ): Promise<AnswerToQuestion<Question>> {
    if (this.#isClosed) throw stopping();
    if (this.#waiting.length >= WAITING_MAX) throw overloaded();
    const { promise, resolve, reject } = Promise.withResolvers<FromHistoryWorker>();
    this.#waiting.push({ question, sinceMs: performance.now(), resolve, reject });
    this.#askNext();
    const message = await promise;
    if (message.kind === 'failed') throw new SvcError(message.code, message.message);
    return message.answer as AnswerToQuestion<Question>;
  }

  /** Ends the thread. May be called again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    this.#takeAsked()?.reject(stopping());
    await (this.#ended ??= this.#end());
  }

  /**
   * Ends the current thread after the question in progress, because the start data has changed: further questions go to
   * a new thread.
   */
  renew(): void {
    if (this.#asked === undefined) void this.#end();
    else this.#mustRenew = true;
  }

  #askNext(): void {
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
          `The question about stored entities was not answered within ${timeoutMs} ms. Ask for less.`,
        ),
      );
    }, timeoutMs);
    this.#worker ??= this.#start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#worker.postMessage(this.#asked.question);
  }

  /**
   * Returns the next question to answer; undefined if none waits. A question that has waited too long is rejected with
   * SVC_OVERLOADED, so that its caller does not wait even longer.
   */
  #next(): Asked | undefined {
    const leastMs = performance.now() - WAIT_FACTOR * this.#options.timeoutMs;
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
    // Events of a thread that was ended already are ignored.
    const ifPresent = (act: () => void) => {
      if (this.#worker === worker) act();
    };
    worker.on('message', (message: FromHistoryWorker) =>
      ifPresent(() => {
        this.#takeAsked()?.resolve(message);
        if (this.#mustRenew) void this.#end();
        this.#askNext();
      }),
    );
    worker.on('error', (error: NodeJS.ErrnoException) =>
      ifPresent(() => this.#fail(failureOf(error, memoryMib))),
    );
    return worker;
  }

  /** Removes and returns the current question, which the caller settles; undefined if there is none. */
  #takeAsked(): Asked | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    clearTimeout(this.#timer);
    return asked;
  }

  /** Rejects the current question and ends the thread; another thread answers the waiting questions. */
  #fail(reason: unknown): void {
    this.#takeAsked()?.reject(reason);
    void this.#end();
    this.#askNext();
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
    'Too many questions about stored entities wait for their answer. Try again.',
  );
}

function stopping(): SvcError {
  return new SvcError('SVC_STOPPING', 'The service is stopping.');
}
