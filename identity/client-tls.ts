// ClientTls: the client's side of mutual TLS. Invariants: a connection is given to nobody before its peer has proved the identity
// that was asked for, so no byte of a request is written to another one; and no session is resumed, because Node verifies
// no identity then. With TLS 1.3 a connection is made before the server has verified this side's certificate: a server that
// refuses it closes the connection before its first answer.
import { constants } from 'node:os';
import type { OnReadOpts, SocketConstructorOpts } from 'node:net';
import { connect, type ConnectionOptions, type SecureContext, type TLSSocket } from 'node:tls';
import { spiffeIdOf } from './caller.ts';
import type { CertificateSource } from './certificate-generations.ts';

export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
  /** Path of a Unix domain socket to which the connection is opened instead. Absent: it is opened to host and port. */
  readonly socketFile?: string;
  /** SPIFFE ID that the peer has to prove. */
  readonly expectedId: string;
  /** Protocol that ALPN has to select. Absent: none is offered. */
  readonly protocol?: string;
  /** Name for the server's choice of a certificate (SNI), which is not verified. Absent: none. */
  readonly serverName?: string;
  /** Reads into a buffer of the caller (`onread` of node:net). */
  readonly onread?: OnReadOpts;
}

export type ConnectFailureKind =
  /** The name has no address, or no route leads to the address. */
  | 'unreachable'
  /** Nothing listens on the port or at the socket. */
  | 'refused'
  /** The connection was not made in time. */
  | 'timed-out'
  /** The peer closed the connection during the handshake. */
  | 'closed'
  /** The peer speaks no TLS 1.3, or no trusted authority has issued its certificate, or the certificate has expired. */
  | 'untrusted'
  /** The peer has shown no certificate. */
  | 'no-certificate'
  /** The peer is somebody else. */
  | 'other-identity'
  /** The peer does not know the protocol that was asked for. */
  | 'protocol-not-selected';

export interface ConnectFailure {
  readonly kind: ConnectFailureKind;
  /** A code of the system or of OpenSSL, or a sentence; for the log. */
  readonly detail: string;
}

export interface SecureConnection {
  /** Nothing has been read of it or written to it, and it has no listeners. */
  readonly socket: TLSSocket;
  /** Number of the generation of certificates with which it began. */
  readonly generation: number;
}

export type ConnectResult =
  | ({ readonly kind: 'connected' } & SecureConnection)
  | { readonly kind: 'failed'; readonly failure: ConnectFailure };

const CONNECT_TIMEOUT_MS = 5000;
const UNREACHABLE = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

export class ClientTls {
  readonly #source: CertificateSource;
  readonly #connectTimeoutMs: number;

  /** `connectTimeoutMs`: time for the connection and its handshake. */
  constructor(source: CertificateSource, connectTimeoutMs = CONNECT_TIMEOUT_MS) {
    this.#source = source;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /**
   * Connects; calls `done` once. Listen to the socket before `done` returns: it may fail at any time. Returns a function that
   * closes the connection if `done` was not called yet, and then it never is.
   */
  connect(target: ConnectTarget, done: (result: ConnectResult) => void): () => void {
    const { number, certificates } = this.#source.current;
    const socket = connect(connectOptions(certificates.context, target));
    socket.setNoDelay(true);
    let isSettled = false;
    const stopWaiting = (): void => {
      isSettled = true;
      clearTimeout(timer);
      for (const event of ['error', 'close', 'secureConnect']) socket.removeAllListeners(event);
    };
    const destroy = (): void => {
      stopWaiting();
      // A socket that was destroyed may still report an error.
      socket.on('error', () => {}).destroy();
    };
    const settle = (failure: ConnectFailure | undefined): void => {
      if (failure === undefined) {
        stopWaiting();
        done({ kind: 'connected', socket, generation: number });
      } else {
        destroy();
        done({ kind: 'failed', failure });
      }
    };
    const timer = setTimeout(
      () => settle({ kind: 'timed-out', detail: `${this.#connectTimeoutMs} ms` }),
      this.#connectTimeoutMs,
    );
    socket.once('error', (error: NodeJS.ErrnoException) => settle(failureOfError(error)));
    socket.once('close', () => settle({ kind: 'closed', detail: 'closed during the handshake' }));
    socket.once('secureConnect', () => settle(failureOf(socket, target)));
    return () => {
      if (!isSettled) destroy();
    };
  }
}

function connectOptions(
  secureContext: SecureContext,
  { host, port, socketFile, serverName, protocol, onread }: ConnectTarget,
): ConnectionOptions {
  // node:tls takes these two like node:net, but its types lack them.
  const socketOptions: SocketConstructorOpts = {
    allowHalfOpen: true,
    ...(onread === undefined ? {} : { onread }),
  };
  return {
    ...(socketFile === undefined ? { host, port } : { path: socketFile }),
    secureContext,
    rejectUnauthorized: true,
    // The default compares the name of the host; `failureOf` compares the identity instead.
    checkServerIdentity: () => undefined,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(protocol === undefined ? {} : { ALPNProtocols: [protocol] }),
    ...socketOptions,
  };
}

/** Compares a connection whose certificate was verified with what was asked for. */
function failureOf(
  socket: TLSSocket,
  { expectedId, protocol }: ConnectTarget,
): ConnectFailure | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined || !socket.authorized || socket.isSessionReused())
    return { kind: 'no-certificate', detail: 'the peer has shown no certificate' };
  const id = spiffeIdOf(certificate);
  if (typeof id !== 'string') return { kind: 'other-identity', detail: id.reason };
  if (id !== expectedId)
    return { kind: 'other-identity', detail: `the peer is ${id}, not ${expectedId}` };
  if (protocol !== undefined && socket.alpnProtocol !== protocol)
    return { kind: 'protocol-not-selected', detail: `the peer has not selected ${protocol}` };
  return undefined;
}

function failureOfError({ code = '', message }: NodeJS.ErrnoException): ConnectFailure {
  return { kind: failureKind(code), detail: code || message };
}

function failureKind(code: string): ConnectFailureKind {
  // ENOENT: the file of a socket is removed with its instance.
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'refused';
  if (code === 'ETIMEDOUT') return 'timed-out';
  if (CLOSED.has(code)) return 'closed';
  // OpenSSL's error while something was written.
  if (code === 'EPROTO') return 'untrusted';
  if (code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') return 'protocol-not-selected';
  // Every other error of the system is one of the network; the rest are OpenSSL's.
  return UNREACHABLE.has(code) || code in constants.errno ? 'unreachable' : 'untrusted';
}
