// OpenQuestions holds the questions that a shard was asked and has not answered yet. Each settles once: with the
// shard's answer, with the reason why there is none, at its time limit, or when the shard ends.
import { SvcError } from '@svc/kit/svc-error';
import type { ShardAnswer } from './shard-questions.ts';

interface Open {
  readonly resolve: (answer: ShardAnswer) => void;
  readonly reject: (reason: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

export class OpenQuestions {
  readonly #open = new Map<number, Open>();
  #asked = 0;

  /**
   * Asks a question. `send`: receives the question's number. Rejects with SVC_SHARD_UNAVAILABLE,
   * SVC_ANSWER_TIMED_OUT, and the reason that `failed` is given.
   */
  ask(send: (number: number) => void, timeoutMs: number): Promise<ShardAnswer> {
    const number = ++this.#asked;
    return new Promise((resolve, reject) => {
      const late = () => {
        this.#open.delete(number);
        reject(
          new SvcError(
            'SVC_ANSWER_TIMED_OUT',
            `The service computes, and has not answered within ${timeoutMs} ms.`,
          ),
        );
      };
      this.#open.set(number, { resolve, reject, timer: setTimeout(late, timeoutMs) });
      send(number);
    });
  }

  answered(number: number, answer: ShardAnswer): void {
    this.#closed(number)?.resolve(answer);
  }

  /** Rejects a question that could not be answered. */
  failed(number: number, reason: unknown): void {
    this.#closed(number)?.reject(reason);
  }

  /** Fails all open questions, because the shard has ended. */
  fail(): void {
    for (const [number, { reject, timer }] of this.#open) {
      this.#open.delete(number);
      clearTimeout(timer);
      reject(shardAway());
    }
  }

  /** Removes a question and returns it; returns undefined if it has settled before, by its time limit for example. */
  #closed(number: number): Open | undefined {
    const open = this.#open.get(number);
    this.#open.delete(number);
    clearTimeout(open?.timer);
    return open;
  }
}

export function shardAway(): SvcError {
  return new SvcError(
    'SVC_SHARD_UNAVAILABLE',
    'The part of the service that was asked is being started again. Try again.',
  );
}
