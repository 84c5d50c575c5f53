// InProcessHttp: the HTTP server without a socket, for tests and tools that call a module. A request crosses a pair
// of streams in memory and is parsed, checked, served and written like any other.
import { type IncomingMessage, createServer, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { RandomSource } from '../engine/needs/clock.ts';
import type { HeaderList } from '../model/endpoint.ts';
import { type RequestBudgets, requestBudgets } from '../model/request-budgets.ts';
import { type Caller, INTERNET } from './access.ts';
import { breakOff } from './client-error.ts';
import { Connections } from './connections.ts';
import { Cors } from './cors.ts';
import { checkCorsSettings, CORS_SETTINGS_DEFAULT, type CorsSettings } from './cors-settings.ts';
import { Exchange } from './exchange.ts';
import type { EndpointHandler, ExchangeParts } from './exchange-parts.ts';
import { type HttpObserver, NO_OBSERVER } from './http-observer.ts';
import type { HttpLog } from './http-log.ts';
import { connectionTimes, HTTP_SETTINGS_DEFAULT, type HttpSettings } from './http-settings.ts';
import { ResponseBatch } from './response-batch.ts';
import type { RouteTable } from './route-table.ts';

export interface InProcessHttpOptions {
  readonly routes: RouteTable;
  readonly handle: EndpointHandler;
  readonly log: HttpLog;
  /** Source of new trace ids and error ids. */
  readonly random: RandomSource;
  /** The service's own project. */
  readonly project: string | undefined;
  /** Absent: the defaults. Settings of connections have no effect here. */
  readonly settings?: HttpSettings;
  /** Budgets shared with a server of the same service; absent: this server has all that the settings give. */
  readonly budgets?: RequestBudgets;
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
  readonly #connections: Connections;
  readonly #server;

  /** Throws SVC_SETTING_INVALID for invalid settings of CORS. The other settings are not checked. */
  constructor(options: InProcessHttpOptions) {
    const { cors = CORS_SETTINGS_DEFAULT, observer = NO_OBSERVER } = options;
    checkCorsSettings(cors);
    const budgets = options.budgets ?? requestBudgets(options.settings ?? HTTP_SETTINGS_DEFAULT);
    this.#connections = new Connections(connectionTimes(HTTP_SETTINGS_DEFAULT), budgets.unsent);
    const parts: ExchangeParts = {
      settings: HTTP_SETTINGS_DEFAULT,
      ...options,
      budgets,
      cors: Cors.of(cors, options.routes),
      callerOf: (socket) => this.#callers.get(socket) ?? INTERNET,
      connections: this.#connections,
      batch: new ResponseBatch(() => observer.recorder.nowMs()),
      load: { inFlight: 0, isStopping: false },
      ...observer,
    };
    // Exchange answers a request without a Host header: unlike Node's answer, its answer has a body.
    const limits = { requireHostHeader: false, maxHeaderSize: parts.settings.headerBytesMax };
    this.#server = createServer(limits, (request, response) => {
      // The answer has no date from the machine's clock, because the calling program sets the time.
      response.sendDate = false;
      new Exchange(parts, {
        request,
        response,
        target: request.url!,
        expectsContinue: false,
      }).run();
    });
    this.#server.maxHeadersCount = 0;
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      breakOff(this.#connections, socket, error, parts.settings);
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
    const answered = Promise.withResolvers<IncomingMessage>();
    const sent = sendRequest({
      method,
      path: target,
      headers: [...headers.flat(), 'connection', 'close'],
      createConnection: () => this.#connect(caller),
    });
    sent.on('response', answered.resolve).on('error', answered.reject);
    sent.end(body);
    const answer = await answered.promise;
    const answerHeaders: [string, string][] = [];
    for (let at = 0; at < answer.rawHeaders.length; at += 2) {
      const name = answer.rawHeaders[at]!.toLowerCase();
      if (name !== 'connection') answerHeaders.push([name, answer.rawHeaders[at + 1]!]);
    }
    return { status: answer.statusCode!, headers: answerHeaders, body: await buffer(answer) };
  }

  /** Cuts the running requests. */
  close(): void {
    this.#connections.cut();
  }

  #connect(caller: Caller): Duplex {
    const [near, far] = duplexPair();
    this.#callers.set(far, caller);
    // The server uses only the part of a socket that every stream has.
    this.#connections.accept(far as Socket);
    this.#server.emit('connection', far);
    return near;
  }
}
