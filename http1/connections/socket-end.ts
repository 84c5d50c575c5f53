// The byte stream that a connection owns, and how it is closed without a valid end.
//
// Closing a TLS socket at once looks to the peer like the end of a body that lasts until then, because Node sends no alert
// and reports none. Only a reset of the TCP connection below it does not.
import type { Duplex } from 'node:stream';

/** A socket of `node:net` or `node:tls`, or a stream that takes its place. */
export type ByteSocket = Duplex;

/** The TCP connection of a socket: the socket itself, or the one below TLS. */
export interface Transport {
  resetAndDestroy: () => unknown;
  write: (bytes: Buffer) => unknown;
}

/** Closes a socket so that the peer cannot mistake it for a valid end. Without a transport, it is only destroyed. */
export function cut(socket: ByteSocket, transport: Transport | undefined): void {
  if (socket.destroyed) return;
  transport?.resetAndDestroy();
  socket.destroy();
}
