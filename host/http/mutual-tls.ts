// MutualTls: the server of a service whose callers prove who they are. It makes the server of node:tls, and reads callers from
// their certificates. A service without TLS does not load this file.
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { CallerRules } from '@svc/identity/caller';
import type { CertificateSource } from '@svc/identity/certificate-generations';
import { ServerTls } from '@svc/identity/server-tls';
import { type Caller, callerOfPeer, MOUNT_PROTOCOL, type RefusedPeer } from './access.ts';

/** Protocols of ALPN. A client that knows both makes an ordinary connection. */
const PROTOCOLS = ['http/1.1', MOUNT_PROTOCOL];

export class MutualTls {
  /** The service's own project. */
  readonly project: string;
  readonly #tls: ServerTls;

  constructor(certificates: CertificateSource, project: string, rules: CallerRules) {
    this.project = project;
    this.#tls = new ServerTls(certificates, { rules, protocols: PROTOCOLS });
  }

  /** Makes a server, which is given new certificates as long as the process runs. */
  createServer(): Server {
    const server = createServer(this.#tls.serverOptions);
    this.#tls.attach(server);
    return server;
  }

  // Every socket of the server is one of TLS.

  callerOf(socket: Socket): Caller | RefusedPeer {
    return callerOfPeer(this.#tls.peerOf(socket as TLSSocket), this.project);
  }

  /** Returns whether a connection has to close after its current response. */
  hasToClose(socket: Socket): boolean {
    return this.#tls.hasToClose(socket as TLSSocket);
  }

  /** Cuts the connections whose handshake is under way. */
  cutHandshakes(): void {
    this.#tls.cutHandshakes();
  }
}
