// TcpFaultProxy is between a client and a server, and fails as a network does: connections are reset, refused, or stay open and let
// nothing through, in one direction or in both, or are open on one side alone; or everything comes later.
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class TcpFaultProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #halfOpen = new Set<Socket>();
  #isRefusing = false;
  #holdsAnswers = false;
  #holdsRequests = false;
  #delayMs = 0;
  /** Number of connections that were made. */
  connections = 0;

  /** Leads to the given port of 127.0.0.1. Listens on a free port there, or on the address `listened`. */
  static async to(
    port: number,
    listened: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
  ): Promise<TcpFaultProxy> {
    const proxy = new TcpFaultProxy(port);
    const listening = once(proxy.#server, 'listening');
    proxy.#server.listen(listened);
    await listening;
    return proxy;
  }

  private constructor(port: number) {
    this.#server = createServer({ noDelay: true }, (client) => {
      if (this.#isRefusing) {
        client.resetAndDestroy();
        return;
      }
      this.connections++;
      this.#join({ client, server: connect({ port, host: '127.0.0.1', noDelay: true }) });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets all connections, half-open ones too. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    for (const side of this.#halfOpen) side.resetAndDestroy();
  }

  /** Lets one side of each connection believe that it is open, while the other one is reset. What the side sends leads nowhere. */
  leaveHalfOpen(side: keyof Pair): void {
    for (const pair of this.#pairs) {
      this.#pairs.delete(pair);
      const stays = pair[side];
      this.#halfOpen.add(stays);
      stays.resume();
      pair[side === 'client' ? 'server' : 'client'].resetAndDestroy();
    }
  }

  /** Resets all connections, and new ones, until `accept` is called. */
  refuse(): void {
    this.#isRefusing = true;
    this.reset();
  }

  accept(): void {
    this.#isRefusing = false;
  }

  /** Lets no byte of the server through any more, until `letAnswersThrough` is called. */
  holdAnswers(): void {
    this.#holdsAnswers = true;
    for (const { server } of this.#pairs) server.pause();
  }

  letAnswersThrough(): void {
    this.#holdsAnswers = false;
    for (const { server } of this.#pairs) server.resume();
  }

  /** Lets no byte of the client through any more, until `letRequestsThrough` is called. */
  holdRequests(): void {
    this.#holdsRequests = true;
    for (const { client } of this.#pairs) client.pause();
  }

  letRequestsThrough(): void {
    this.#holdsRequests = false;
    for (const { client } of this.#pairs) client.resume();
  }

  /** Lets every byte through later, in both directions. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => {
      this.#server.close(resolve);
    });
    this.refuse();
    await closed;
  }

  #join(pair: Pair): void {
    const { client, server } = pair;
    this.#pairs.add(pair);
    this.#pass(pair, client, server, () => this.#holdsRequests);
    this.#pass(pair, server, client, () => this.#holdsAnswers);
    if (this.#holdsAnswers) server.pause();
    if (this.#holdsRequests) client.pause();
  }

  #pass(pair: Pair, from: Socket, to: Socket, isHeld: () => boolean): void {
    const waiting: { readonly dueMs: number; readonly act: () => void }[] = [];
    const actInTurn = (): void => {
      while (waiting.length > 0 && waiting[0]!.dueMs <= performance.now()) waiting.shift()!.act();
      if (waiting.length > 0) setTimeout(actInTurn, waiting[0]!.dueMs - performance.now());
    };
    /** Does what comes from a side in its order, also when the delay has become shorter. */
    const later = (act: () => void): void => {
      waiting.push({ dueMs: performance.now() + this.#delayMs, act });
      if (waiting.length === 1) actInTurn();
    };
    from.on('data', (bytes: Buffer) =>
      later(() => {
        if (this.#pairs.has(pair) && !to.write(bytes)) from.pause();
      }),
    );
    to.on('drain', () => {
      if (!isHeld()) from.resume();
    });
    from.on('end', () => later(() => to.end()));
    from.on('error', () => {
      if (this.#pairs.has(pair)) to.destroy();
    });
    from.on('close', () => {
      this.#halfOpen.delete(from);
      later(() => {
        if (this.#pairs.delete(pair)) to.destroySoon();
      });
    });
  }
}
