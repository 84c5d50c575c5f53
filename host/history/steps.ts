// Steps are a computation that uses the answers of a guest. `waiting` runs it with a guest that answers later, such as one of a process;
// `atOnce` runs the same computation synchronously, for the test kit, whose guests answer at once.
import assert from 'node:assert';
import type { Awaitable } from '@svc/model/call';

/** Yields each answer that it has to wait for. */
export type Steps<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Continues with an answer of the guest. Throws what the guest has thrown. */
export function* answered<T>(answer: Awaitable<T>): Steps<T> {
  return answer instanceof Promise ? ((yield answer) as T) : answer;
}

/** Runs steps whose answers are all there. Throws what they throw. */
export function atOnce<T>(steps: Steps<T>): T {
  const { done, value } = steps.next();
  assert(done === true, 'the sandbox answers entities at once');
  return value;
}

/** Runs steps, and waits for answers. Rejects with what they throw. */
export async function waiting<T>(steps: Steps<T>): Promise<T> {
  let next = steps.next();
  while (next.done !== true) {
    let answer: unknown;
    try {
      answer = await next.value;
    } catch (error) {
      next = steps.throw(error);
      continue;
    }
    next = steps.next(answer);
  }
  return next.value;
}
