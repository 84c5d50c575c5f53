// PodIdentity: the certificates of the pod in use: who connects to the service port, and which of its connections have to
// close because an authority is no longer trusted.
import type { Peer } from '@svc/forward/admission';
import { SERVICE_PROTOCOLS, tlsPeer } from '@svc/forward/tls-peer';
import type { ServerConnections, ServerExchange } from '@svc/http1';
import { CertificateFolder } from '@svc/identity/certificate-folder';
import { ClientTls } from '@svc/identity/client-tls';
import {
  CONNECTION_AGE,
  type ConnectionAgeLimits,
  connectionTerm,
  endsOwnConnections,
} from '@svc/identity/connection-age';
import { ServerTls } from '@svc/identity/server-tls';
import type { Log } from '@svc/kit/log';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { ProxySettings } from './proxy-settings.ts';

export class PodIdentity {
  readonly #certificates: CertificateFolder;
  readonly #age: ConnectionAgeLimits;
  readonly #server: ServerTls;
  readonly #log: Log;
  /** Connections whose certificate names no caller, which was logged. */
  readonly #reported = new WeakSet<object>();
  /** Opens connections to services. */
  readonly client: ClientTls;

  private constructor(
    certificates: CertificateFolder,
    { identity, section }: ProxySettings,
    log: Log,
  ) {
    this.#certificates = certificates;
    this.#age = { ...CONNECTION_AGE, ageMs: section.connectionAgeMs };
    this.#log = log;
    this.#server = new ServerTls(certificates, {
      rules: identity.rules,
      protocols: SERVICE_PROTOCOLS,
      handshakeTimeoutMs: section.handshakeTimeoutMs,
      age: this.#age,
    });
    this.client = new ClientTls(certificates, section.connectTimeoutMs);
  }

  /** Rejects with SVC_CERTIFICATE_MISSING and SVC_CERTIFICATE_UNUSABLE. */
  static async open(settings: ProxySettings, log: Log): Promise<PodIdentity> {
    const { folder, ownId } = settings.identity;
    const certificates = await CertificateFolder.open(folder, { ownId, log });
    return new PodIdentity(certificates, settings, log);
  }

  /** Makes the server of the service port. */
  createServer(): Server {
    const server = createServer(this.#server.serverOptions);
    this.#server.attach(server);
    return server;
  }

  /** TLS handshakes that are under way. */
  get handshakes(): number {
    return this.#server.handshakes;
  }

  /**
   * Closes each connection of the server after its current response once an authority is removed that was trusted when it
   * began. `onRenewed` is called when the connections to services must not be used again.
   */
  watch(server: Server, connections: ServerConnections, onRenewed: () => void): void {
    const hasToClose = (socket: object): boolean => this.#server.hasToClose(socket as TLSSocket);
    this.#certificates.onGeneration((generation) => {
      if (generation.authoritiesRemoved > 0) connections.finish(({ socket }) => hasToClose(socket));
      if (endsOwnConnections(generation)) onRenewed();
    });
    // The authority was removed during the handshake.
    server.on('secureConnection', (accepted) => {
      if (hasToClose(accepted)) connections.finish(({ socket }) => socket === accepted);
    });
  }

  peerOf(exchange: ServerExchange): Peer {
    const peer = tlsPeer(this.#server, exchange);
    if (peer.caller === undefined && !this.#reported.has(exchange.socket)) {
      this.#reported.add(exchange.socket);
      const { reason = '' } = this.#server.peerOf(exchange.socket as TLSSocket);
      this.#log({
        level: 'warn',
        message: 'The certificate of a client names no caller',
        fields: { reason },
      });
    }
    return peer;
  }

  /** Returns an age at which a connection closes after its current response. */
  lifetimeMs(): number {
    return connectionTerm(0, 0, Math.random(), this.#age).closesAtMs;
  }

  close(): void {
    this.#certificates.close();
  }
}
