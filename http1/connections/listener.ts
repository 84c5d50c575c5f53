// A listener of `node:net` or `node:tls` whose connections are served.
import type { Server, Socket } from 'node:net';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import type { ServerConnections } from './server-connections.ts';

/**
 * Gives the connections that a listener accepts to `connections`, and bounds their number, unfinished handshakes of TLS
 * included.
 */
export function serveListener(listener: Server, connections: ServerConnections): void {
  listener.maxConnections = connections.limits.connectionsMax;
  if (!(listener instanceof TlsServer)) {
    listener.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      connections.accept(socket, socket);
    });
    return;
  }
  /** TCP connections during their handshake, by the address of the client. */
  const handshakes = new Map<string, Socket>();
  listener.on('connection', (transport: Socket) => {
    transport.setNoDelay(true);
    const client = clientOf(transport);
    handshakes.set(client, transport);
    transport.once('close', () => {
      if (handshakes.get(client) === transport) handshakes.delete(client);
    });
  });
  listener.on('secureConnection', (socket: TLSSocket) => {
    const client = clientOf(socket);
    connections.accept(socket, handshakes.get(client));
    handshakes.delete(client);
  });
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
