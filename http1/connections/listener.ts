// A listener of `node:net` or `node:tls` whose connections are served. A connection of TLS is served from the end of its handshake on. The one
// below it is found by the asynchronous context of the handshake: a Unix domain socket has no address by which it could be.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, Socket } from 'node:net';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import type { ServerConnections } from './server-connections.ts';
import { transportOf } from './socket-end.ts';

/**
 * Gives the connections that a listener accepts to `connections`, and bounds their number, unfinished handshakes of TLS
 * included.
 */
export function serveListener(listener: Server, connections: ServerConnections): void {
  listener.maxConnections = connections.limits.connectionsMax;
  if (!(listener instanceof TlsServer)) {
    listener.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      connections.accept(socket, transportOf(socket));
    });
    return;
  }
  /** The connection below TLS. */
  const below = new AsyncLocalStorage<Socket>();
  // Before the handshake begins.
  listener.prependListener('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    below.enterWith(socket);
  });
  listener.on('secureConnection', (socket: TLSSocket) => {
    const transport = below.getStore();
    connections.accept(socket, transport && transportOf(transport, 'tls'));
  });
}
