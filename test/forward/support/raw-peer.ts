// RawPeer: one end of a TCP connection whose bytes a test reads and writes as they are, and a listener for such connections.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export class RawPeer {
  /** What has arrived and was not taken, in latin1. */
  received = '';
  /** How the other side has ended the connection; undefined: it has not. */
  ended: 'end' | 'reset' | undefined;
  readonly socket: Socket;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
      this.#wake();
    });
    socket.on('end', () => {
      this.ended ??= 'end';
      this.#wake();
    });
    socket.on('error', () => {
      this.ended ??= 'reset';
      this.#wake();
    });
    socket.on('close', () => {
      this.ended ??= 'reset';
      this.#wake();
    });
  }

  write(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Takes the bytes up to the end of a text, which have arrived or will. */
  async take(end: string): Promise<string> {
    await this.#until(() => this.received.includes(end), `the text ${JSON.stringify(end)}`);
    const at = this.received.indexOf(end) + end.length;
    const taken = this.received.slice(0, at);
    this.received = this.received.slice(at);
    return taken;
  }

  /** Takes a head: its lines. */
  async head(): Promise<readonly string[]> {
    return (await this.take('\r\n\r\n')).slice(0, -4).split('\r\n');
  }

  /** Takes the body of a message whose head says `Content-Length`. */
  async message(): Promise<{ readonly lines: readonly string[]; readonly body: string }> {
    const lines = await this.head();
    const length = lines.find((line) => /^content-length:/i.test(line))?.split(':')[1] ?? '0';
    await this.#until(() => this.received.length >= Number(length), 'the body');
    const body = this.received.slice(0, Number(length));
    this.received = this.received.slice(Number(length));
    return { lines, body };
  }

  /** Waits for the end of the connection, and returns everything that was not taken. */
  async rest(): Promise<string> {
    await this.#until(() => this.ended !== undefined, 'the end of the connection');
    return this.received;
  }

  async #until(isSo: () => boolean, awaited: string): Promise<void> {
    while (!isSo()) {
      if (this.ended !== undefined && this.socket.destroyed)
        throw new Error(
          `the connection ended (${this.ended}) before ${awaited}; it has ${JSON.stringify(this.received)}`,
        );
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A listener whose connections a test takes one by one. */
export class RawListener {
  readonly #server: Server;
  readonly #peers: RawPeer[] = [];
  port = 0;
  /** Number of connections that were accepted. */
  accepted = 0;
  #wake: () => void = () => undefined;

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.accepted += 1;
      this.#peers.push(new RawPeer(socket));
      onTestFinished(() => void socket.destroy());
      this.#wake();
    });
  }

  static async open(): Promise<RawListener> {
    const listener = new RawListener();
    listener.#server.listen(0, '127.0.0.1');
    await once(listener.#server, 'listening');
    listener.port = (listener.#server.address() as AddressInfo).port;
    onTestFinished(() => void listener.#server.close());
    return listener;
  }

  /** The next connection, which was or will be accepted. */
  async next(): Promise<RawPeer> {
    while (this.#peers.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#peers.shift()!;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const { socket } of this.#peers) socket.destroy();
    await Promise.resolve();
  }
}

export async function dial(port: number): Promise<RawPeer> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return new RawPeer(socket);
}

/** Status and `error` of an answer that the proxy made itself. */
export async function proxyAnswer(client: RawPeer): Promise<string> {
  const { lines, body } = await client.message();
  if (!lines.includes('X-Svc-Answered-By: proxy'))
    throw new Error(`it is no answer of the proxy: ${lines.join(' | ')}`);
  const { error } = JSON.parse(body) as { readonly error: string };
  return `${lines[0]!.split(' ')[1]} ${error}`;
}
