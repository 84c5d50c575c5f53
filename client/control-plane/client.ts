// Client: a function for each route of the control plane, made from the table of routes.
//
// Invariants: an invalid request is not sent. The token is sent to the base URL alone, and is in no error. A write is sent
// again with the key of its first attempt, so it makes its change once.
import { exchange } from './exchange.ts';
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
import { ROUTES, type RouteName } from './routes.ts';

/** Bearer token, or a function that returns one for each attempt; undefined: requests are sent without. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface ClientOptions {
  /** URL of the control plane, with http or https: `https://api.example.com`, also with a path. */
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

/** Input of a route: path parameters and query parameters by their names, and `body`. */
export type InputOf<Name extends RouteName> = InputOfRoute<(typeof ROUTES)[Name]>;
/** Value of a route's answer; undefined for one without a body. */
export type AnswerOf<Name extends RouteName> = AnswerOfRoute<(typeof ROUTES)[Name]>;

/** Function of a route: without input if the route takes none, and with optional input if nothing of it is needed. */
type Call<Name extends RouteName> = keyof InputOf<Name> extends never
  ? (input?: undefined, options?: CallOptions) => Promise<AnswerOf<Name>>
  : {} extends InputOf<Name>
    ? (input?: InputOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>
    : (input: InputOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>;

/**
 * A function for each route. It rejects with InvalidRequestError, ApiError or NoAnswerError, with the reason of the caller's
 * signal, or with TypeError for an invalid token or key.
 */
export type Client = { readonly [Name in RouteName]: Call<Name> };

const TIMEOUT_MS_DEFAULT = 30_000;
const ANSWER_BYTES_MAX_DEFAULT = 32 * 1024 * 1024;

/** Creates a client of a control plane. Throws TypeError for an invalid base URL or time. */
export function createClient(options: ClientOptions): Client {
  const settings: Settings = {
    baseUrl: baseUrlOf(options.baseUrl),
    token: options.token,
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    answerBytesMax: options.answerBytesMax ?? ANSWER_BYTES_MAX_DEFAULT,
    retries: { ...RETRY_LIMITS_DEFAULT, ...options.retries },
  };
  if (!(settings.timeoutMs > 0)) throw new TypeError('timeoutMs is not more than 0');
  const names = Object.keys(ROUTES) as RouteName[];
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (input: RouteInput = {}, callOptions: CallOptions = {}) =>
        await call(name, input, callOptions, settings),
    ]),
  ) as unknown as Client;
}

type Settings = Readonly<
  Required<Pick<ClientOptions, 'baseUrl' | 'fetch' | 'timeoutMs' | 'answerBytesMax'>>
> & { readonly token: TokenSource | undefined; readonly retries: RetryLimits };

async function call(
  name: RouteName,
  input: RouteInput,
  { signal, idempotencyKey = randomKey() }: CallOptions,
  { token, retries, ...settings }: Settings,
): Promise<unknown> {
  const route: Route = ROUTES[name];
  const request = requestOf(name, input);
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
      return await exchange(name, request, { ...settings, headers, signal });
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
