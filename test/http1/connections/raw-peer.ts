// The other end of a connection under test: bytes as they are, without any reading of HTTP.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { within } from '../../support/within.ts';

export class RawPeer {
  readonly socket: Duplex & { resetAndDestroy?: () => unknown };
  /** Everything received, in latin1. */
  text = '';
  hasEnded = false;
  isClosed = false;
  error: NodeJS.ErrnoException | undefined;
  #waiting = new Set<() => void>();

  constructor(socket: Duplex) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.text += bytes.toString('latin1');
      this.#changed();
    });
    socket.on('end', () => {
      this.hasEnded = true;
      this.#changed();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error;
      this.#changed();
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.#changed();
    });
  }

  write(text: string): this {
    this.socket.write(Buffer.from(text, 'latin1'));
    return this;
  }

  async until(isSo: () => boolean, awaited: string): Promise<void> {
    let changed!: () => void;
    const met = new Promise<void>((resolve) => {
      changed = () => {
        if (isSo()) resolve();
      };
    });
    this.#waiting.add(changed);
    changed();
    const shown = (): string => `${awaited}; received: ${JSON.stringify(this.text.slice(-500))}`;
    await within(20, shown, met);
    this.#waiting.delete(changed);
  }

  /** Waits until the text was received. */
  async has(text: string): Promise<void> {
    await this.until(() => this.text.includes(text), JSON.stringify(text));
  }

  async end(): Promise<void> {
    await this.until(() => this.hasEnded || this.isClosed, 'the end of the connection');
  }

  async closed(): Promise<void> {
    await this.until(() => this.isClosed, 'the close of the connection');
  }

  #changed(): void {
    for (const changed of this.#waiting) changed();
  }
}

export async function dial(port: number): Promise<RawPeer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  onTestFinished(() => void socket.destroy());
  const peer = new RawPeer(socket);
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return peer;
}

/** Listens on a free port, and keeps the sockets that come. */
export class RawListener {
  readonly peers: RawPeer[] = [];
  readonly server: Server;
  /** Called for each new peer. */
  onPeer: (peer: RawPeer) => void = () => undefined;

  constructor() {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      const peer = new RawPeer(socket);
      this.peers.push(peer);
      this.onPeer(peer);
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async listen(): Promise<this> {
    await listening(this.server);
    onTestFinished(() => {
      for (const { socket } of this.peers) socket.destroy();
    });
    return this;
  }

  /** Waits for the peer of this number, from 0. */
  async peer(index: number): Promise<RawPeer> {
    await within(
      20,
      `connection ${index}`,
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (this.peers.length > index) resolve();
          else this.server.once('connection', look);
        };
        look();
      }),
    );
    return this.peers[index]!;
  }
}

/** Lets a server listen on a free port until the test is over. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
