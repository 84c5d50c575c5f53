// How a pool opens a connection. The opener decides about TLS and about who the peer has to be.
import { connect as connectTcp } from 'node:net';
import type { ClientFailure } from './client-failure.ts';
import type { ByteSocket, Transport } from './socket-end.ts';
import type { OnRead } from './socket-input.ts';
import type { Sweep, Swept } from './sweep.ts';

/** A socket that is ready for a request, or why there is none. */
export type Connected =
  | {
      readonly socket: ByteSocket;
      /** With which the socket can be reset. Absent: it is closed, which the peer may take for a half-close. */
      readonly transport?: Transport;
    }
  | { readonly socket: undefined; readonly failure: ClientFailure };

/**
 * Opens a socket and calls `settled` exactly once, unless it is cancelled. The socket should be opened with `onread`.
 * Returns the function that cancels.
 */
export type Connect = (onread: OnRead, settled: (outcome: Connected) => void) => () => void;

/** Opens TCP connections. `connectMs`: time until a connection has to be there. */
export function tcpConnect(
  address: { readonly host: string; readonly port: number },
  connectMs: number,
  sweep: Sweep,
): Connect {
  return (onread, settled) => {
    const socket = connectTcp({
      ...address,
      onread,
      allowHalfOpen: true,
      noDelay: true,
    });
    const finish = (outcome?: Connected): void => {
      sweep.remove(deadline);
      socket.off('connect', connected).off('error', failed);
      if (outcome?.socket === undefined) socket.on('error', () => undefined).destroy();
      if (outcome !== undefined) settled(outcome);
    };
    const connected = (): void => finish({ socket, transport: socket });
    const failed = (cause: NodeJS.ErrnoException): void => {
      const kind = cause.code === 'ECONNREFUSED' ? 'refused' : 'unreachable';
      finish({ socket: undefined, failure: { kind, cause } });
    };
    const deadline: Swept = {
      deadlineMs: sweep.now() + connectMs,
      onDeadline: () => finish({ socket: undefined, failure: { kind: 'connect-timeout' } }),
    };
    socket.on('connect', connected).on('error', failed);
    sweep.add(deadline);
    return () => finish();
  };
}
