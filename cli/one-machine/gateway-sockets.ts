// GatewaySockets: the sockets of the gateway's ports, held by the process that supervises the gateway. Each listens from the first start of the
// gateway until it is closed here, so a connection that arrives while the gateway is started again waits in the queue of the socket.
//
// Invariant: this process accepts no connection.
import { lookup } from 'node:dns/promises';
import { BoundSocket } from 'node:net';
import type { ListeningSocket } from '@svc/kit/listening-sockets';
import { type GatewayPort, portFailure } from './machine-ports.ts';

export class GatewaySockets implements Disposable {
  readonly #sockets = new Map<string, BoundSocket>();

  private constructor() {}

  /** Binds the ports. Rejects with SVC_PORT_IN_USE or SVC_ADDRESS_UNAVAILABLE. */
  static async open(ports: readonly GatewayPort[]): Promise<GatewaySockets> {
    const opened = new GatewaySockets();
    try {
      for (const port of ports) await opened.#bind(port);
    } catch (error) {
      opened.close();
      throw error;
    }
    return opened;
  }

  /** The sockets with the file descriptors that they have in this process. */
  get all(): readonly ListeningSocket[] {
    return [...this.#sockets].map(([name, socket]) => ({ name, fd: socket.fd() }));
  }

  /** Lets go of the sockets: once the gateway has ended, connections are refused. */
  close(): void {
    for (const socket of this.#sockets.values()) socket[Symbol.dispose]();
    this.#sockets.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #bind(wanted: GatewayPort): Promise<void> {
    const { name, host, port } = wanted;
    try {
      const { address } = await lookup(host);
      this.#sockets.set(name, new BoundSocket({ host: address, port }));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw portFailure(wanted, code ?? message);
    }
  }
}
