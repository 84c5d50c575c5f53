// SocketRelay: the sockets of a service that its shards cannot share: that for calls, and that for requests of a service in a network of its
// own. It passes bytes on to the service's own port, and the connections are served, bounded and ended as all others are.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { listen, type ListenAddress, listenOnUnixSocket } from '@svc/kit/listen';
import type { Phase } from '@svc/kit/phases';
import type { GivenSockets } from './given-sockets.ts';

/** An address of all interfaces, and one at which this machine reaches it. */
const REACHED_AT: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

interface RelaySettings {
  readonly sockets: GivenSockets;
  readonly sections: { readonly http: { readonly connectionsMax: number } };
}

export class SocketRelay {
  readonly #sockets: GivenSockets;
  readonly #connectionsMax: number;
  readonly #servers: Server[] = [];

  constructor({ sockets, sections }: RelaySettings) {
    this.#sockets = sockets;
    this.#connectionsMax = sections.http.connectionsMax;
  }

  /** Returns the phase in which the sockets are served, once the service has the address; undefined: it takes no requests. */
  phase(address: () => ListenAddress | undefined): Phase {
    return { start: () => this.#open(address()), stop: () => this.#close() };
  }

  /** Rejects with SVC_ADDRESS_UNAVAILABLE and SVC_PORT_IN_USE. */
  async #open(address: ListenAddress | undefined): Promise<void> {
    if (address === undefined) return;
    const { http, calls } = this.#sockets;
    if (http !== undefined)
      await listen(this.#server(address), { ...address, fd: http }, { server: 'the service' });
    if (calls !== undefined) await listenOnUnixSocket(this.#server(address), calls);
  }

  /** Accepts no further connection. The others end with those of the service. */
  #close(): void {
    for (const server of this.#servers) if (server.listening) server.close();
  }

  #server(address: ListenAddress): Server {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) =>
      relay(caller, address),
    );
    server.maxConnections = this.#connectionsMax;
    this.#servers.push(server);
    return server;
  }
}

function relay(caller: Socket, { host, port }: ListenAddress): void {
  const own = connect({ host: REACHED_AT[host] ?? host, port, allowHalfOpen: true, noDelay: true });
  // Whichever breaks takes the other one with it, and each may end its side alone.
  pipeline(caller, own, () => undefined);
  pipeline(own, caller, () => undefined);
}
