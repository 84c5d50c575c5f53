// ScriptedServer: an HTTP server of a test, which records the requests of a client and answers as the test says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers a request. `count`: the number of requests before it. */
export type Script = (response: ServerResponse, request: RecordedRequest, count: number) => void;

export class ScriptedServer implements AsyncDisposable {
  readonly requests: RecordedRequest[] = [];
  readonly #server;

  private constructor(script: Script) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const recorded = {
          method: request.method!,
          target: request.url!,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        };
        this.requests.push(recorded);
        script(response, recorded, this.requests.length - 1);
      });
    });
  }

  static async start(script: Script): Promise<ScriptedServer> {
    const server = new ScriptedServer(script);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  status: number,
  value?: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(value === undefined ? undefined : JSON.stringify(value));
}

export const STATUS = {
  name: 'cart',
  projectId: 'shop',
  lifecycle: 'ready',
  generation: 1,
  image: 'cart:1',
  readyInstances: 1,
  desiredInstances: 1,
  confirmed: true,
  exposed: false,
  suspended: false,
  paused: false,
  hosting: 'wasm',
} as const;
