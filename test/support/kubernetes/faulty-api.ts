// FaultyApi stands between a driver and an API server, and passes requests on unless a test does something else with them.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher, request as send } from 'undici';
import { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeLimits } from '../../../control-plane/kubernetes/api/kube-limits.ts';
import {
  type KubeConnection,
  KubeTransport,
} from '../../../control-plane/kubernetes/api/kube-transport.ts';
import type { ClusterUser } from './kubernetes-server.ts';

/** A request on its way to the server. */
export class PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
  readonly response: ServerResponse;
  readonly #forward: () => Promise<Dispatcher.ResponseData>;

  constructor(
    { method = 'GET', url = '/' }: IncomingMessage,
    response: ServerResponse,
    forward: () => Promise<Dispatcher.ResponseData>,
  ) {
    const { pathname, searchParams } = new URL(url, 'http://api');
    this.method = method;
    this.path = pathname;
    this.isWatch = searchParams.get('watch') === 'true';
    this.response = response;
    this.#forward = forward;
  }

  /** Gives the driver the answer of the server, piece by piece as `change` makes it. */
  async pass(change: (piece: Buffer) => Buffer | string = (piece) => piece): Promise<void> {
    const { statusCode, headers, body } = await this.#forward();
    for (const name of ['content-type', 'retry-after']) {
      const value = headers[name];
      if (value !== undefined) this.response.setHeader(name, value);
    }
    this.response.writeHead(statusCode);
    this.response.flushHeaders();
    this.response.once('close', () => body.destroy());
    await pipeline(
      body,
      async function* (pieces: AsyncIterable<Buffer>) {
        for await (const piece of pieces) yield change(piece);
      },
      this.response,
    );
  }

  /** Has the server carry the request out, and ends the connection before its answer. */
  async lose(): Promise<void> {
    const { body } = await this.#forward();
    await body.text();
    this.response.destroy();
  }
}

export type Fault = (passed: PassedRequest) => void | Promise<void>;

export class FaultyApi implements AsyncDisposable {
  /** What happens to each request. */
  fault: Fault = (passed) => passed.pass();
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #transports: KubeTransport[] = [];

  private constructor(server: Server, agent: Agent) {
    this.#server = server;
    this.#agent = agent;
  }

  /** Requests are sent as a user of the cluster. */
  static async start({ connection }: ClusterUser): Promise<FaultyApi> {
    const { server: url, authority } = connection;
    const { authorization, certificate, key } = await connection.credentials!.current();
    const agent = new Agent({
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { ca: authority!, ...(key === undefined ? {} : { cert: certificate!, key }) },
    });
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const api = new FaultyApi(server, agent);
    server.on('request', async (request, response) => {
      const pieces: Buffer[] = [];
      try {
        for await (const piece of request) pieces.push(piece as Buffer);
        const { accept = '', 'content-type': type } = request.headers;
        const passed: PassedRequest = new PassedRequest(request, response, () =>
          send(`${url}${request.url}`, {
            dispatcher: agent,
            method: request.method as Dispatcher.HttpMethod,
            headers: {
              accept,
              ...(authorization === undefined ? {} : { authorization }),
              ...(type === undefined ? {} : { 'content-type': type }),
            },
            ...(pieces.length === 0 ? {} : { body: Buffer.concat(pieces) }),
          }),
        );
        await api.fault(passed);
      } catch {
        // The driver or the server has gone.
        response.destroy();
      }
    });
    return api;
  }

  get connection(): KubeConnection {
    return { server: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}` };
  }

  /** Returns a client of the server behind, which is closed with this. */
  client(limits: Partial<KubeLimits> = {}): KubeClient {
    const transport = new KubeTransport(this.connection, limits);
    this.#transports.push(transport);
    return new KubeClient(transport, 'svc-control-plane');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport[Symbol.asyncDispose]()));
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#agent.destroy();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}
