// InProcessHttp: the HTTP server without a socket, for tests and tools that call a module. A request crosses a pair
// of streams in memory and is parsed, checked, served and written like any other.
import { type Duplex, duplexPair } from 'node:stream';
import {
  CHUNK_END,
  chunkHead,
  encodeRequestHead,
  LAST_CHUNK,
  type MessageLimits,
  type ResponseHead,
  ResponseReader,
  ServerConnections,
  Sweep,
} from '@svc/http1';
import type { RandomSource } from '../engine/needs/clock.ts';
import type { HeaderList } from '@svc/model/endpoint';
import { type RequestBudgets, requestBudgets } from '@svc/model/request-budgets';
import { type Caller, INTERNET } from './access.ts';
import type { RequestTokens } from './bearer.ts';
import { Cors } from './cors.ts';
import { checkCorsSettings, CORS_SETTINGS_DEFAULT, type CorsSettings } from './cors-settings.ts';
import { exchangeHandler } from './exchange-handler.ts';
import type { EndpointHandler } from './exchange-parts.ts';
import { type HttpObserver, NO_OBSERVER } from './http-observer.ts';
import type { HttpLog } from './http-log.ts';
import {
  connectionLimits,
  connectionTimes,
  HTTP_SETTINGS_DEFAULT,
  type HttpSettings,
} from './http-settings.ts';
import { endpointHeaders } from './request-headers.ts';
import { RESPONSE_FORM_DEFAULT, type ResponseForm } from './response-form.ts';
import { ownLimits, type RequestLimits } from './request-limits.ts';
import type { RouteTable } from './route-table.ts';

const SWEEP_MS = 1_000;

/** The error of a request whose answer is not complete. */
class ConnectionCut extends Error {
  readonly code = 'ECONNRESET';

  constructor() {
    super('the connection was closed before the answer was complete');
  }
}

export interface InProcessHttpOptions {
  readonly routes: RouteTable;
  readonly handle: EndpointHandler;
  /** Whether handlers read bodies themselves. Absent: a body is read before its handler runs. */
  readonly readsBodies?: boolean | undefined;
  /** Whether responses of handlers have the header Svc-Position. Absent: they have not. */
  readonly hasPosition?: boolean;
  readonly log: HttpLog;
  /** Source of new trace ids and error ids. */
  readonly random: RandomSource;
  /** The service's own project. */
  readonly project: string | undefined;
  /** Absent: the defaults. Settings of connections have no effect here. */
  readonly settings?: HttpSettings;
  /** Absent: responses have no headers in common, and errors say all that they can. */
  readonly form?: ResponseForm | undefined;
  /** Budgets shared with a server of the same service; absent: this server has all that the settings give. */
  readonly budgets?: RequestBudgets;
  /** Verifies access tokens; absent: routes that ask for one are closed. */
  readonly tokens?: RequestTokens | undefined;
  /** Limits whose buckets other servers of the service use too; absent: this server has buckets of its own. */
  readonly limits?: RequestLimits | undefined;
  /** Absent: no page of another origin may read an answer. */
  readonly cors?: CorsSettings;
  /** Records each request; absent: nothing does. */
  readonly observer?: HttpObserver;
}

export interface InProcessRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  readonly headers: HeaderList;
  /** Undefined: the request has no body. */
  readonly body: string | Uint8Array | undefined;
  readonly caller: Caller;
}

export interface InProcessAnswer {
  readonly status: number;
  /** Headers with names in lower case, in their order, without those of the connection. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

export class InProcessHttp {
  readonly #callers = new WeakMap<object, Caller>();
  readonly #connections: ServerConnections;
  /** Limits of the answers that this side reads. */
  readonly #limits: MessageLimits;

  /** Throws SVC_SETTING_INVALID for invalid settings of CORS. The other settings are not checked. */
  constructor(options: InProcessHttpOptions) {
    const { cors = CORS_SETTINGS_DEFAULT, settings = HTTP_SETTINGS_DEFAULT } = options;
    checkCorsSettings(cors);
    const limits = connectionLimits(settings);
    this.#limits = { ...limits.message, headBytesMax: Infinity, fieldsMax: Infinity };
    this.#connections = new ServerConnections({
      // The answer has no date from the machine's clock, because the calling program sets the time.
      handler: exchangeHandler({
        ...options,
        settings,
        readsBodies: options.readsBodies ?? false,
        hasPosition: options.hasPosition ?? false,
        form: options.form ?? RESPONSE_FORM_DEFAULT,
        budgets: options.budgets ?? requestBudgets(settings),
        limits: options.limits ?? ownLimits(options.routes, settings),
        cors: Cors.of(cors, options.routes),
        callerOf: (socket) => this.#callers.get(socket) ?? INTERNET,
        load: { inFlight: 0, isStopping: false },
        ...(options.observer ?? NO_OBSERVER),
      }),
      limits: { ...limits, connectionsMax: Infinity },
      times: connectionTimes(HTTP_SETTINGS_DEFAULT),
      sweep: new Sweep(SWEEP_MS),
    });
  }

  /**
   * Sends a request, and resolves with its whole answer. Rejects when the request cannot be written as HTTP, or was cut
   * by `close`.
   */
  async request({
    method,
    target,
    headers,
    body,
    caller,
  }: InProcessRequest): Promise<InProcessAnswer> {
    const content = body === undefined ? undefined : Buffer.from(body);
    const fields = [...headers.flat(), 'connection', 'close'];
    const isGiven = (wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted);
    const isChunked = isGiven('transfer-encoding');
    if (content !== undefined && !isChunked && !isGiven('content-length'))
      fields.push('content-length', String(content.length));
    const head = encodeRequestHead(method, target, '1.1', fields);
    const [near, far] = duplexPair();
    this.#callers.set(far, caller);
    this.#connections.accept(far);
    const answered = readAnswer(near, new ResponseReader(this.#limits), method);
    const parts = content === undefined ? [] : isChunked ? inChunks(content) : [content];
    near.write(Buffer.concat([head, ...parts]));
    return answered.finally(() => near.destroy());
  }

  /** Cuts the running requests. */
  close(): void {
    this.#connections.cut();
  }
}

/** Returns the bytes of a body that is sent in one chunk. */
function inChunks(content: Buffer): readonly Buffer[] {
  return content.length === 0
    ? [LAST_CHUNK]
    : [chunkHead(content.length), content, CHUNK_END, LAST_CHUNK];
}

/** Reads the answer to a request from its connection. */
async function readAnswer(
  connection: Duplex,
  reader: ResponseReader,
  method: string,
): Promise<InProcessAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<InProcessAnswer>();
  const chunks: Buffer[] = [];
  let answer: ResponseHead | undefined;
  reader.expect(method);
  connection.on('data', (bytes: Buffer) => {
    reader.push(bytes);
    for (let part = reader.next(); part !== undefined; part = reader.next()) {
      if (part.kind === 'head') answer = part.head;
      else if (part.kind === 'data') chunks.push(part.bytes);
      else if (part.kind === 'failure') reject(new Error(part.failure.reason));
      else if (part.kind === 'end') {
        resolve({
          status: answer!.status,
          headers: endpointHeaders(answer!.fields),
          body: Buffer.concat(chunks),
        });
        return;
      }
    }
  });
  // It has no effect on an answer that has been read.
  const cut = (): void => reject(new ConnectionCut());
  connection.on('end', cut).on('close', cut).on('error', reject);
  return promise;
}
