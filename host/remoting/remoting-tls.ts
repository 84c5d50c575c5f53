// RemotingTls: TLS of the connections between nodes. Each side shows the certificate of the service, and takes no other side than one
// with the same identity: a certificate of another service of the installation admits nobody.
//
// Invariants
// - No byte of the protocol of nodes is read or written before the other side has proved its identity.
// - New certificates apply to every connection that begins afterwards.
// - A connection of either side that began before an authority was removed ends, at the latest FORMER_MS_MAX later.
// - A node makes each of its connections again at its age, so that both sides are verified again. One that is FORMER_MS_MAX older is ended
//   by either side.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { CallerRules } from '@svc/identity/caller';
import type { CertificateSource } from '@svc/identity/certificate-generations';
import { ClientTls, type ConnectFailure } from '@svc/identity/client-tls';
import {
  CONNECTION_AGE,
  type ConnectionAgeLimits,
  connectionTerm,
  endsOwnConnections,
} from '@svc/identity/connection-age';
import { type Peer, ServerTls } from '@svc/identity/server-tls';
import { serviceId } from '@svc/identity/spiffe-id';
import type { ConnectionEnd } from './message-connection.ts';
import { HANDSHAKE_MS, TLS_DIFFERS } from './remoting-limits.ts';
import { type EndOfSecuring, SecuringConnection } from './securing-connection.ts';

export interface TlsCallbacks {
  /** Called when another side has connected, before anything was read. */
  readonly begun: (connection: SecuringConnection) => void;
  /** Called when the other side has proved that it is this service, or has ended without that. */
  readonly ended: (connection: SecuringConnection, end: EndOfSecuring) => void;
  /** Called for a connection that has to end. `problem`: the rest of a sentence that begins with "the other side". */
  readonly outdated: (socket: Socket, problem: string) => void;
}

export type SecureConnectResult = { readonly socket: Socket } | { readonly problem: string };

/**
 * Time in which other nodes read the files as well, and make their connections again, in milliseconds: Kubernetes replaces the files of a
 * secret within a minute or two.
 */
const FORMER_MS_MAX = 180_000;

const FORMER_AUTHORITY = 'was verified before a certificate authority was removed';
const FORMER_VERIFICATION = 'was verified too long ago';

export interface RemotingAges {
  /** Age at which a connection is made again by the side that has made it. */
  readonly connection: ConnectionAgeLimits;
  /** Time in milliseconds in which another connection has to be made before a former one is ended. */
  readonly formerMsMax: number;
}

export const REMOTING_AGES: RemotingAges = {
  connection: CONNECTION_AGE,
  formerMsMax: FORMER_MS_MAX,
};

/** When a connection that this node has made is made again, and when it is ended, in milliseconds from its beginning. */
export interface OwnTerm {
  readonly renewMs: number;
  readonly endMs: number;
}

/** Why connections have to be made again. */
export interface Renewal {
  /** Time in milliseconds after which the former ones end in any case; undefined: they end at their age. */
  readonly formerMsMax: number | undefined;
}

export class RemotingTls {
  readonly #certificates: CertificateSource;
  readonly #rules: CallerRules;
  readonly #client: ClientTls;
  readonly #ages: RemotingAges;

  /** `certificates`: those of this service. */
  constructor(certificates: CertificateSource, rules: CallerRules, ages = REMOTING_AGES) {
    this.#ages = ages;
    this.#certificates = certificates;
    this.#rules = rules;
    this.#client = new ClientTls(certificates, HANDSHAKE_MS);
  }

