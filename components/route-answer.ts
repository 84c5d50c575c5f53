// The results of a route's handler: a value, a value with a status and headers, a refusal, or an error with a
// status and headers of its own.
import type { HeaderList } from '@svc/model/endpoint';
import type { ReadonlyDeep } from './entity-context.ts';
import type { Ok, Refused } from './result.ts';

type Headers = Readonly<Record<string, string>> | HeaderList;

export interface ResponseOptions {
  /** Absent: the first status below 300 in the route's `answers`, else 200, or 204 without a reply. In a check: 204. */
  readonly status?: number;
  /** Additional headers; a `content-type` overrides that of the value's type. */
  readonly headers?: Headers;
}

/** A value with a status and headers of its own. */
export class Response<Value> {
  readonly value: Value;
  readonly status: number | undefined;
  readonly headers: HeaderList;

  constructor(value: Value, { status, headers }: ResponseOptions = {}) {
    this.value = value;
    this.status = status;
    this.headers = headerList(headers);
  }
}

/** Returns a response with a status and headers: `return respond(list, { status: 201 })`. */
export function respond<Value>(value: Value, options?: ResponseOptions): Response<Value> {
  return new Response(value, options);
}

export interface ErrorOptions {
  readonly headers?: Headers;
  /** Details for the calling program; they must have a JSON form. */
  readonly details?: unknown;
}

/** An error in the common form: `{ status, error, details? }`. */
export class ErrorResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly error: string;
  readonly details: unknown;

  constructor(status: number, error: string, { headers, details }: ErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`the status of an error is one of 400 to 599, found ${String(status)}`);
    this.status = status;
    this.headers = withRetryAfter(status, headerList(headers));
    this.error = error;
    this.details = details;
  }
}

/**
 * Returns an error with a status and headers: `return respondError(401, 'log in', { headers: { 'www-authenticate':
 * 'Bearer' } })`. The caller receives `error` and the details. A 503 without `retry-after` has one of 1 second. Throws RangeError for a status outside 400 to 599.
 */
export function respondError(status: number, error: string, options?: ErrorOptions): ErrorResponse {
  return new ErrorResponse(status, error, options);
}

/** Result of a handler: a value, an entity's result, a refusal, or a response with a status of its own. */
export type Answer<Value> =
  | ReadonlyDeep<Value>
  | Ok<ReadonlyDeep<Value>>
  | Refused
  | ErrorResponse
  | Response<ReadonlyDeep<Value>>;

/** Result of a handler of a route without a reply. */
export type NoAnswer = void | null | Ok<unknown> | Refused | ErrorResponse | Response<null>;

/** Adds `retry-after` to a 503 without it: 1 second, as the runtime's own refusals have it. */
function withRetryAfter(status: number, headers: HeaderList): HeaderList {
  const isAdded = status === 503 && !headers.some(([name]) => name.toLowerCase() === 'retry-after');
  return isAdded ? [...headers, ['retry-after', '1']] : headers;
}

/** Converts headers. Throws TypeError if an untyped program passes an invalid one. */
function headerList(headers: Headers = []): HeaderList {
  const list: HeaderList = Array.isArray(headers)
    ? (headers as HeaderList)
    : Object.entries(headers);
  return list.map(([name, value]) => {
    if (typeof name === 'string' && typeof value === 'string') return [name, value];
    throw new TypeError(`the header '${name}' has a value that is no text`);
  });
}
