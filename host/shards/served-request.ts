// ServedRequest: a request of another shard while its handler runs here: what it has cost, whether it came to the right
// shard, and how it is given up.
import type { AnswerWaiter } from '../model/endpoint.ts';
import type { KeptBytes } from '../model/kept-bytes.ts';
import type { RequestCost } from './frame.ts';

export class ServedRequest implements AnswerWaiter, RequestCost {
  /** By which the other shard knows it. */
  readonly number: number;
  fuel = 0;
  hasStrayed = false;
  giveUp: AnswerWaiter['giveUp'] = undefined;
  readonly kept: KeptBytes;

  constructor(number: number, kept: KeptBytes) {
    this.number = number;
    this.kept = kept;
  }
}
