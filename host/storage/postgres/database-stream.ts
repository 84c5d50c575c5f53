// DatabaseStream is the connection to a server, by TCP with TLS or by a Unix socket, before PostgreSQL's protocol begins on it.
import { isIP, Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseHost } from './database-url.ts';
import { connectFailure } from './failure-reading.ts';
import type { TlsOptions } from './tls-files.ts';

/** The connection is asked whether it lives after so long without traffic. */
const KEEP_ALIVE_MS = 5_000;
/** The request for TLS of PostgreSQL's protocol. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const ACCEPTED = 'S';
const DECLINED = 'N';

/** `socket`: a new one; destroying it with a failure ends this with that failure. Rejects with DatabaseFailure. */
export async function openStream(
  socket: Socket,
  { host, port }: DatabaseHost,
  tls: TlsOptions | undefined,
): Promise<Socket> {
  try {
    await settled(socket, 'connect', () => {
      if (host.startsWith('/')) socket.connect(`${host}/.s.PGSQL.${port}`);
      else socket.setKeepAlive(true, KEEP_ALIVE_MS).connect(port, host);
    });
    return tls === undefined || host.startsWith('/') ? socket : await secured(socket, host, tls);
  } catch (error) {
    socket.destroy();
    throw connectFailure(error);
  }
}

async function secured(socket: Socket, host: string, tls: TlsOptions): Promise<TLSSocket> {
  let reply: Buffer | undefined;
  await settled(socket, 'data', () => {
    socket.once('data', (bytes: Buffer) => {
      reply = bytes;
      // What follows belongs to TLS.
      socket.pause();
    });
    socket.write(TLS_REQUEST);
  });
  // Further bytes were not encrypted: somebody between would be taken for the server.
  const answer = reply!.toString('latin1');
  if (answer === DECLINED) throw failure('the server does not speak TLS', 'tls');
  if (answer !== ACCEPTED) throw failure('what answers there is not PostgreSQL', 'foreign');
  // The name is checked for addresses too, for which the name of the server is not sent.
  const secure = connectTls({
    ...tls,
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  // Each of the two reports an error of the other.
  socket.on('error', (error) => secure.destroy(error));
  secure.on('error', () => undefined);
  await settled(secure, 'secureConnect', () => undefined);
  return secure;
}

/** Resolves with an event of the socket. Rejects with its error, or when it closes. */
async function settled(socket: Socket, event: string, begin: () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () =>
    reject(failure('the connection was closed before it was made', 'unreachable'));
  socket.once(event, resolve).once('error', reject).once('close', onClose);
  try {
    begin();
    await promise;
  } finally {
    socket.off(event, resolve).off('error', reject).off('close', onClose);
  }
}

function failure(message: string, reason: DatabaseFailure['reason']): DatabaseFailure {
  return new DatabaseFailure(message, { outcome: 'not-done', reason });
}
