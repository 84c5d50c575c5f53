// ServerTls: the server's side of mutual TLS. A client without a certificate, or with one that no trusted authority has issued,
// gets no further than the handshake; the certificate of any other says who the caller is. New certificates apply to
// every connection that begins afterwards, and each connection knows the generation with which it began.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { Server, TLSSocket, TlsOptions } from 'node:tls';
import { type Caller, type CallerRules, recognise } from './caller.ts';
import type { CertificateSource } from './certificate-generations.ts';
import { contextOptions } from './certificates.ts';
import {
  CONNECTION_AGE,
  type ConnectionAgeLimits,
  type ConnectionTerm,
  connectionTerm,
  hasToClose,
} from './connection-age.ts';

export interface ServerTlsOptions {
  readonly rules: CallerRules;
  /** Protocols of ALPN, the preferred one first. Absent: none; a client that names some is accepted nevertheless. */
  readonly protocols?: readonly string[];
  /** Time in milliseconds that a client has for its handshake. */
  readonly handshakeTimeoutMs?: number;
  readonly age?: ConnectionAgeLimits;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
  /** A random number in [0, 1). */
  readonly random?: () => number;
}

/** The peer of a connection, as its handshake has shown. It is the same as long as the connection lasts. */
export interface Peer {
  /** Undefined: the certificate names no caller. */
  readonly caller: Caller | undefined;
  /** Why the certificate names no caller, as a sentence without text of the certificate; undefined if it names one. */
  readonly reason: string | undefined;
  /** Protocol that ALPN selected. */
  readonly protocol: string | undefined;
  /** When the connection has to close. */
  readonly term: ConnectionTerm;
}

/** A connection whose handshake is under way. */
interface Handshake {
  readonly raw: Socket;
  /** Number of the generation of certificates with which it began. */
  readonly generation: number;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;

export class ServerTls {
  readonly #source: CertificateSource;
  readonly #options: ServerTlsOptions;
  readonly #now: () => number;
  readonly #peers = new WeakMap<TLSSocket, Peer>();
  readonly #handshakes = new Set<Handshake>();
  /** The handshake of the connection in whose asynchronous context code runs. A connection need not have an address. */
  readonly #beginning = new AsyncLocalStorage<Handshake>();

  constructor(source: CertificateSource, options: ServerTlsOptions) {
    this.#source = source;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Options for `createServer` of node:tls. Give the server to `attach` before it listens. */
  get serverOptions(): TlsOptions {
    const { protocols, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS } = this.#options;
    return {
      ...contextOptions(this.#source.current.certificates.texts),
      requestCert: true,
      rejectUnauthorized: true,
      allowHalfOpen: true,
      handshakeTimeout: handshakeTimeoutMs,
      ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
    };
  }

  /** Number of handshakes that are under way. */
  get handshakes(): number {
    return this.#handshakes.size;
  }

  /** Gives the server each new generation of certificates, until the returned function is called. */
  attach(server: Server): () => void {
    const onConnection = (raw: Socket): void => this.#begin(raw);
    const onSecure = (socket: TLSSocket): void => this.#identify(socket);
    server.prependListener('connection', onConnection);
    server.prependListener('secureConnection', onSecure);
    server.on('tlsClientError', destroyFailed);
    const forget = this.#source.onGeneration(({ certificates }) =>
      server.setSecureContext(contextOptions(certificates.texts)),
    );
    return () => {
      forget();
      server.off('connection', onConnection);
      server.off('secureConnection', onSecure);
      server.off('tlsClientError', destroyFailed);
    };
  }

  /** Returns the peer of a connection from its `secureConnection` on. */
  peerOf(socket: TLSSocket): Peer {
    const peer = this.#peers.get(socket);
    if (peer === undefined) throw new TypeError('the handshake of this connection is not complete');
    return peer;
  }

  /** Returns whether a connection has to close after its current response. */
  hasToClose(socket: TLSSocket): boolean {
    return hasToClose(this.peerOf(socket).term, this.#source.current, this.#now());
  }

  /** Cuts the connections whose handshake is under way: for a server that stops. */
  cutHandshakes(): void {
    for (const { raw } of this.#handshakes) raw.destroy();
  }

  #begin(raw: Socket): void {
    const handshake: Handshake = { raw, generation: this.#source.current.number };
    this.#handshakes.add(handshake);
    this.#beginning.enterWith(handshake);
    raw.once('close', () => this.#handshakes.delete(handshake));
  }

  #identify(socket: TLSSocket): void {
    const handshake = this.#beginning.getStore();
    // A connection whose beginning is unknown counts as older than all generations.
    const generation = handshake?.generation ?? 0;
    if (handshake !== undefined) this.#handshakes.delete(handshake);
    const { rules, age = CONNECTION_AGE, random = Math.random } = this.#options;
    const found = callerOfSocket(socket, rules);
    const isUnrecognised = found.kind === 'unrecognised';
    this.#peers.set(socket, {
      caller: isUnrecognised ? undefined : found,
      reason: isUnrecognised ? found.reason : undefined,
      protocol: socket.alpnProtocol === false ? undefined : (socket.alpnProtocol ?? undefined),
      term: connectionTerm(generation, this.#now(), random(), age),
    });
  }
}

function callerOfSocket(socket: TLSSocket, rules: CallerRules): ReturnType<typeof recognise> {
  const certificate = socket.getPeerX509Certificate();
  // Neither can be: the server demands a certificate, and gives out no session that could be resumed.
  if (certificate === undefined || !socket.authorized || socket.isSessionReused())
    return { kind: 'unrecognised', reason: 'It was not verified.' };
  return recognise(certificate, rules);
}

/** Closes a connection whose handshake has failed or taken too long: node:tls leaves the latter open. */
function destroyFailed(_error: Error, socket: TLSSocket): void {
  socket.destroy();
}
