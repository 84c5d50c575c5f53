// TlsHarness: servers and clients of mutual TLS on real sockets, for the tests of this folder.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  connect,
  type ConnectionOptions,
  createServer,
  type Server,
  type TLSSocket,
  type TlsOptions,
} from 'node:tls';
import { onTestFinished } from 'vitest';
import type { CertificateGenerations } from '../../identity/certificate-generations.ts';
import { ClientTls, type ConnectResult, type ConnectTarget } from '../../identity/client-tls.ts';
import { ServerTls, type ServerTlsOptions } from '../../identity/server-tls.ts';
import { CART, RULES } from '../support/certificates/test-identities.ts';

export interface TestServer {
  readonly server: Server;
  readonly tls: ServerTls;
  readonly port: number;
  readonly sockets: TLSSocket[];
  /** Bytes that have arrived on all connections. */
  readonly received: () => string;
}

/** A server that answers each chunk with the caller and itself. `socketFile`: it listens there and has no port. */
export async function startServer(
  source: CertificateGenerations,
  options: Partial<ServerTlsOptions> = {},
  socketFile?: string,
): Promise<TestServer> {
  const tls = new ServerTls(source, { rules: RULES, ...options });
  const server = createServer(tls.serverOptions);
  onTestFinished(tls.attach(server));
  const rest = await listening(server, (socket) => JSON.stringify(tls.peerOf(socket)), socketFile);
  return { tls, ...rest };
}

/** A server that is not this project's: it answers `reached`. */
export function startForeignServer(options: TlsOptions): Promise<Omit<TestServer, 'tls'>> {
  return listening(createServer(options), () => 'reached');
}

async function listening(
  server: Server,
  answer: (socket: TLSSocket) => string,
  socketFile?: string,
) {
  const sockets: TLSSocket[] = [];
  let received = '';
  server.on('secureConnection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      socket.write(answer(socket));
    });
  });
  if (socketFile === undefined) server.listen(0, '127.0.0.1');
  else server.listen(socketFile);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    server,
    sockets,
    port: socketFile === undefined ? (server.address() as AddressInfo).port : 0,
    received: () => received,
  };
}

/** Connects with ClientTls. */
export function connectTo(
  source: CertificateGenerations,
  port: number,
  target: Partial<ConnectTarget> = {},
  timeoutMs?: number,
): Promise<ConnectResult> {
  const { promise, resolve } = Promise.withResolvers<ConnectResult>();
  new ClientTls(source, timeoutMs).connect(
    { host: '127.0.0.1', port, expectedId: CART, ...target },
    (result) => {
      if (result.kind === 'connected') {
        result.socket.on('error', () => {});
        onTestFinished(() => void result.socket.destroy());
      }
      resolve(result);
    },
  );
  return promise;
}

/** Connects with node:tls as any program may, and asks. */
export async function askRaw(port: number, options: ConnectionOptions): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  onTestFinished(() => void socket.destroy());
  const made = Promise.withResolvers<string | undefined>();
  socket.once('secureConnect', () => made.resolve(undefined));
  socket.once('error', (error: NodeJS.ErrnoException) => made.resolve(error.code ?? error.message));
  return (await made.promise) ?? (await answerOf(socket));
}

/** Writes a byte. Resolves with the first answer to it, with OpenSSL's code of an alert, or with `closed`. */
export async function answerOf(socket: TLSSocket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const onData = (bytes: Buffer): void => resolve(bytes.toString());
  const onError = ({ code = '' }: NodeJS.ErrnoException): void =>
    resolve(code.startsWith('ERR_SSL') ? code : 'closed');
  const onEnd = (): void => resolve('closed');
  socket.once('data', onData).once('error', onError).once('end', onEnd).once('close', onEnd);
  socket.write('x');
  const answer = await promise;
  socket.off('data', onData).off('error', onError).off('end', onEnd).off('close', onEnd);
  return answer;
}
