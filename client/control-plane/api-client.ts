// ApiClient: a function for each route of a table of routes.
//
// Invariants: an invalid request is not sent. The token is sent to the base URL alone, and is in no error. A write is sent
// again with the key of its first attempt, so it makes its change once.
import type { Problem } from '../descriptor/problem.ts';
import { exchange, type Exchanged } from './exchange.ts';
import { requestOf, type RouteInput } from './request.ts';
import {
  isGone,
  isOutcomeUnknown,
  pause,
  pauseAfter,
  RETRY_LIMITS_DEFAULT,
  type RetryLimits,
} from './retries.ts';
import { successOf, type AnswerOfRoute, type InputOfRoute, type Route } from './route.ts';

type Rows = Readonly<Record<string, Route<string>>>;

/** A table of routes, and what its rows alone do not say to a client. */
export interface CalledApi<Of extends Rows> {
  /** The program that answers, worded to follow "not one of": "a control plane". */
  readonly program: string;
  readonly routes: Of;
  /** Finds the problems of the body that a call has. Absent: those of its schema. */
  readonly bodyProblems?: (
    name: keyof Of & string,
    body: unknown,
    input: RouteInput,
  ) => readonly Problem[];
  /** Makes the result of a call. Absent: the value of the answer. */
  readonly resultOf?: (name: keyof Of & string, answer: Exchanged) => unknown;
}

/** Bearer token, or a function that returns one for each attempt; undefined: requests are sent without. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface ClientOptions {
  /** URL of the program, with http or https: `https://api.example.com`, also with a path. */
  readonly baseUrl: string;
  readonly token?: TokenSource;
  /** Function that sends requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch;
  /** Time for the answer to an attempt, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Maximum size of an answer, in bytes. Default: 32 MiB. */
  readonly answerBytesMax?: number;
  readonly retries?: Partial<RetryLimits>;
}

export interface CallOptions {
  /** Ends the call, also between two attempts; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Key of a write: 1 to 255 visible characters of ASCII. Default: a random one. Pass your own to continue a call of a process
   * that has ended.
   */
  readonly idempotencyKey?: string;
}

/** Function of a route: without input if the route takes none, and with optional input if nothing of it is needed. */
export type ApiCall<
  Of extends Route<string>,
  Result = AnswerOfRoute<Of>,
> = keyof InputOfRoute<Of> extends never
  ? (input?: undefined, options?: CallOptions) => Promise<Result>
  : {} extends InputOfRoute<Of>
    ? (input?: InputOfRoute<Of>, options?: CallOptions) => Promise<Result>
    : (input: InputOfRoute<Of>, options?: CallOptions) => Promise<Result>;

/** A function for each row. */
export type ApiClient<Of extends Rows> = { readonly [Name in keyof Of]: ApiCall<Of[Name]> };

const TIMEOUT_MS_DEFAULT = 30_000;
const ANSWER_BYTES_MAX_DEFAULT = 32 * 1024 * 1024;

/** Creates a client of a table. Throws TypeError for an invalid base URL or time. */
export function createApiClient<const Of extends Rows>(
  api: CalledApi<Of>,
  options: ClientOptions,
): ApiClient<Of> {
  const settings: Settings = {
    baseUrl: baseUrlOf(options.baseUrl),
    token: options.token,
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    answerBytesMax: options.answerBytesMax ?? ANSWER_BYTES_MAX_DEFAULT,
    retries: { ...RETRY_LIMITS_DEFAULT, ...options.retries },
  };
  if (!(settings.timeoutMs > 0)) throw new TypeError('timeoutMs is not more than 0');
  const names: readonly (keyof Of & string)[] = Object.keys(api.routes);
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (input: RouteInput = {}, callOptions: CallOptions = {}) =>
        await call(api, name, input, callOptions, settings),
    ]),
  ) as unknown as ApiClient<Of>;
}

type Settings = Readonly<
  Required<Pick<ClientOptions, 'baseUrl' | 'fetch' | 'timeoutMs' | 'answerBytesMax'>>
> & { readonly token: TokenSource | undefined; readonly retries: RetryLimits };

async function call<Of extends Rows>(
  api: CalledApi<Of>,
  name: keyof Of & string,
  input: RouteInput,
  { signal, idempotencyKey = randomKey() }: CallOptions,
  { token, retries, ...settings }: Settings,
): Promise<unknown> {
  const route = api.routes[name]!;
  const { bodyProblems: judge } = api;
  const request = requestOf(name, route, input, judge && ((body) => judge(name, body, input)));
  // An invalid header would look like a lost connection.
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
    throw new TypeError('idempotencyKey is not 1 to 255 visible characters of ASCII');
  const isDeletion = route.method === 'DELETE' && successOf(route) === 204;
  let mayBeDone = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      signal?.throwIfAborted();
      const headers = {
        Accept: 'application/json',
        ...(route.method === 'GET' ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...(route.who === 'anyone' ? {} : await authorization(token)),
      };
      const called = { name, route, program: api.program };
      const answer = await exchange(called, request, { ...settings, headers, signal });
      return api.resultOf === undefined ? answer.value : api.resultOf(name, answer);
    } catch (error) {
      if (isDeletion && mayBeDone && isGone(error)) return undefined;
      mayBeDone ||= isOutcomeUnknown(error);
      const pauseMs = pauseAfter(error, attempt, retries, Math.random());
      if (pauseMs === undefined) throw error;
      await pause(pauseMs, signal);
    }
  }
}

/** Returns the header of a token. An invalid token is not quoted, since `fetch` would show it in its error. */
async function authorization(source: TokenSource | undefined): Promise<Record<string, string>> {
  const token = typeof source === 'function' ? await source() : source;
  if (token === undefined) return {};
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('the token is empty, or has a character that no token has');
  return { Authorization: `Bearer ${token}` };
}

/** Returns the base URL without a slash at its end. */
function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new TypeError('baseUrl is not a URL such as https://api.example.com');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('baseUrl has more than a scheme, a host, a port and a path');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Returns 128 random bits as text. `crypto.randomUUID` exists on pages with https alone. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
