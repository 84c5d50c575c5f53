// HandlerRun: what follows when a handler has answered: the answer waits until the write behind a speculative result is on disk,
// and is replaced by the failure of a call that the handler passes on. Handlers of requests and of events share it.
import type { Awaitable, Refusal } from '@svc/model/call';
import type { RequestCalls } from './request-calls.ts';

/** Throws when the handler was cancelled. */
export function checkWanted({ cancelReason }: RequestCalls): void {
  if (cancelReason !== undefined) throw cancelReason;
}

/** Runs the handler again from its beginning, where it can suspend, because its speculative result was not confirmed. */
export function replayed<Outcome extends { readonly kind: string } | Refusal>(
  calls: RequestCalls,
  handle: () => Awaitable<Outcome>,
): Promise<Outcome> {
  checkWanted(calls);
  calls.beginReplay();
  return settled(handle(), calls);
}

export async function settled<Outcome extends { readonly kind: string } | Refusal>(
  answer: Awaitable<Outcome>,
  calls: RequestCalls,
): Promise<Outcome> {
  return notPassedOn(await answer, calls);
}

/** Returns the answer. If it is the failure of a call that the handler passes on, throws that failure instead. */
export function notPassedOn<Outcome extends { readonly kind: string } | Refusal>(
  answer: Outcome,
  calls: RequestCalls,
): Outcome {
  const failure = isRefusal(answer) ? calls.failurePassedOnBy(answer) : undefined;
  if (failure !== undefined) throw failure;
  return answer;
}

function isRefusal(answer: { readonly kind: string }): answer is Refusal {
  return answer.kind === 'refusal';
}
