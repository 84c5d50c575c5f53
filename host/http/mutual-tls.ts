// MutualTls: the server of a service whose callers prove who they are. It makes the server of node:tls, and reads callers from
// their certificates. A service without TLS does not load this file.
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { ServerConnections } from '@svc/http1';
import type { CallerRules } from '@svc/identity/caller';
import type { CertificateSource } from '@svc/identity/certificate-generations';
import {
  CONNECTION_AGE,
  type ConnectionAgeLimits,
  connectionTerm,
} from '@svc/identity/connection-age';
import { ServerTls } from '@svc/identity/server-tls';
import { type Caller, callerOfPeer, MOUNT_PROTOCOL, type RefusedPeer } from './access.ts';

/** Protocols of ALPN. A client that knows both makes an ordinary connection. */
const PROTOCOLS = ['http/1.1', MOUNT_PROTOCOL];

export class MutualTls {
  /** The service's own project. */
  readonly project: string;
  readonly #certificates: CertificateSource;
  readonly #age: ConnectionAgeLimits;
  readonly #tls: ServerTls;

  constructor(
    certificates: CertificateSource,
    project: string,
    rules: CallerRules,
    age = CONNECTION_AGE,
  ) {
    this.project = project;
    this.#certificates = certificates;
    this.#age = age;
    this.#tls = new ServerTls(certificates, { rules, protocols: PROTOCOLS, age });
  }

  /** Makes a server, which is given new certificates as long as the process runs. */
  createServer(): Server {
    const server = createServer(this.#tls.serverOptions);
    this.#tls.attach(server);
    return server;
  }

  /**
   * Closes the server's connections that began before an authority was removed, each after its current response. One that idles
   * serves one more request that begins within a second, because a caller may have sent it already and does not repeat a
   * POST. Call it after `connections` were given to the server.
   */
  watch(server: Server, connections: ServerConnections): void {
    const hasToClose = (socket: object): boolean => this.#tls.hasToClose(socket as TLSSocket);
    this.#certificates.onGeneration(({ authoritiesRemoved }) => {
      if (authoritiesRemoved > 0) connections.finish(({ socket }) => hasToClose(socket));
    });
    // The authority was removed during the handshake.
    server.on('secureConnection', (accepted) => {
      if (hasToClose(accepted)) connections.finish(({ socket }) => socket === accepted);
    });
  }

  /** Returns an age in milliseconds at which a connection closes after its current response. */
  lifetimeMs(): number {
    return connectionTerm(0, 0, Math.random(), this.#age).closesAtMs;
  }

  // Every socket of the server is one of TLS.

  callerOf(socket: Socket): Caller | RefusedPeer {
    return callerOfPeer(this.#tls.peerOf(socket as TLSSocket), this.project);
  }

  /** Cuts the connections whose handshake is under way. */
  cutHandshakes(): void {
    this.#tls.cutHandshakes();
  }
}
