// ControlServer takes the changes that an operator asks for, on a Unix domain socket that only the user of the host can reach
// (kit/control-socket.ts): HTTP/1.1 with JSON. Requests, connections and their time are bounded. A failure affects one
// answer, and never the service.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '@svc/kit/log';
import type { LogEntry } from '@svc/kit/log-entry';
import { printableJson } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import {
  type ControlledService,
  type ControlRequest,
  InvalidControlRequest,
  isControlPath,
  readControlRequest,
  VIEWS_PATH,
} from './control-request.ts';

const CONNECTIONS_MAX = 16;
const HEADER_BYTES_MAX = 8 * 1024;
const BODY_BYTES_MAX = 64 * 1024;
/** Limit for receiving a whole request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000;
/** A connection without traffic is closed after this time, in milliseconds, which is longer than any change takes. */
const SILENCE_MS = 30_000;
const CHANGE_TIMEOUT_MS = 10_000;

export interface ControlServerOptions {
  readonly service: ControlledService;
  readonly log: Log;
  /** Limit for receiving a whole request, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** Limit for a change, in milliseconds. */
  readonly changeTimeoutMs?: number;
}

/** The members `error` and `code` are in every answer but 200. */
interface Answer {
  readonly status: number;
  readonly body: object;
}

export class ControlServer {
  readonly #options: Required<ControlServerOptions>;
  readonly #server: Server;

  constructor(options: ControlServerOptions) {
    this.#options = {
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      changeTimeoutMs: CHANGE_TIMEOUT_MS,
      ...options,
    };
    const { requestTimeoutMs } = this.#options;
    this.#server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs / 4),
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.maxRequestsPerSocket = 1;
    this.#server.timeout = SILENCE_MS;
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#answerTo(request).then((answer) => send(response, answer));
    });
  }

  /** Listens on a path that does not exist yet. Rejects with an error of the system. */
  async listen(path: string): Promise<void> {
    this.#server.listen({ path });
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => this.#bug(error));
  }

  /** Closes all connections and removes the socket. Changes that were asked for go on. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #answerTo(request: IncomingMessage): Promise<Answer> {
    const { method, url = '' } = request;
    if (url === VIEWS_PATH) return this.#views(request);
    if (!isControlPath(url)) return refused(404, 'There is nothing at this path.');
    if (method !== 'POST') return refused(405, 'This path takes POST.');
    try {
      const body = await readBody(request);
      if (body === undefined)
        return refused(413, `The body is larger than ${BODY_BYTES_MAX} bytes.`);
      return await this.#changed(readControlRequest(url, body));
    } catch (error) {
      if (error instanceof InvalidControlRequest) return refused(400, error.message);
      if (error instanceof SvcError) return refused(409, error.message, error.code);
      // The sender has gone before its request was complete.
      if (request.destroyed && !request.complete) return refused(400, 'The request is incomplete.');
      this.#bug(error);
      return refused(500, 'The change has failed. The log of the service says why.');
    }
  }

  #views({ method }: IncomingMessage): Answer {
    if (method !== 'GET') return refused(405, 'This path takes GET.');
    try {
      return { status: 200, body: { views: this.#options.service.views() } };
    } catch (error) {
      this.#bug(error);
      return refused(500, 'The answer could not be made. The log of the service says why.');
    }
  }

  async #changed(request: ControlRequest): Promise<Answer> {
    const { service, log, changeTimeoutMs } = this.#options;
    const timer = Promise.withResolvers<'late'>();
    const timeout = setTimeout(() => timer.resolve('late'), changeTimeoutMs);
    const change = service.change(request);
    // A change that fails after its time limit has nobody to tell.
    change.catch(() => {});
    try {
      const changed = await Promise.race([change, timer.promise]);
      if (changed === 'late')
        return refused(
          504,
          `The change was not made within ${changeTimeoutMs} ms. It may still be made: look before you ask again.`,
          'SVC_ANSWER_TIMED_OUT',
        );
      const fields = fieldsOf(request, changed);
      log({ level: 'info', message: 'an operator has asked for a change', fields });
      return { status: 200, body: { changed } };
    } finally {
      clearTimeout(timeout);
    }
  }

  #bug(error: unknown): void {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.log({ level: 'error', message: 'the control socket failed', fields: { reason } });
  }
}

/** Returns the fields of the log line about a change. */
function fieldsOf(request: ControlRequest, changed: boolean): NonNullable<LogEntry['fields']> {
  return { kind: request.kind, ...changedThing(request), changed };
}

function changedThing(request: ControlRequest): NonNullable<LogEntry['fields']> {
  switch (request.kind) {
    case 'cancel-timer':
    case 'retry-timer': {
      const { owner, name } = request;
      return { owner: owner === null ? 'service' : nameOf(owner), name };
    }
    case 'rebuild-view':
      return { view: request.view };
    case 'skip-in-view': {
      const { view, entity, seq, reason } = request;
      return { view, entity: nameOf(entity), event: seq, reason };
    }
    case 'retry-lane':
      return { consumer: request.consumer, entity: nameOf(request.entity) };
    case 'retry-lanes':
      return { consumer: request.consumer };
    case 'skip-in-lane': {
      const { consumer, entity, seq, reason } = request;
      return { consumer, entity: nameOf(entity), event: seq, reason };
    }
  }
}

function nameOf({ component, id }: EntityRef): string {
  return `${component}/${id}`;
}

/** Returns the body as text; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refused(status: number, error: string, code?: string): Answer {
  return { status, body: code === undefined ? { status, error } : { status, error, code } };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  if (response.destroyed) return;
  // Texts come from modules, and may be printed on a terminal.
  const text = printableJson(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  response.end(text);
}
