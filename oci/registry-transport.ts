// RegistryTransport: requests to registries and to what they lead to, one at a time, with checked addresses and bounded times.
//
// Invariants
// - What is not encrypted goes to this machine alone.
// - Credentials go to the origin that the request names; a redirect to another origin is followed without them.
// - Only requests that read follow redirects.
import { Agent, type Dispatcher, errors, Pool, request } from 'undici';
import { rootCertificates } from 'node:tls';
import { ImageError } from './image-error.ts';
import {
  checkedLookup,
  checkHost,
  isLoopbackHostname,
  type PrivateHosts,
} from './registry-address.ts';
import { ANSWER_BYTES_MAX, type RegistryLimits } from './registry-limits.ts';
import type { Chunks } from './digest.ts';

export interface RegistryRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Value of Authorization; undefined: none. */
  readonly authorization: string | undefined;
  /** Content of the request, and its number of bytes. */
  readonly body?: { readonly chunks: Chunks; readonly size: number };
  readonly signal: AbortSignal;
}

export interface RegistryAnswer {
  readonly status: number;
  /** URL that has answered in the end. */
  readonly url: URL;
  header(name: string): string | undefined;
  /** The body, to be read or thrown away. */
  readonly body: Chunks;
  discard(): Promise<void>;
}

export interface TransportOptions {
  readonly mayBePrivate: PrivateHosts;
  /** Certificates of an authority, as PEM, that are trusted beside those of Node. */
  readonly authority: string | undefined;
  readonly limits: RegistryLimits;
}

/** Maximum length of the reason of a registry that a message repeats, in characters. */
const REASON_LENGTH_MAX = 300;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** A server that does not speak TLS is found out by these. */
const NOT_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
  'EPROTO',
]);

export class RegistryTransport implements AsyncDisposable {
  readonly #mayBePrivate: PrivateHosts;
  readonly #limits: RegistryLimits;
  readonly #agent: Agent;

  constructor({ mayBePrivate, authority, limits }: TransportOptions) {
    this.#mayBePrivate = mayBePrivate;
    this.#limits = limits;
    const ca = authority === undefined ? undefined : [...rootCertificates, authority];
    this.#agent = new Agent({
      factory: (origin) =>
        new Pool(origin, {
          // With HTTP/2 the library has errors without an owner, which end the process.
          allowH2: false,
          headersTimeout: limits.answerTimeoutMs,
          bodyTimeout: limits.answerTimeoutMs,
          connect: {
            timeout: limits.connectTimeoutMs,
            lookup: checkedLookup(new URL(origin).host, mayBePrivate),
            ...(ca === undefined ? {} : { ca }),
          },
        }),
    });
  }

  /** Sends a request, and follows redirects of one that reads. Rejects with ImageError, and with the signal's reason. */
  async send(sent: RegistryRequest): Promise<RegistryAnswer> {
    let { url, authorization } = sent;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#once({ ...sent, url, authorization });
      const isReading = sent.method === 'GET' || sent.method === 'HEAD';
      if (!isReading || !REDIRECTS.has(answer.status)) return answer;
      await answer.discard();
      const next = URL.parse(answer.header('location') ?? '', url);
      if (next === null || redirects === this.#limits.redirectsMax)
        throw invalidAnswer(
          url,
          next === null
            ? 'redirects to no URL'
            : `redirects more than ${this.#limits.redirectsMax} times`,
        );
      if (next.origin !== url.origin) authorization = undefined;
      url = next;
    }
  }

  /** Finds out whether a host of this machine speaks TLS, without any credentials. */
  async originOf(host: string, signal: AbortSignal): Promise<string> {
    const url = new URL(`https://${host}/v2/`);
    if (!isLoopbackHostname(url.hostname)) return url.origin;
    try {
      const answer = await this.#once({
        method: 'GET',
        url,
        headers: {},
        authorization: undefined,
        signal,
      });
      await answer.discard();
      return url.origin;
    } catch (error) {
      const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      if (NOT_TLS.has(code)) return `http://${host}`;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }

  async #once(sent: RegistryRequest): Promise<RegistryAnswer> {
    const { method, url, headers, authorization, body, signal } = sent;
    checkConfidential(url);
    checkHost(url, this.#mayBePrivate);
    let found: Dispatcher.ResponseData;
    try {
      found = await request(url, {
        dispatcher: this.#agent,
        method,
        headers: {
          ...headers,
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === undefined ? {} : { 'content-length': String(body.size) }),
        },
        body: body === undefined ? null : (body.chunks as AsyncIterable<Uint8Array> as never),
        signal,
      });
    } catch (error) {
      throw failureOf(url, error, signal);
    }
    const received = found;
    return {
      status: received.statusCode,
      url,
      header: (name) => {
        const value = received.headers[name];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      body: namedFailures(received.body, url, signal),
      discard: async () =>
        await received.body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => {}),
    };
  }
}

/** Reads a small body as text, as far as it goes. */
export async function smallText({ body }: RegistryAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part);
    length += part.length;
    if (length > ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(parts).subarray(0, ANSWER_BYTES_MAX).toString('utf8');
}

/** Reads the first reason of a refusal in the form of OCI distribution; undefined if the body has none. */
export async function reasonIn(answer: RegistryAnswer): Promise<string | undefined> {
  try {
    const { errors: found } = JSON.parse(await smallText(answer)) as { readonly errors?: unknown };
    const [first] = Array.isArray(found) ? (found as readonly unknown[]) : [];
    const { code, message } = first as Readonly<Record<string, unknown>>;
    const texts = [code, message].filter((part) => typeof part === 'string' && part !== '');
    return texts.length === 0 ? undefined : texts.join(': ').slice(0, REASON_LENGTH_MAX);
  } catch {
    return undefined;
  }
}

export function invalidAnswer(url: URL, what: string): ImageError {
  return new ImageError(
    'SVC_REGISTRY_ANSWER_INVALID',
    `${url.host} ${what}. Check that it is the registry of the image, and that nothing between answers for it.`,
  );
}

export function unavailable(host: string, what: string, cause?: unknown): ImageError {
  return new ImageError(
    'SVC_REGISTRY_UNAVAILABLE',
    `The registry ${host} ${what}. Try again later.`,
    cause === undefined ? {} : { cause },
  );
}

function checkConfidential(url: URL): void {
  if (url.protocol === 'https:') return;
  if (url.protocol === 'http:' && isLoopbackHostname(url.hostname)) return;
  throw new ImageError(
    'SVC_REGISTRY_ADDRESS_REFUSED',
    `${url.origin} is not encrypted and not on this machine. Serve the registry with https.`,
  );
}

async function* namedFailures(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failureOf(url, error, signal);
  }
}

function failureOf(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ImageError) return error;
  if (signal.aborted) {
    const { reason } = signal as { reason: unknown };
    return reason instanceof DOMException && reason.name === 'TimeoutError'
      ? unavailable(url.host, 'took longer than all its requests together may', reason)
      : reason;
  }
  const { code, message, cause } = error as NodeJS.ErrnoException;
  if (cause instanceof ImageError) return cause;
  const isLate =
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    error instanceof errors.ConnectTimeoutError;
  return unavailable(
    url.host,
    isLate ? `did not answer in time (${code})` : `gives no answer (${code ?? message})`,
    error,
  );
}
