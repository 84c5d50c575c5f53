// EncodedReply: the reply of a query whose caller is in the same process. The caller gets a copy of the value in its JSON form, and
// the text is made only if somebody reads it.
//
// Invariant: the value shares nothing with the state of an entity, and one caller gets it.
import type { Reply } from '@svc/model/call';

export class EncodedReply implements Reply {
  readonly kind = 'reply';
  /** In the form of JSON.parse. */
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  get json(): string {
    return JSON.stringify(this.value);
  }
}
