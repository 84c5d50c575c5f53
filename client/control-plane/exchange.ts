// Exchange: one attempt of a request: sending it, and reading its answer within a time and a size.
import { isRecord } from '../descriptor/problem.ts';
import { ApiError, NoAnswerError } from './api-error.ts';
import type { ApiRequest } from './request.ts';
import { TIMER_MS_MAX } from './retries.ts';
import { successOf, type Route } from './route.ts';

/** The route of a request, and what its errors say of it. */
export interface CalledRoute {
  readonly name: string;
  readonly route: Route<string>;
  /** The program that answers, worded to follow "not one of". */
  readonly program: string;
}

/** An answer that is a success. */
export interface Exchanged {
  /** Undefined for an answer without a body. */
  readonly value: unknown;
  readonly headers: Headers;
}

export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time for the whole answer to arrive, in milliseconds. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  /** The caller's signal: when it is aborted, the attempt rejects with its reason. */
  readonly signal: AbortSignal | undefined;
}

/** Sends a request once, and returns the answer. Throws ApiError or NoAnswerError. */
export async function exchange(
  called: CalledRoute,
  request: ApiRequest,
  options: ExchangeOptions,
): Promise<Exchanged> {
  const { name } = called;
  const { signal, timeoutMs } = options;
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  let isLate = false;
  const timer = setTimeout(
    () => {
      isLate = true;
      abort();
    },
    Math.min(timeoutMs, TIMER_MS_MAX),
  );
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    return await sent(called, request, options, ending.signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (isLate)
      throw new NoAnswerError(name, 'timeout', `it did not arrive within ${timeoutMs} ms`);
    if (error instanceof ApiError || error instanceof NoAnswerError) throw error;
    throw new NoAnswerError(name, 'connection', 'the connection failed or was lost', {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    // An answer that was not read to its end keeps its connection until it is aborted.
    abort();
  }
}

async function sent(
  called: CalledRoute,
  { method, target, body }: ApiRequest,
  { fetch, baseUrl, headers, answerBytesMax }: ExchangeOptions,
  signal: AbortSignal,
): Promise<Exchanged> {
  const { name } = called;
  const response = await fetch(`${baseUrl}${target}`, {
    method,
    headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
    signal,
    // The platform redirects nothing, and a token goes to the base URL alone.
    redirect: 'manual',
    credentials: 'omit',
    cache: 'no-store',
    ...(body === undefined ? {} : { body }),
  });
  const { status } = response;
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400))
    throw new NoAnswerError(name, 'foreign', 'the base URL redirects');
  const text = await bodyOf(name, response, answerBytesMax);
  if (status >= 400)
    throw new ApiError(name, {
      status,
      reason: reasonOf(text) ?? `the answer has no reason that could be read (HTTP ${status})`,
      retryAfterS: retryAfterS(response.headers.get('Retry-After'), Date.now()),
    });
  return { value: valueOf(called, status, text), headers: response.headers };
}

/** Reads a body as text. Throws NoAnswerError for one that is too large. */
async function bodyOf(name: string, response: Response, bytesMax: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > bytesMax)
      throw new NoAnswerError(name, 'too-large', `it has more than ${bytesMax} bytes`);
    text += decoder.decode(value, { stream: true });
  }
}

/** Returns `error` of a refusal; undefined if the body is not that of a refusal. */
function reasonOf(text: string): string | undefined {
  const value = parsed(text);
  return isRecord(value) && typeof value['error'] === 'string' ? value['error'] : undefined;
}

/** Returns the value of a success. Its fields are not checked: a later version may have others. */
function valueOf({ name, route, program }: CalledRoute, status: number, text: string): unknown {
  if (status === successOf(route)) {
    if (route.answer === undefined) return undefined;
    const value = parsed(text);
    if (route.answer['type'] === 'array' ? Array.isArray(value) : isRecord(value)) return value;
  }
  throw new NoAnswerError(
    name,
    'foreign',
    `the answer ${status} is not one of ${program}: check the base URL`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the seconds of a `Retry-After`, which is a number of seconds or a date; undefined for anything else. */
export function retryAfterS(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const ms = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil((ms - nowMs) / 1000));
}
