// PortListener: one port of a program that forwards requests, with the connections that it has accepted.
import {
  serveListener,
  ServerConnections,
  type ServerHandler,
  type ServerOptions,
} from '@svc/http1';
import { listen, type ListenAddress, type ListenWords } from '@svc/kit/listen';
import type { Server } from 'node:net';

export interface PortListenerOptions extends Omit<ServerOptions, 'handler'> {
  readonly address: ListenAddress;
  readonly words: ListenWords;
  /** Makes what answers requests, once the port is known. */
  readonly handler: (port: number) => ServerHandler;
}

export class PortListener {
  readonly host: string;
  readonly port: number;
  readonly connections: ServerConnections;
  readonly #server: Server;

  private constructor(server: Server, bound: ListenAddress, connections: ServerConnections) {
    this.#server = server;
    this.host = bound.host;
    this.port = bound.port;
    this.connections = connections;
  }

  /** Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
  static async open(
    server: Server,
    { address, words, handler, limits, times, sweep }: PortListenerOptions,
  ): Promise<PortListener> {
    const bound = await listen(server, address, words);
    // No connection is lost: the system's first one is reported in a later turn of the event loop.
    const options: ServerOptions = { handler: handler(bound.port), limits, times, sweep };
    const connections = new ServerConnections(options);
    serveListener(server, connections);
    // A connection that cannot be accepted, for example because the process may open no more files, is not the end.
    server.on('error', () => undefined);
    return new PortListener(server, bound, connections);
  }

  /** Accepts no further connection. */
  refuse(): void {
    this.#server.close();
  }

  /** Ends everything at once. */
  cut(): void {
    this.refuse();
    this.connections.cut();
  }
}
