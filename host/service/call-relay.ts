// CallRelay: the socket for calls of a service that runs a module. It passes bytes on to the service's own port: the shards cannot share
// a socket that the process was given, and the connections are served, bounded and ended as all others are.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type ListenAddress, listenOnUnixSocket } from '@svc/kit/listen';
import type { GivenSockets } from './given-sockets.ts';

/** An address of all interfaces, and one at which this machine reaches it. */
const REACHED_AT: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

interface RelaySettings {
  readonly sockets: GivenSockets;
  readonly sections: { readonly http: { readonly connectionsMax: number } };
}

export class CallRelay {
  readonly #fd: number | undefined;
  readonly #server: Server;
  #address: ListenAddress | undefined;

  /** `fd`: descriptor of the socket; undefined: there is none, and nothing is opened. */
  constructor(fd: number | undefined, connectionsMax: number) {
    this.#fd = fd;
    this.#server = createServer({ allowHalfOpen: true }, (caller) => this.#relay(caller));
    this.#server.maxConnections = connectionsMax;
  }

  /** The relay of a service with these settings. */
  static of({ sockets, sections }: RelaySettings): CallRelay {
    return new CallRelay(sockets.calls, sections.http.connectionsMax);
  }

  /** `address`: that of the service; undefined: it takes no requests. Rejects with SVC_ADDRESS_UNAVAILABLE. */
  async open(address: ListenAddress | undefined): Promise<void> {
    this.#address = address;
    if (this.#fd === undefined || address === undefined) return;
    await listenOnUnixSocket(this.#server, this.#fd);
  }

  /** Accepts no further connection. The others end with those of the service. */
  close(): void {
    if (this.#server.listening) this.#server.close();
  }

  #relay(caller: Socket): void {
    const { host, port } = this.#address!;
    const own = connect({
      host: REACHED_AT[host] ?? host,
      port,
      allowHalfOpen: true,
      noDelay: true,
    });
    // Whichever breaks takes the other one with it, and each may end its side alone.
    pipeline(caller, own, () => undefined);
    pipeline(own, caller, () => undefined);
  }
}
