// PacedClient sends requests at a steady rate, whatever the server does, and measures how long each takes from the time at
// which it was due. It prepares bytes and reads statuses only, so that it takes little time from the server.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { AnswerCount } from './pipelined-client.ts';

export interface PacedLoad {
  readonly port: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Returns the next request as text of one byte per character. */
  readonly next: () => string;
  /** Status of every answer. Default: 200. */
  readonly status?: string;
}

export interface PacedTimes {
  /** The 99th percentile, in milliseconds. */
  readonly p99Ms: number;
  /** How late the client itself was at most with a request that was due, in milliseconds. It counts in the request's time. */
  readonly lateMs: number;
}

/** Sends the requests, and resolves when all are answered. Rejects if a status is another one, or a connection broke. */
export async function pacedTimes(load: PacedLoad): Promise<PacedTimes> {
  const { perSecond, seconds, connections } = load;
  const client = new PacedClient(load);
  try {
    await client.connect(connections);
    const count = Math.max(1, Math.round(perSecond * seconds));
    const startedMs = performance.now();
    let lateMs = 0;
    for (let sent = 0; sent < count;) {
      const elapsedMs = performance.now() - startedMs;
      lateMs = Math.max(lateMs, elapsedMs - (sent * 1_000) / perSecond);
      const due = Math.min(count, Math.floor((elapsedMs / 1_000) * perSecond));
      for (; sent < due; sent++) client.send(startedMs + (sent * 1_000) / perSecond);
      await pause(1);
    }
    const times = await client.answered(count);
    times.sort((a, b) => a - b);
    return { p99Ms: times[Math.floor(times.length * 0.99)]!, lateMs };
  } finally {
    client.close();
  }
}

class PacedClient {
  readonly #load: PacedLoad;
  readonly #sockets: Socket[] = [];
  readonly #free: ((dueMs: number) => void)[] = [];
  /** Due times of requests for which no connection is free, oldest first. */
  readonly #waiting: number[] = [];
  readonly #times: number[] = [];
  readonly #done = Promise.withResolvers<number[]>();
  #wanted = Infinity;

  constructor(load: PacedLoad) {
    this.#load = load;
    this.#done.promise.catch(() => {});
  }

  async connect(connections: number): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.#connectOne()));
  }

  send(dueMs: number): void {
    const free = this.#free.pop();
    if (free === undefined) this.#waiting.push(dueMs);
    else free(dueMs);
  }

  /** Resolves with the time of each request, once this many are answered. */
  answered(count: number): Promise<number[]> {
    this.#wanted = count;
    if (this.#times.length >= count) this.#done.resolve(this.#times);
    return this.#done.promise;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #connectOne(): Promise<void> {
    const { port, next, status } = this.#load;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const answers = new AnswerCount(status);
    let sinceMs = 0;
    const request = (dueMs: number): void => {
      sinceMs = dueMs;
      socket.write(next(), 'latin1');
    };
    this.#sockets.push(socket);
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      try {
        if (answers.add(piece) === 0) return;
        this.#times.push(performance.now() - sinceMs);
        if (this.#times.length === this.#wanted) this.#done.resolve(this.#times);
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#free.push(request);
        else request(waiting);
      } catch (error) {
        this.#done.reject(error);
      }
    });
    socket.once('close', () => this.#done.reject(new Error('a connection was closed')));
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => {
        this.#free.push(request);
        resolve();
      });
    });
  }
}