  /** Makes the server of a node. */
  createServer({ begun, ended, outdated }: TlsCallbacks): Server {
    const tls = new ServerTls(this.#certificates, {
      rules: this.#rules,
      handshakeTimeoutMs: HANDSHAKE_MS,
    });
    const server = createServer({
      ...tls.serverOptions,
      // Neither side ends its half before the connection.
      allowHalfOpen: false,
      // `secureConnection` refuses them, so that the log says why.
      rejectUnauthorized: false,
    });
    // node:tls does not say from which connection a socket of TLS was made.
    const beginning = new AsyncLocalStorage<SecuringConnection>();
    const secured = new Set<TLSSocket>();
    // Before node:tls makes the socket of TLS, which belongs to the context of this call then.
    server.prependListener('connection', (raw: Socket) => {
      const connection: SecuringConnection = new SecuringConnection(raw, (end) =>
        ended(connection, end),
      );
      beginning.enterWith(connection);
      begun(connection);
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException) =>
      beginning.getStore()?.failed(failureOf(error)),
    );
    tls.attach(server);
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = beginning.getStore();
      const problem = unverified(socket) ?? this.#problemOf(tls.peerOf(socket));
      if (connection !== undefined && problem === undefined) {
        const end = setTimeout(
          () => outdated(socket, FORMER_VERIFICATION),
          this.#longestMs,
        ).unref();
        secured.add(socket);
        socket.once('close', () => {
          clearTimeout(end);
          secured.delete(socket);
        });
        connection.secured(socket);
      } else {
        // A socket that was destroyed may still report an error.
        socket.on('error', () => {});
        if (problem !== undefined) connection?.failed({ problem, isRefusal: true });
        // Not the connection below: OpenSSL still uses its memory until this event has ended, and the process would crash.
        socket.destroy();
      }
    });
    this.#certificates.onGeneration(({ number, authoritiesRemoved }) => {
      if (authoritiesRemoved === 0) return;
      const endFormer = (): void => {
        for (const socket of secured)
          if (tls.peerOf(socket).term.generation < number) outdated(socket, FORMER_AUTHORITY);
      };
      setTimeout(endFormer, this.#ages.formerMsMax).unref();
    });
    return server;
  }

  /** Calls `listener` whenever the connections that this node has made have to be made again, until the returned function is called. */
  onRenewal(listener: (renewal: Renewal) => void): () => void {
    return this.#certificates.onGeneration((generation) => {
      if (!endsOwnConnections(generation)) return;
      // The server of a former connection may have been verified by an authority that is trusted no more.
      const isUntrusted = generation.authoritiesRemoved > 0;
      listener({ formerMsMax: isUntrusted ? this.#ages.formerMsMax : undefined });
    });
  }

  /** Returns the term of a connection that this node has just made. */
  ownTerm(): OwnTerm {
    const renewMs = connectionTerm(0, 0, Math.random(), this.#ages.connection).closesAtMs;
    return { renewMs, endMs: renewMs + this.#ages.formerMsMax };
  }

  /** Connects to another node of this service; calls `done` once. Returns a function that gives up, if `done` was not called yet. */
  connect(
    { host, port }: { readonly host: string; readonly port: number },
    done: (result: SecureConnectResult) => void,
  ): () => void {
    return this.#client.connect({ host, port, expectedId: this.#ownId }, (result) => {
      if (result.kind === 'failed') done({ problem: problemOfConnect(result.failure) });
      else if (result.generation >= this.#certificates.current.authorityRemovedIn)
        done({ socket: result.socket });
      else {
        // An authority was removed during the handshake.
        result.socket.on('error', () => {}).destroy();
        done({ problem: FORMER_AUTHORITY });
      }
    });
  }

  /** Age in milliseconds that no connection of another node exceeds: it has made another one long before. */
  get #longestMs(): number {
    const { connection, formerMsMax } = this.#ages;
    return connectionTerm(0, 0, 1, connection).closesAtMs + formerMsMax;
  }

  /** SPIFFE ID of this service. */
  get #ownId(): string {
    return this.#certificates.current.certificates.id;
  }

  /** Returns why a peer is not this service; undefined if it is. */
  #problemOf({ caller, reason }: Peer): string | undefined {
    if (caller?.kind === 'service') {
      const id = serviceId(this.#rules.trustDomain, caller);
      return id === this.#ownId ? undefined : `is ${id}, and not this service`;
    }
    return caller === undefined
      ? `shows a certificate that names no service (${reason})`
      : 'is the gateway, and not this service';
  }
}

/** Returns why the certificate of the other side counts for nothing; undefined: it was verified. */
function unverified(socket: TLSSocket): string | undefined {
  if (socket.getPeerX509Certificate() === undefined) return 'shows no certificate';
  return socket.authorized
    ? undefined
    : `shows a certificate that this node does not trust (${String(socket.authorizationError)})`;
}

function failureOf({ code = '', message }: NodeJS.ErrnoException): ConnectionEnd {
  if (code === 'ECONNRESET') return { problem: 'ended the connection', isRefusal: false };
  const problem =
    code === 'ERR_TLS_HANDSHAKE_TIMEOUT'
      ? 'does not introduce itself'
      : `does not speak TLS as this node does (${code || message}): ${TLS_DIFFERS}`;
  return { problem, isRefusal: true };
}

function problemOfConnect({ kind, detail }: ConnectFailure): string {
  switch (kind) {
    case 'unreachable':
    case 'refused':
      return `cannot be reached (${detail})`;
    case 'timed-out':
      return 'does not answer';
    case 'closed':
      return `ended the connection during the handshake of TLS: ${TLS_DIFFERS}`;
    case 'untrusted':
    case 'protocol-not-selected':
      return `shows no certificate that this node trusts, or speaks no TLS (${detail}): ${TLS_DIFFERS}`;
    case 'no-certificate':
    case 'other-identity':
      return `is not this service: ${detail}`;
  }
}
