// Parts of a message in the order in which a reader gives them: a head, data, an end. A failure may come at any time and
// is the last part.
import type { MessageFailure } from './failure.ts';
import type { FieldList } from './field-list.ts';
import type { RequestHead, ResponseHead } from './heads.ts';

/** `bytes` is a part of the buffer that was pushed, not a copy. */
export interface DataPart {
  readonly kind: 'data';
  readonly bytes: Buffer;
}

/** Ends a message, whether or not it had a body. */
export interface EndPart {
  readonly kind: 'end';
  readonly trailers: FieldList;
}

export interface FailurePart {
  readonly kind: 'failure';
  readonly failure: MessageFailure;
}

export type RequestPart =
  | { readonly kind: 'head'; readonly head: RequestHead }
  | DataPart
  | EndPart
  | FailurePart;

export type ResponsePart =
  /** A response with a status from 100 to 199, which another response follows. */
  | { readonly kind: 'informational'; readonly head: ResponseHead }
  | { readonly kind: 'head'; readonly head: ResponseHead }
  | DataPart
  | EndPart
  | FailurePart;
