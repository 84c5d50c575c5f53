// ServedRequest is a request of another shard while its handler runs here: its cost, whether it was sent to the right
// shard, and how it is cancelled.
import type { AnswerWaiter, ForwardedRequest } from '@svc/model/endpoint';
import type { KeptBytes } from '@svc/model/kept-bytes';
import type { RequestCost } from './frame.ts';

export class ServedRequest implements AnswerWaiter, ForwardedRequest, RequestCost {
  /** The number by which the other shard knows the request. */
  readonly number: number;
  fuel = 0;
  wasMisrouted = false;
  cancel: AnswerWaiter['cancel'] = undefined;
  /** Bytes of the answer, as they count against the memory budget until the other shard has acknowledged it. */
  readonly kept: KeptBytes;

  constructor(number: number, kept: KeptBytes) {
    this.number = number;
    this.kept = kept;
  }

  get forwarded(): ForwardedRequest {
    return this;
  }
}
