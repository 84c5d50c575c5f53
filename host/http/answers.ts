// Answers: every response of the HTTP server except an endpoint's own: the status and body of a refusal or a failure.
// The caller of a failed request gets a fixed sentence, and with the status 500 or 504 also an error id. The message of
// the module or the runtime goes to the log, under the same id, if the failure is logged (`isLogged`).
import type { Refusal } from '@svc/model/call';
import type { HeaderList } from '@svc/model/endpoint';
import { isTooLong } from '@svc/model/call-failure';
import { GuestFault } from '@svc/model/guest-fault';
import { ViewRebuilding } from '@svc/model/view-rebuilding';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';

export interface Answer {
  readonly status: number;
  /** Headers in the grammar of HTTP, without `content-length`. */
  readonly headers: HeaderList;
  /** Undefined: the status has no content. */
  readonly body: string | Uint8Array | undefined;
  /** True: the connection closes after the answer. */
  readonly close?: boolean;
}

const STATUS_OF_REFUSAL: Readonly<Record<Refusal['code'], number>> = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNPROCESSABLE: 422,
  TOO_MANY_REQUESTS: 429,
  OTHER: 500,
};

const RETRY_AFTER: readonly [string, string] = ['retry-after', '1'];
const MS_PER_SECOND = 1_000;

const OVERLOADED = errorAnswer(
  503,
  'The service has too much under way (SVC_OVERLOADED). Try again.',
  [RETRY_AFTER],
);
/**
 * Answers to failures that a caller can do something about, mostly by trying again. Every other failure is answered
 * 500 or 504. A failure may be that of a call which the handler passes on: other calls of the handler may have been
 * executed before.
 */
const FAILURES: { readonly [code in SvcErrorCode]?: Answer } = {
  SVC_OVERLOADED: OVERLOADED,
  SVC_STOPPING: {
    ...errorAnswer(503, 'The service is stopping (SVC_STOPPING). Nothing was done: try again.', [
      RETRY_AFTER,
    ]),
    close: true,
  },
  SVC_JOURNAL_UNAVAILABLE: errorAnswer(
    503,
    'The service cannot write to its journal (SVC_JOURNAL_UNAVAILABLE). Try again.',
    [RETRY_AFTER],
  ),
  SVC_JOURNAL_REGRESSED: errorAnswer(
    503,
    'The database of the service has lost what it had confirmed (SVC_JOURNAL_REGRESSED). Nothing was done.',
    [RETRY_AFTER],
  ),
  SVC_DATABASE_URL_INVALID: errorAnswer(
    503,
    'The service cannot connect to its database (SVC_DATABASE_URL_INVALID). Nothing was done: try again later.',
    [RETRY_AFTER],
  ),
  SVC_DATABASE_UNUSABLE: errorAnswer(
    503,
    'The service cannot use its database (SVC_DATABASE_UNUSABLE). Nothing was done: try again later.',
    [RETRY_AFTER],
  ),
  SVC_JOURNAL_FULL: errorAnswer(
    503,
    'The journal of the service is full (SVC_JOURNAL_FULL), and nothing more is stored.',
    [RETRY_AFTER],
  ),
  SVC_DISK_FULL: errorAnswer(
    503,
    'The disk of the service is full (SVC_DISK_FULL), and nothing more is stored. Try again.',
    [RETRY_AFTER],
  ),
  SVC_TIMERS_FULL: errorAnswer(
    503,
    'The service has no room for further timers (SVC_TIMERS_FULL). Nothing was done: try again later.',
    [RETRY_AFTER],
  ),
  SVC_VIEW_BEHIND: errorAnswer(
    503,
    'What was asked for does not have the latest changes yet (SVC_VIEW_BEHIND). Try again.',
    [RETRY_AFTER],
  ),
  SVC_VIEW_REBUILDING: errorAnswer(
    503,
    'What was asked for is being built (SVC_VIEW_REBUILDING). Try again later.',
    [RETRY_AFTER],
  ),
  SVC_VIEW_STOPPED: errorAnswer(
    503,
    'What was asked for is not kept up to date at present (SVC_VIEW_STOPPED).',
    [RETRY_AFTER],
  ),
  SVC_ENTITY_HELD_BACK: errorAnswer(
    503,
    'What was asked for cannot be loaded at present (SVC_ENTITY_HELD_BACK). Try again.',
    [RETRY_AFTER],
  ),
  SVC_ENTITY_MOVED: errorAnswer(
    503,
    'What was asked for moves to another part of the service (SVC_ENTITY_MOVED). Nothing was done: try again.',
    [RETRY_AFTER],
  ),
  SVC_SHARD_UNAVAILABLE: errorAnswer(
    503,
    'A part of the service is being started again (SVC_SHARD_UNAVAILABLE). Try again.',
    [RETRY_AFTER],
  ),
  SVC_PROCESS_UNAVAILABLE: errorAnswer(
    503,
    'The code of the service is not there at present (SVC_PROCESS_UNAVAILABLE). Nothing was done: try again.',
    [RETRY_AFTER],
  ),
};

