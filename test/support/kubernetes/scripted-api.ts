// ScriptedApi is an HTTP server in the place of an API server: a test answers each request, also as no API server does.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeLimits } from '../../../control-plane/kubernetes/api/kube-limits.ts';
import {
  type JsonObject,
  type KubeConnection,
  KubeTransport,
} from '../../../control-plane/kubernetes/api/kube-transport.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type ScriptedAnswer = (
  request: ReceivedRequest,
  response: ServerResponse,
) => void | Promise<void>;

export class ScriptedApi implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #transports: KubeTransport[] = [];

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(answer: ScriptedAnswer): Promise<ScriptedApi> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const api = new ScriptedApi(server);
    server.on('request', async (request, response) => {
      const received = await receivedRequest(request);
      api.requests.push(received);
      await answer(received, response);
    });
    return api;
  }

  /** Returns a client of the server, which is closed with it. */
  client(limits: Partial<KubeLimits> = {}, more: Partial<KubeConnection> = {}): KubeClient {
    const transport = new KubeTransport({ server: this.url, ...more }, limits);
    this.#transports.push(transport);
    return new KubeClient(transport, 'test');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport[Symbol.asyncDispose]()));
    this.#server.closeAllConnections();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}

export function answerJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A Status object, as the API server refuses a request with it. */
export function statusObject(code: number, reason: string, message: string): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
}

/** A ConfigMap as the API server answers it. */
export function scriptedObject(name: string, version: number): JsonObject {
  return { kind: 'ConfigMap', metadata: { name, resourceVersion: String(version) } };
}

async function receivedRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  const { pathname, searchParams } = new URL(request.url!, 'http://api');
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return {
    method: request.method!,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: Buffer.concat(pieces).toString('utf8'),
  };
}
