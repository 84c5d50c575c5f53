// The byte stream that a connection owns, and how it is closed without a valid end.
//
// Closing a TLS socket at once looks to the peer like the end of a body that lasts until then, because Node sends no alert
// and reports none. Only a reset of the TCP connection below it does not. A Unix domain socket cannot be reset: there, bytes that are no
// record of the session make the peer's TLS fail.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A socket of `node:net` or `node:tls`, or a stream that takes its place. */
export type ByteSocket = Duplex;

/** The connection of a socket: the socket itself, or the one below TLS. */
export interface Transport {
  resetAndDestroy: () => unknown;
  write: (bytes: Buffer) => unknown;
}

/** An alert without encryption, which no established session takes. */
const NO_RECORD = Buffer.from([21, 3, 3, 0, 2, 2, 80]);

/** Returns the transport of a connection. `carries`: what its bytes are. */
export function transportOf(socket: Socket, carries: 'plain' | 'tls' = 'plain'): Transport {
  // Only a TCP socket has an address, and only one can be reset.
  if (socket.localAddress !== undefined) return socket;
  return {
    resetAndDestroy: () => (carries === 'tls' ? socket.write(NO_RECORD) : socket.destroy()),
    write: (bytes) => socket.write(bytes),
  };
}

/** Closes a socket so that the peer cannot mistake it for a valid end. Without a transport, it is only destroyed. */
export function cut(socket: ByteSocket, transport: Transport | undefined): void {
  if (socket.destroyed) return;
  transport?.resetAndDestroy();
  socket.destroy();
}
