// StandInService: the parts of a service that the console uses: a registration file, an observability endpoint whose
// responses follow the contract, and an HTTP server, in this process. Tests set the responses.
import type { ServiceDescription } from '@svc/contract';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export type Handler = (request: Heard, response: ServerResponse) => void;

export interface StandInOptions {
  readonly folder: string;
  readonly name?: string;
  readonly instanceId?: string;
  /** Process id in the registration file, instead of this process's own. */
  readonly pid?: number;
  /** Handler of its HTTP server; by default it answers 200 with `{}`. */
  readonly http?: Handler;
  /** Handler of its observability endpoint, except for the service's description. */
  readonly observed?: Handler;
  readonly described?: Partial<ServiceDescription>;
}

let nextPid = 100_000;

export class StandInService {
  readonly instanceId: string;
  readonly pid: number;
  readonly file: string;
  readonly observabilityAddress: string;
  readonly httpAddress: string;
  /** Requests that both servers have received. */
  readonly heard: Heard[] = [];
  readonly #servers: readonly Server[];
  readonly #options: StandInOptions;
  readonly #registration: Readonly<Record<string, unknown>>;

  private constructor(options: StandInOptions, servers: readonly [Server, Server]) {
    this.#options = options;
    this.#servers = servers;
    const pid = options.pid ?? nextPid++;
    this.pid = pid;
    this.observabilityAddress = addressOf(servers[0]);
    this.httpAddress = addressOf(servers[1]);
    this.instanceId = options.instanceId ?? pid.toString(16).padStart(16, '0');
    this.file = join(options.folder, `${pid}.json`);
    this.#registration = {
      name: options.name ?? 'cart',
      instanceId: this.instanceId,
      pid,
      observabilityAddress: this.observabilityAddress,
      startedAt: '2030-01-02T03:04:05.678Z',
    };
  }

  /** Starts the service. It has registered when this resolves, and is removed at the end of the test. */
  static async start(options: StandInOptions): Promise<StandInService> {
    // Addresses may be as long as a service itself accepts them.
    const observing = createServer({ maxHeaderSize: 64 * 1024 });
    const servers = [observing, createServer()] as const;
    for (const server of servers) {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.listen(0, '127.0.0.1', resolve);
      await promise;
    }
    const service = new StandInService(options, [...servers]);
    const [observability, http] = servers;
    service.#serve(observability, (heard, response) => {
      if (heard.url === '/observability/service') answerJson(response, 200, service.description());
      else if (options.observed !== undefined) options.observed(heard, response);
      else answerJson(response, 404, { status: 404, error: 'There is no such thing.' });
    });
    service.#serve(http, options.http ?? ((_heard, response) => answerJson(response, 200, {})));
    service.register();
    onTestFinished(() => service.kill());
    return service;
  }

  register(registration: Readonly<Record<string, unknown>> = {}): void {
    mkdirSync(this.#options.folder, { recursive: true });
    writeFileSync(this.file, JSON.stringify({ ...this.#registration, ...registration }));
  }

  /** Ends like a killed process: its file stays. */
  kill(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  /** Ends like a process that was stopped. */
  stop(): void {
    rmSync(this.file);
    this.kill();
  }

  description(): ServiceDescription {
    return {
      name: this.#options.name ?? 'cart',
      instanceId: this.instanceId,
      runtimeVersion: '0.1.0',
      startedAt: '2030-01-02T03:04:05.678Z',
      pid: 1,
      instances: [{ address: this.httpAddress, shards: 1 }],
      components: [],
      routes: [
        route('GET', '/carts/{cartId}'),
        route('POST', '/carts/{cartId}/items'),
        route('GET', '/'),
      ],
      types: {},
      module: { fingerprint: '0123456789ab', sdk: null },
      dev: false,
      control: null,
      ...this.#options.described,
    };
  }

  #serve(server: Server, handler: Handler): void {
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const heard = {
          method: request.method!,
          url: request.url!,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        };
        this.heard.push(heard);
        handler(heard, response);
      });
    });
  }
}

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function route(method: string, path: string): ServiceDescription['routes'][number] {
  return { method, path, endpoint: 'carts', handler: 'h', access: 'internet', parameters: [] };
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
