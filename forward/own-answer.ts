// OwnAnswer: a response that whoever forwards requests makes itself, with the body `{error}` and the header `X-Svc-Answered-By`, so that
// a client can tell it from a response of a process or of a service.
import { ANSWERED_BY_HEADER } from '@svc/client';

export interface OwnAnswer {
  readonly kind: string;
  readonly status: number;
  /** A sentence for people. */
  readonly error: string;
  /** Value of `X-Svc-Answered-By`. */
  readonly answeredBy: string;
  /** Further fields: name, value, name, value and so on. Absent: none. */
  readonly fields?: readonly string[];
  /** True: the connection closes behind the answer. */
  readonly closes: boolean;
}

export interface AnswerMessage {
  readonly status: number;
  readonly reason: string;
  /** Name, value, name, value and so on. */
  readonly fields: readonly string[];
  readonly body: Buffer;
}

const REASONS: Readonly<Record<number, string>> = {
  308: 'Permanent Redirect',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  413: 'Content Too Large',
  421: 'Misdirected Request',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
};

/** Returns an answer as a response. A response to HEAD has the same fields, and no body. */
export function answerMessage({
  status,
  error,
  answeredBy,
  fields = [],
}: OwnAnswer): AnswerMessage {
  const body = Buffer.from(JSON.stringify({ error }));
  return {
    status,
    reason: REASONS[status] ?? '',
    fields: [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(body.length),
      ANSWERED_BY_HEADER,
      answeredBy,
      ...fields,
    ],
    body,
  };
}
