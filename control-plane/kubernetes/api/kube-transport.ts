// KubeTransport sends requests to the API server of a Kubernetes cluster. It knows HTTP, TLS and credentials, and no object.
//
// Invariants
// - Every answer is bounded in bytes and time. A stream ends with its signal.
// - Credentials go to the server alone: no redirect is followed. A request that is refused for its credentials (401) is sent once more, with renewed ones.
// - What fails is a KubeError, or the reason of the caller's signal.
import { GatheredBytes } from '@svc/kit/gathered-bytes';
import { type Dispatcher, request } from 'undici';
import { type ConnectionUse, KubeAgents } from './kube-agents.ts';
import {
  areSame,
  type CredentialSource,
  fixedCredentials,
  type KubeCredentials,
} from './kube-credentials.ts';
import { jsonObjectIn, KubeError, refusalOf, unexpected } from './kube-error.ts';
import { KUBE_LIMITS_DEFAULT, type KubeLimits } from './kube-limits.ts';
import { transportError } from './transport-error.ts';
import { untilAborted } from './until-aborted.ts';

/** The API server, and who asks it. */
export interface KubeConnection {
  /** `https://host:port`, with a path where a proxy serves several clusters. */
  readonly server: string;
  /** Certificates as PEM that sign the server's. Default: those of Node. */
  readonly authority?: string | undefined;
  /** The name that the server's certificate has, if it is another one than the host. */
  readonly serverName?: string | undefined;
  /** Default: none. */
  readonly credentials?: CredentialSource | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path of the API, such as `/api/v1/namespaces/svc-shop`. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** The form of the answer, which is JSON in any case. Default: `application/json`. */
  readonly accept?: string;
  /** Default: that of an object. */
  readonly bytesMax?: number;
  readonly signal?: AbortSignal | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Bytes of a refusal that are read: its words are shorter. */
const REFUSAL_BYTES_MAX = 64 * 1024;
const UNAUTHORIZED = 401;

export class KubeTransport implements AsyncDisposable {
  readonly limits: KubeLimits;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #credentials: CredentialSource;
  readonly #agents: KubeAgents;

  constructor(
    { server, credentials = fixedCredentials({}), ...trust }: KubeConnection,
    limits: Partial<KubeLimits> = {},
  ) {
    this.limits = { ...KUBE_LIMITS_DEFAULT, ...limits };
    const { origin, pathname } = new URL(server);
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
    this.#credentials = credentials;
    this.#agents = new KubeAgents({ ...trust, limits: this.limits });
  }