/** Returns the answer of a service that is overloaded. */
export function overloadedAnswer(): Answer {
  return OVERLOADED;
}

export function errorAnswer(status: number, error: string, headers: HeaderList = []): Answer {
  return jsonAnswer(status, JSON.stringify({ status, error }), headers);
}

/** Returns the answer with these headers in place of those of the same names. */
export function withHeaders(answer: Answer, own: HeaderList): Answer {
  if (own.length === 0) return answer;
  const others = answer.headers.filter(([name]) => own.every(([mine]) => mine !== name));
  return { ...answer, headers: [...others, ...own] };
}

/** How much the body of an error says. `plain`: `{ status, error }` and nothing else. */
export type ErrorForm = 'plain' | 'full';

/** Returns the answer to a refusal: its message and details are meant for the caller. */
export function refusalAnswer(refusal: Refusal, form: ErrorForm = 'full'): Answer {
  const status = STATUS_OF_REFUSAL[refusal.code];
  const body = JSON.stringify({ status, error: refusal.message });
  if (form === 'plain') return jsonAnswer(status, body);
  if (refusal.details === undefined || !isJson(refusal.details)) return jsonAnswer(status, body);
  return jsonAnswer(status, `${body.slice(0, -1)},"details":${refusal.details}}`);
}

/**
 * Failures without a line in the log: the engine has logged their cause once, or they would flood the log under load
 * or at a stop.
 */
const NOT_LOGGED: ReadonlySet<SvcErrorCode> = new Set([
  'SVC_OVERLOADED',
  'SVC_STOPPING',
  // The thread that builds the view, or in which it has stopped, has logged it.
  'SVC_VIEW_REBUILDING',
  'SVC_VIEW_STOPPED',
  'SVC_ENTITY_HELD_BACK',
  'SVC_ENTITY_MOVED',
  'SVC_SHARD_UNAVAILABLE',
  // The service logs once that it has lost its process.
  'SVC_PROCESS_UNAVAILABLE',
  'SVC_RESPONSE_DROPPED',
]);

/** Returns whether a failure gets a line in the log. */
export function isLogged(failure: unknown): boolean {
  return !(failure instanceof SvcError && NOT_LOGGED.has(failure.code));
}

/** Returns the answer to a failure. The answer contains the error id only if its status is 500 or 504. */
export function failureAnswer(failure: unknown, errorId: string, form: ErrorForm = 'full'): Answer {
  if (failure instanceof ViewRebuilding)
    return retriedAfter(rebuildingAnswer(failure.percent), failure.retryAfterMs);
  if (failure instanceof SvcError) {
    const answer = FAILURES[failure.code];
    if (answer !== undefined) return retriedAfter(answer, failure.retryAfterMs);
  }
  const [status, error] = sentenceOf(failure);
  if (form === 'plain') return errorAnswer(status, `${error} Error id: ${errorId}.`);
  return jsonAnswer(status, JSON.stringify({ status, error, errorId }));
}

/** `percent`: how far it is. */
function rebuildingAnswer(percent: number): Answer {
  return errorAnswer(
    503,
    `What was asked for is being built, and is ${percent} % done (SVC_VIEW_REBUILDING). Try again later.`,
    [RETRY_AFTER],
  );
}

/** Returns the answer with the seconds of its header `retry-after` replaced, if a time is known. */
function retriedAfter(answer: Answer, ms: number | undefined): Answer {
  if (ms === undefined) return answer;
  const seconds = String(Math.max(1, Math.ceil(ms / MS_PER_SECOND)));
  const headers = answer.headers.map((header): readonly [string, string] =>
    header === RETRY_AFTER ? [RETRY_AFTER[0], seconds] : header,
  );
  return { ...answer, headers };
}

function sentenceOf(failure: unknown): readonly [status: number, error: string] {
  if (failure instanceof SvcError && failure.code === 'SVC_ANSWER_TIMED_OUT')
    return [
      504,
      'The service took too long to answer (SVC_ANSWER_TIMED_OUT). Whether it was done is unknown.',
    ];
  if (failure instanceof SvcError && failure.code === 'SVC_CALL_UNCERTAIN')
    return [
      504,
      'The service has lost a part of itself, or the confirmation of its journal, while it worked on the request ' +
        '(SVC_CALL_UNCERTAIN). Whether it was done is unknown.',
    ];
  if (failure instanceof SvcError && failure.code === 'SVC_RESPONSE_DROPPED')
    return [
      504,
      'The service keeps too many responses that callers do not read, and had no room for this one ' +
        '(SVC_RESPONSE_DROPPED). Whether it was done is unknown.',
    ];
  if (failure instanceof GuestFault && isTooLong(failure))
    return [504, 'The service took too long to handle the request.'];
  return [500, 'The service failed to handle the request.'];
}

function jsonAnswer(status: number, body: string, headers: HeaderList = []): Answer {
  return { status, headers: [['content-type', 'application/json'], ...headers], body };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
