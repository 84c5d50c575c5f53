// What a connection answers by itself, beside the failures of messages.
import { NO_FIELDS } from '../messages/field-list.ts';
import { NO_BODY } from '../messages/framing.ts';
import type { RequestHead } from '../messages/heads.ts';
import type { Refusal } from './server-handler.ts';

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
