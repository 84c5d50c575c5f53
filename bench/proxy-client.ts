// ProxyClient: the client of the measurements of proxies. It holds its connections open, has one request under way on
// each, and only looks for the end of a response, so that it costs little, with and without TLS.
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from './monotonic-clock.ts';

/** The last byte of each body. It is nowhere else in a response. */
const END = '~'.charCodeAt(0);
const STATUS_AT = 'HTTP/1.1 '.length;
/** The host that each request names. */
export const BENCH_HOST = 'web-shop.example.org';
const FIELDS = [
  `Host: ${BENCH_HOST}`,
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  'Accept: application/json, text/plain, */*',
  'Accept-Encoding: gzip, deflate, br',
  'Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
  'X-Request-Id: 7f3a9c1d',
].join('\r\n');
const REQUEST = `GET /carts/7f3a9c/items?limit=20 HTTP/1.1\r\n${FIELDS}\r\n\r\n`;
const EVENTS_REQUEST = `GET /events HTTP/1.1\r\n${FIELDS}\r\n\r\n`;

class Connection {
  readonly #socket: Socket;
  #onEnd: () => void = () => {};
  #isAnswered = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (piece: Buffer) => this.#received(piece));
  }

  /** Sends a request. `onEnd` is called when the response is complete. */
  send(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#isAnswered = false;
    this.#socket.write(REQUEST, 'latin1');
  }

  #received(piece: Buffer): void {
    if (!this.#isAnswered && piece[STATUS_AT] !== '2'.charCodeAt(0))
      this.#socket.destroy(new Error(`answered ${piece.toString('latin1', 0, 200)}`));
    this.#isAnswered = true;
    if (piece.includes(END)) this.#onEnd();
  }

  close(): void {
    this.#socket.destroy();
  }
}

export class ProxyClient {
  readonly #connections: readonly Connection[];
  readonly #failed = Promise.withResolvers<never>();

  private constructor(sockets: readonly Socket[]) {
    this.#failed.promise.catch(() => {});
    for (const socket of sockets) socket.once('error', this.#failed.reject);
    this.#connections = sockets.map((socket) => new Connection(socket));
  }

  /** Opens connections, a few at a time, each of which gets one response. */
  static async open(count: number, dial: () => Socket): Promise<ProxyClient> {
    const sockets: Socket[] = [];
    const AT_ONCE = 50;
    while (sockets.length < count) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, dial);
      const client = new ProxyClient(some);
      await client.each((connection) => new Promise((done) => connection.send(done)));
      for (const socket of some) socket.removeAllListeners();
      sockets.push(...some);
    }
    return new ProxyClient(sockets);
  }

  /** Sends requests for a time. Resolves with the number of responses. */
  async load(ms: number): Promise<number> {
    const untilMs = performance.now() + ms;
    let answers = 0;
    await this.each(
      (connection) =>
        new Promise<void>((done) => {
          const next = (): void => {
            answers += 1;
            if (performance.now() < untilMs) connection.send(next);
            else done();
          };
          connection.send(next);
        }),
    );
    return answers;
  }

  /** Sends requests one after the other for a time. Resolves with the time of each in milliseconds. */
  async latenciesMs(ms: number): Promise<number[]> {
    const untilMs = performance.now() + ms;
    const latencies: number[] = [];
    await this.each(
      (connection) =>
        new Promise<void>((done) => {
          let sentMs = performance.now();
          const next = (): void => {
            const nowMs = performance.now();
            latencies.push(nowMs - sentMs);
            if (nowMs >= untilMs) return done();
            sentMs = nowMs;
            connection.send(next);
          };
          connection.send(next);
        }),
    );
    return latencies;
  }

  async each(work: (connection: Connection) => Promise<void>): Promise<void> {
    await Promise.race([Promise.all(this.#connections.map(work)), this.#failed.promise]);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/**
 * Receives events for a time, from the first of them on. Resolves with the delay of each in milliseconds. Rejects if the
 * connection ends before.
 */
export async function eventDelaysMs(dial: () => Socket, ms: number): Promise<number[]> {
  const socket = dial().setEncoding('latin1');
  const delays: number[] = [];
  const begun = Promise.withResolvers<void>();
  let rest = '';
  socket.on('data', (piece: string) => {
    const nowMs = monotonicMs();
    rest += piece;
    for (const [, sent] of rest.matchAll(/data: ([0-9.]+)~/g)) delays.push(nowMs - Number(sent));
    rest = rest.slice(rest.lastIndexOf('~') + 1);
    if (delays.length > 0) begun.resolve();
  });
  socket.once('close', () => begun.reject(new Error('no event arrived')));
  socket.write(EVENTS_REQUEST);
  await begun.promise;
  await pause(ms);
  socket.destroy();
  return delays;
}
