// CallsSocket: the Unix domain socket at which services of this machine reach the service port. They run in network namespaces of their
// own, from which no address leads here. The server of the service port makes the TLS handshake on each connection.
import { createServer, type Server } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { listenOnUnixSocket } from '@svc/kit/listen';

export class CallsSocket {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `fd`: the socket, which listens already. Rejects with SVC_ADDRESS_UNAVAILABLE. */
  static async open(fd: number, tls: TlsServer, connectionsMax: number): Promise<CallsSocket> {
    const server = createServer({ allowHalfOpen: true });
    server.maxConnections = connectionsMax;
    server.on('connection', (socket) => tls.emit('connection', socket));
    await listenOnUnixSocket(server, fd);
    // A connection that cannot be accepted, for example because the process may open no more files, is not the end.
    server.on('error', () => undefined);
    return new CallsSocket(server);
  }

  /** Accepts no further connection. */
  refuse(): void {
    this.#server.close();
  }
}