  /** Sends a request, and returns the JSON object of its answer. Rejects with KubeError. */
  async send(sent: KubeRequest): Promise<JsonObject> {
    const { answerTimeoutMs, objectBytesMax } = this.limits;
    return this.#within(answerTimeoutMs, sent.signal, async (signal) => {
      const answer = await this.#begin(sent, 'answers', signal);
      const bytesMax = sent.bytesMax ?? objectBytesMax;
      const { bytes, isWhole } = await firstBytes(answer.body, bytesMax);
      if (!isWhole)
        throw new KubeError(
          'invalid',
          `the answer of the API server to ${sent.method} ${sent.path} is larger than ${bytesMax} bytes`,
          { status: answer.statusCode },
        );
      const text = bytes.toString('utf8');
      const object = jsonObjectIn(text);
      if (object === undefined)
        throw new KubeError(
          'invalid',
          `the API server answers ${answer.statusCode} ${unexpected(text, headerOf(answer, 'content-type'))}`,
          { status: answer.statusCode },
        );
      return object;
    });
  }

  /**
   * Sends a request whose answer is read as a stream, which ends with `signal`: a log, which ends in time, or a watch, which lasts. `read` gets the
   * pieces. Rejects with KubeError, also if the answer does not begin in time, or with `endsInTime` has not ended by then.
   */
  async stream<Result>(
    sent: KubeRequest & { readonly signal: AbortSignal; readonly endsInTime: boolean },
    read: (pieces: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    return this.#within(this.limits.answerTimeoutMs, sent.signal, async (signal, isInTime) => {
      const answer = await this.#begin(sent, sent.endsInTime ? 'logs' : 'watches', signal);
      if (!sent.endsInTime) isInTime();
      try {
        return await read(answer.body);
      } finally {
        // Ends the connection of a stream that was not read to its end.
        answer.body.destroy();
      }
    });
  }

  /** Closes all connections; what is in flight fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agents[Symbol.asyncDispose]();
  }

  /** Returns an answer that is a success. Rejects with the KubeError of any other. */
  async #begin(
    sent: KubeRequest,
    use: ConnectionUse,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const credentials = await shownCredentials(this.#credentials.current(), signal);
    let answer = await this.#request(sent, use, signal, credentials);
    if (answer.statusCode === UNAUTHORIZED) {
      const renewed = await shownCredentials(this.#credentials.renewed(credentials), signal);
      if (!areSame(credentials, renewed)) {
        await answer.body.dump({ limit: REFUSAL_BYTES_MAX, signal });
        answer = await this.#request(sent, use, signal, renewed);
      }
    }
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) return answer;
    const { bytes } = await firstBytes(answer.body, REFUSAL_BYTES_MAX);
    throw refusalOf({
      status,
      contentType: headerOf(answer, 'content-type'),
      retryAfter: headerOf(answer, 'retry-after'),
      text: bytes.toString('utf8'),
    });
  }

  async #request(
    sent: KubeRequest,
    use: ConnectionUse,
    signal: AbortSignal,
    { authorization, ...certificate }: KubeCredentials,
  ): Promise<Dispatcher.ResponseData> {
    const { method, path, query = {}, body } = sent;
    const { contentType = 'application/json', accept = 'application/json' } = sent;
    const answer = await request(`${this.#origin}${this.#prefix}${path}${queryText(query)}`, {
      dispatcher: this.#agents.agentFor(certificate, use),
      method,
      signal,
      headers: {
        accept,
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Who reads the body gets its error. One that comes after that is nobody's, such as at the end of all connections.
    answer.body.on('error', () => undefined);
    return answer;
  }

  async #within<Result>(
    limitMs: number,
    outer: AbortSignal | undefined,
    call: (signal: AbortSignal, isInTime: () => void) => Promise<Result>,
  ): Promise<Result> {
    const limit = new AbortController();
    const late = setTimeout(() => limit.abort(lateError(limitMs)), limitMs);
    const signal = outer === undefined ? limit.signal : AbortSignal.any([outer, limit.signal]);
    try {
      return await call(signal, () => clearTimeout(late));
    } catch (error) {
      throw signal.aborted ? signal.reason : transportError(error);
    } finally {
      clearTimeout(late);
    }
  }
}

/** Returns credentials. Rejects with KubeError if there are none, and with the reason of the signal, which does not end what gets them. */
async function shownCredentials(
  credentials: Promise<KubeCredentials>,
  signal: AbortSignal,
): Promise<KubeCredentials> {
  try {
    return await untilAborted(credentials, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const words = `there are no credentials for the API server: ${(error as Error).message}`;
    throw new KubeError('unreachable', words, { cause: error });
  }
}

/** Reads a body up to a number of bytes, and leaves the rest. */
async function firstBytes(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const gathered = new GatheredBytes(bytesMax);
  for await (const piece of body) {
    gathered.add(piece);
    if (gathered.whole.length > bytesMax)
      return { bytes: gathered.whole.subarray(0, bytesMax), isWhole: false };
  }
  return { bytes: gathered.whole, isWhole: true };
}

function queryText(query: Query): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) fields.set(name, String(value));
  return fields.size === 0 ? '' : `?${fields.toString()}`;
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function lateError(limitMs: number): KubeError {
  return new KubeError('late', `the API server has not answered within ${limitMs} ms`);
}
