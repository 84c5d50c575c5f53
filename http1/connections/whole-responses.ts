// Responses that are given in one piece, and the reasons for which a connection sends one by itself.
import type { FailureStatus, MessageFailure } from '../messages/failure.ts';
import { NO_FIELDS } from '../messages/field-list.ts';
import { NO_BODY } from '../messages/framing.ts';
import type { RequestHead } from '../messages/heads.ts';

/** Why the connection itself answers a request. */
export interface Refusal {
  readonly code: MessageFailure['code'] | 'too-many-requests';
  readonly status: FailureStatus | 503;
  /** A sentence for people. */
  readonly reason: string;
}

export interface WholeResponse {
  readonly status: number;
  readonly reason: string;
  /** Name, value, name, value and so on, without Connection. */
  readonly fields: readonly string[];
  /** A text is latin1: a byte for each character. */
  readonly body: Buffer | string;
}

export const TOO_MANY_REQUESTS: Refusal = {
  code: 'too-many-requests',
  status: 503,
  reason: 'Too many requests are in flight.',
};

/** Stands for the request of an answer to bytes that are none. */
export const UNREADABLE: RequestHead = {
  method: '',
  target: '',
  path: '',
  authority: '',
  scheme: undefined,
  version: '1.1',
  fields: NO_FIELDS,
  framing: NO_BODY,
  keepsOpen: false,
  expectsContinue: false,
};
