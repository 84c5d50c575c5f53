// TlsServer: the server of the port with TLS. The server name of a connection chooses its certificate, and new certificates apply to every
// connection that begins afterwards. It counts the handshakes that are under way.
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { HostCertificates } from './host-certificates.ts';
import { serverName } from './requested-host.ts';

const MIN_VERSION = 'TLSv1.2';

export class TlsServer {
  readonly server: Server;
  /** Connections whose handshake is under way, by address and port of the client. */
  readonly #handshakes = new Map<string, Socket>();

  constructor(certificates: HostCertificates, handshakeTimeoutMs: number) {
    const fallbackOptions = () =>
      ({ ...certificates.fallback?.options, minVersion: MIN_VERSION }) as const;
    this.server = createServer({
      ...fallbackOptions(),
      allowHalfOpen: true,
      handshakeTimeout: handshakeTimeoutMs,
      ALPNProtocols: ['http/1.1'],
      // Without a context the one of the server is used: the default.
      SNICallback: (name, done) => done(null, certificates.find(serverName(name))?.context),
    });
    certificates.onChange(() => this.server.setSecureContext(fallbackOptions()));
    this.#count(this.server);
    // node:tls leaves a connection open whose handshake takes too long.
    this.server.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** TLS handshakes that are under way. */
  get handshakes(): number {
    return this.#handshakes.size;
  }

  /** Cuts the connections whose handshake is under way: for a gateway that stops. */
  cutHandshakes(): void {
    for (const raw of this.#handshakes.values()) raw.destroy();
  }

  #count(server: Server): void {
    server.prependListener('connection', (raw: Socket) => {
      const client = clientOf(raw);
      this.#handshakes.set(client, raw);
      raw.once('close', () => {
        if (this.#handshakes.get(client) === raw) this.#handshakes.delete(client);
      });
    });
    server.prependListener('secureConnection', (socket: TLSSocket) =>
      this.#handshakes.delete(clientOf(socket)),
    );
  }
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
