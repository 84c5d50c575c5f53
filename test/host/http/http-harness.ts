// HttpHarness: a server on a free port whose handler is a plain function, and raw sockets for requests that fetch
// cannot send.
import { connect, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { FieldList } from '@svc/http1';
import type { AccessRule, ModuleDescriptor, RouteDescriptor } from '@svc/contract';
import { type Caller, LOCAL } from '../../../host/http/access.ts';
import type { RequestTokens } from '../../../host/http/bearer.ts';
import type { EndpointHandler } from '../../../host/http/exchange-parts.ts';
import type { HttpLogFields } from '../../../host/http/http-log.ts';
import type { HttpObserver } from '../../../host/http/http-observer.ts';
import { createHttpServer, type HttpServer } from '../../../host/http/http-server.ts';
import { CORS_SETTINGS_DEFAULT, type CorsSettings } from '../../../host/http/cors-settings.ts';
import { HTTP_SETTINGS_DEFAULT, type HttpSettings } from '../../../host/http/http-settings.ts';
import { RequestLimits, type RequestLimitsOptions } from '../../../host/http/request-limits.ts';
import { RouteTable } from '../../../host/http/route-table.ts';
import type { EndpointResponse, HeaderList } from '../../../model/endpoint.ts';
import type { RequestBudgets } from '../../../model/request-budgets.ts';

export type RouteSketch = readonly [
  method: RouteDescriptor['method'],
  path: string,
  more?: Partial<RouteDescriptor>,
];

/** Creates an endpoint without a prefix; its parameters are those of the templates. */
export function descriptorOf(
  routes: readonly RouteSketch[],
  access: AccessRule = { allow: 'internet' },
): ModuleDescriptor {
  return {
    protocol: '0.1.0',
    sdk: { name: 'test', version: '0.0.0' },
    types: {},
    entities: [],
    endpoints: [
      {
        name: 'Endpoint',
        prefix: '',
        access,
        routes: routes.map(([method, path, more]) => ({
          method,
          path,
          handler: 'handler',
          parameters: [...path.matchAll(/\{([^/{}]*)\}/g)].map((match) => ({
            name: match[1]!,
            schema: { type: 'string' as const },
          })),
          ...more,
        })),
      },
    ],
  };
}

/** Returns the fields of a request with these headers. */
export function fieldsOf(headers: Readonly<Record<string, string>>): FieldList {
  return new FieldList(Object.entries(headers).flat());
}

export const JSON_BODY = { body: { kind: 'json' } } as const;
export const TEXT_BODY = { body: { kind: 'text' } } as const;
export const BYTES_BODY = { body: { kind: 'bytes' } } as const;

export function ok(text = 'ok', headers: HeaderList = [], status = 200): EndpointResponse {
  return { kind: 'response', status, headers, body: { kind: 'text', text } };
}

export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly fields: HttpLogFields;
  readonly message: string;
}

export interface Running {
  readonly server: HttpServer;
  readonly port: number;
  readonly url: string;
  readonly lines: LogLine[];
}

export interface StartOptions {
  readonly descriptor: ModuleDescriptor;
  readonly handle?: EndpointHandler;
  readonly readsBodies?: boolean;
  readonly settings?: Partial<HttpSettings>;
  readonly cors?: Partial<CorsSettings>;
  readonly caller?: Caller;
  readonly project?: string;
  readonly observer?: HttpObserver;
  readonly budgets?: RequestBudgets;
  readonly tokens?: RequestTokens;
  /** Buckets of the limits. Absent: they are those of a server of its own. */
  readonly limits?: Omit<RequestLimitsOptions, 'bucketsMax'> & { readonly bucketsMax?: number };
}

const running: HttpServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((server) => server.stop(0)));
});

export async function start(options: StartOptions): Promise<Running> {
  const lines: LogLine[] = [];
  let seed = 0n;
  const routes = new RouteTable(options.descriptor);
  const limits =
    options.limits && RequestLimits.of(routes.limits, { bucketsMax: 64, ...options.limits });
  const server = createHttpServer({
    routes,
    limits,
    handle: options.handle ?? (() => ok()),
    readsBodies: options.readsBodies,
    settings: { ...HTTP_SETTINGS_DEFAULT, ...options.settings },
    ...(options.cors === undefined ? {} : { cors: { ...CORS_SETTINGS_DEFAULT, ...options.cors } }),
    log: {
      warn: (fields, message) => lines.push({ level: 'warn', fields, message }),
      error: (fields, message) => lines.push({ level: 'error', fields, message }),
    },
    random: { next64: () => (seed += 1n) },
    callerOf: () => options.caller ?? LOCAL,
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.observer === undefined ? {} : { observer: options.observer }),
    ...(options.budgets === undefined ? {} : { budgets: options.budgets }),
    tokens: options.tokens,
  });
  running.push(server);
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return { server, port, url: `http://127.0.0.1:${port}`, lines };
}

/** A promise and the function that resolves it. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

export interface RawAnswer {
  readonly status: number;
  /** Headers with names in lower case; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection. Responses are read one after the other, by their content-length. */
export class RawClient {
  readonly socket: Socket;
  readonly #closed: Promise<void>;
  #received = '';
  #isOver = false;
  #wake = (): void => undefined;

  constructor(port: number, options: { readonly allowHalfOpen?: boolean } = {}) {
    this.socket = connect({ port, host: '127.0.0.1', ...options });
    sockets.push(this.socket);
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    this.socket.on('error', () => undefined);
    this.#closed = new Promise((resolve) => {
      const over = (): void => {
        this.#isOver = true;
        this.#wake();
        resolve();
      };
      this.socket.once('end', over).once('close', over);
    });
  }

  /** Sends bytes, given as Latin-1. */
  send(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  /** Resolves with everything that was received and not read yet, once the server has closed its side. */
  async rest(): Promise<string> {
    await this.#closed;
    return this.#received;
  }

  async closed(): Promise<void> {
    await this.#closed;
  }

  /**
   * Resolves with the next response. `hasContent`: false for a response to HEAD. Rejects if the server closed the
   * connection before.
   */
  async answer(hasContent = true): Promise<RawAnswer> {
    await this.#until(() => this.#received.includes('\r\n\r\n'));
    const end = this.#received.indexOf('\r\n\r\n');
    const [statusLine, ...lines] = this.#received.slice(0, end).split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const length = hasContent ? Number(headers['content-length'] ?? 0) : 0;
    const bodyAt = end + 4;
    await this.#until(() => this.#received.length >= bodyAt + length);
    const body = this.#received.slice(bodyAt, bodyAt + length);
    this.#received = this.#received.slice(bodyAt + length);
    return { status: Number(statusLine!.split(' ')[1]), headers, body };
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#isOver) throw new Error(`closed after: ${JSON.stringify(this.#received)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Sends one request unchanged and reads its response. */
export function ask(port: number, text: string, hasContent = true): Promise<RawAnswer> {
  return new RawClient(port).send(text).answer(hasContent);
}

export function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nhost: test\r\n${headers}\r\n`;
}
