// PeerLane: the forwarding of `svc web` in front of one server, and a tap between them that counts responses. One client at a
// time sends a stream of bytes, ends its side, and reads what comes back.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Forwarder } from '../../../../proxy/web/forwarder.ts';
import { openLocalForwarder } from '../../../../proxy/web/local-forwarder.ts';
import { within } from '../../within.ts';

export interface LaneResult {
  /** What the client received. */
  readonly received: Buffer;
  /** Final responses that the server sent since the stream began. */
  readonly responses: number;
}

/** No stream takes a second, but this process may get no processor time for a while. */
const STREAM_SECONDS_MAX = 120;
const FINAL_RESPONSE = /HTTP\/1\.[01] [2-5]\d\d/g;

export class PeerLane {
  readonly name: string;
  readonly #tap: Tap;
  readonly #forwarder: Forwarder;
  readonly #port: number;

  private constructor(name: string, tap: Tap, forwarder: Forwarder) {
    this.name = name;
    this.#tap = tap;
    this.#forwarder = forwarder;
    this.#port = Number(new URL(forwarder.url).port);
  }

  static async open(name: string, serverPort: number): Promise<PeerLane> {
    const tap = await Tap.open(serverPort);
    const forwarder = await openLocalForwarder({
      name,
      port: 0,
      processPort: () => tap.port,
      mounts: [],
      runningFolder: undefined,
      log: ({ message, fields }) => {
        throw new Error(`${message}: ${JSON.stringify(fields)}`);
      },
    });
    return new PeerLane(name, tap, forwarder);
  }

  async send(stream: Buffer): Promise<LaneResult> {
    const before = this.#tap.responses;
    const socket = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
    const parts: Buffer[] = [];
    const closed = Promise.withResolvers<void>();
    socket
      .on('data', (bytes: Buffer) => parts.push(bytes))
      .on('end', () => socket.end())
      // A stream that is not complete has its connection reset.
      .on('error', () => undefined)
      .on('close', () => closed.resolve());
    socket.end(stream);
    await within(STREAM_SECONDS_MAX, `the end of a connection to ${this.name}`, closed.promise);
    return { received: Buffer.concat(parts), responses: this.#tap.responses - before };
  }

  async close(): Promise<void> {
    await this.#forwarder.close();
    this.#tap.close();
  }
}

/** Passes bytes between the forwarding and the server, and counts the responses of the server. */
class Tap {
  responses = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(serverPort: number) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = connect({
        port: serverPort,
        host: '127.0.0.1',
        allowHalfOpen: true,
        noDelay: true,
      });
      this.#join(near, far);
      this.#join(far, near);
      far.on('data', (bytes: Buffer) => {
        this.responses += bytes.toString('latin1').match(FINAL_RESPONSE)?.length ?? 0;
      });
    });
  }

  static async open(serverPort: number): Promise<Tap> {
    const tap = new Tap(serverPort);
    tap.#server.listen(0, '127.0.0.1');
    await once(tap.#server, 'listening');
    return tap;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from
      .on('data', (bytes) => to.write(bytes))
      .on('end', () => to.end())
      .on('error', () => to.resetAndDestroy())
      .on('close', () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
  }
}
