// WithinTime: calls the orchestrator with a limit of time. The result of a call that ends later is dropped.
import type { Clock } from '../clock.ts';

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
  const controller = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const end = (error: unknown) => {
    reject(error);
    controller.abort(error);
  };
  const stop = () => end(stopping?.reason);
  if (stopping?.aborted === true) {
    stop();
    return promise;
  }
  const cancel = clock.after(limitMs, () => end(new NoAnswerInTime(limitMs)));
  stopping?.addEventListener('abort', stop, { once: true });
  Promise.try(call, controller.signal).then(resolve, reject);
  return promise.finally(() => {
    cancel();
    stopping?.removeEventListener('abort', stop);
  });
}
