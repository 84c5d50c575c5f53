// WithinTime: calls the orchestrator with a limit of time. The result of a call that ends later is dropped.
import type { Clock } from '@svc/kit/clock';

/** The orchestrator did not answer in time. */
export class NoAnswerInTime extends Error {
  override readonly name = 'NoAnswerInTime';

  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`);
  }
}

export interface TimeLimit {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Aborted when nobody wants the answer any more. */
  readonly stopping?: AbortSignal;
}

/** Rejects with NoAnswerInTime, with the reason of `stopping`, or as the call does; a call that throws counts as rejected. */
export function withinTime<Value>(
  { clock, limitMs, stopping }: TimeLimit,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (stopping?.aborted === true) throw stopping.reason;
    const controller = new AbortController();
    const settled = () => {
      cancel();
      stopping?.removeEventListener('abort', stop);
    };
    const end = (error: unknown) => {
      settled();
      reject(error);
      controller.abort(error);
    };
    const stop = () => end(stopping?.reason);
    const cancel = clock.after(limitMs, () => end(new NoAnswerInTime(limitMs)));
    stopping?.addEventListener('abort', stop, { once: true });
    Promise.try(call, controller.signal).then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}
