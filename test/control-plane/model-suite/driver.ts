// Driver: how the requests of a history reach a control plane, whichever way that is.
import type { Answer } from './reference.ts';
import type { Request } from './requests.ts';

export interface SentRequest {
  readonly request: Request;
  /** Added to the ids of the request: histories share a control plane. */
  readonly run: string;
  readonly idempotencyKey: string;
}

export interface Driver {
  /** Undefined: the outcome is not known. */
  send(sent: SentRequest): Promise<Answer | undefined>;
  /** Fails unless every name is claimed by what exists, and by nothing else. */
  expectSettled(run: string): Promise<void>;
}
