// Call: how a flow reaches entities. Endpoints and consumers have it in their contexts.
//
// A flow spans entities: it claims a place in the parent, creates the child, and confirms the claim (model/claims.ts). What it
// does follows from the replies of commands: a request that is repeated with its idempotency key then gets the replies of the
// first time, takes the same way, and does nothing twice. A refusal that may end is the exception: the request tries again, since
// 503 and 429 promise that it may (`decidedSince`). What a flow that is cut off leaves behind is settled by consumers/.
//
// Invariant: a flow rejects only if its change was not made. Once the command that makes the change has succeeded, a failure to
// confirm or to release claims does not fail the flow (`tidyUp`): a caller who gets 503 may rely on it that nothing was done.
import type { EndpointContext, Result } from '@svc/host';
import { SvcError } from '@svc/kit/svc-error';
import { isDecidedBefore, type TransientCode } from '../model/refusals.ts';

export type Call = EndpointContext['call'];

/**
 * Takes a step that follows the command that makes the change, or its refusal. Its failure is ignored, since the consumer
 * `settleClaims` takes the same step.
 */
export async function tidyUp(step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    // The runtime has logged why it cannot store anything. Any other error is a defect.
    if (!(error instanceof SvcError)) throw error;
  }
}

const ATTEMPTS_MAX = 4;
/** Refusals of earlier requests with the same idempotency key that a request skips. Each earlier request left a few. */
const SKIPPED_MAX = 1_000;

/**
 * Runs a flow again if its claims were too old, or something that it depends on has changed meanwhile. A request that is repeated
 * after a crash gets the claims of the first time, and makes new ones then.
 */
export async function inTime<Value>(flow: () => Promise<Result<Value>>): Promise<Result<Value>> {
  const sinceMs = Date.now();
  for (let attempt = 1; ; attempt++) {
    const result = await decidedSince(sinceMs, flow);
    if (result.isOk || attempt === ATTEMPTS_MAX || !RUN_AGAIN.has(result.otherCode)) return result;
  }
}

const RUN_AGAIN: ReadonlySet<string | undefined> = new Set<TransientCode>([
  'CLAIM_OVER',
  'NEEDS_CLAIM',
  'NEEDS_POINTER',
  'ADDRESS_FULL',
]);

/**
 * Sends a command again while its refusal is one that may end, and an earlier request with the same idempotency key got it: each
 * time it is sent it has another key, until it is decided anew.
 */
export async function decidedSince<Value>(
  sinceMs: number,
  command: () => Promise<Result<Value>>,
): Promise<Result<Value>> {
  for (let skipped = 0; ; skipped++) {
    const result = await command();
    if (result.isOk || skipped === SKIPPED_MAX || !isDecidedBefore(result, sinceMs)) return result;
  }
}
