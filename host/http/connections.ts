// Connections owns the open sockets: the running requests of each, the last answer to a socket whose bytes are not
// HTTP, idle timeouts, and closing. It knows nothing of the content of requests and answers.
//
// Periodic sweeps over all sockets check the timeouts: a timer for each socket, reset with every request and
// answer, would be a noticeable part of the cost of a short request.
//
// Pipelined requests wait while the connection buffers more than KEPT_BYTES_MAX for its caller, and nothing further
// is read from it meanwhile: no response is computed for a caller that reads none.
//
// Invariants:
// - A socket whose bytes were not HTTP gets its last answer after the answers to the requests before it, which are
//   served.
// - After `close`, a socket without a running request is closed.
// - No request is accepted from a socket after an answer that announced closing it.
// - An idle socket is closed after its timeout, and so is a socket whose other end reads an answer too slowly or
//   not at all.
import type { Socket } from 'node:net';
import type { ByteBudget } from '../model/byte-budget.ts';
import type { KeptTogether } from '../model/kept-bytes.ts';
import { type Answer, overloadedAnswer } from './answers.ts';
import type { ConnectionTimes } from './http-settings.ts';
import { NO_PRESSURE, nextPressure, ResponseRate } from './response-rate.ts';
import { writeLastAnswer } from './response-writer.ts';

/** A request whose answer is not finished. */
export interface OpenRequest {
  /** True: the body is still arriving, and the request has no answer yet. */
  readonly isReading: boolean;
  /** Called when the connection is closed and nobody can receive the answer. */
  abandon(): void;
  /** Serves the request, which no longer has to wait for those before it. */
  serve(): void;
}

/** State that a request shares with the others of its connection. */
export interface Connection extends KeptTogether {
  readonly socket: Socket;
  /** Requests in the order of arrival. An array: without pipelining there is one. */
  readonly open: OpenRequest[];
  /** The request that arrived last; undefined before the first request. */
  newest: OpenRequest | undefined;
  /** Open requests that are not served yet, in the order of arrival. */
  readonly waiting: OpenRequest[];
  /** Number of requests that came too late to be answered; they stay in memory until the socket is closed. */
  ignored: number;
  readonly rate: ResponseRate;
  /** Answer with which the connection is broken off, until it is written; undefined: there is none to write. */
  lastAnswer: Answer | undefined;
  /** True: the last answer is written or due, and nothing further is accepted from the socket. */
  isEnding: boolean;
  /** Sweeps without an open request since the last answer was finished. */
  idleSweeps: number;
}

/** Least number of sweeps in the shortest of the timeouts that sweeps check. */
const SWEEPS_PER_TIME = 4;
/** Longest time between two sweeps, in milliseconds. */
const SWEEP_MS_MAX = 5000;
/** Maximum bytes that a connection may buffer for its caller while its next request is served. */
const KEPT_BYTES_MAX = 64 * 1024;
/**
 * Maximum number of waiting pipelined requests of all connections; a connection that sends another one is broken off.
 */
const WAITING_MAX = 1_000;
/** Maximum number of late requests of all connections; a connection that sends more is cut. */
const IGNORED_MAX = 10_000;

export class Connections {
  /**
   * Value of the header `keep-alive` in an answer after which the connection stays open; undefined if the idle timeout
   * is shorter than a second.
   */
  readonly keepAlive: string | undefined;
  readonly #connections = new Map<Socket, Connection>();
  readonly #times: ConnectionTimes;
  readonly #unsent: ByteBudget;
  readonly #sweepMs: number;
  #sweeper: NodeJS.Timeout | undefined;
  #pressure = NO_PRESSURE;
  #isClosing = false;
  #ignored = 0;
  #waiting = 0;

  /** `unsent`: budget of the bytes that all connections buffer for their callers. */
  constructor(times: ConnectionTimes, unsent: ByteBudget) {
    this.#times = times;
    this.#unsent = unsent;
    const shorterMs = Math.min(times.idleMs, times.stallMs, times.rateGraceMs);
    this.#sweepMs = Math.min(SWEEP_MS_MAX, Math.ceil(shorterMs / SWEEPS_PER_TIME));
    const seconds = Math.floor(times.idleMs / 1000);
    this.keepAlive = seconds > 0 ? `timeout=${seconds}` : undefined;
  }

  accept(socket: Socket): void {
    if (this.#isClosing) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      keptBytes: 0,
      open: [],
      newest: undefined,
      waiting: [],
      ignored: 0,
      rate: new ResponseRate(this.#times, socket),
      lastAnswer: undefined,
      isEnding: false,
      idleSweeps: 0,
    };
    this.#connections.set(socket, connection);
    this.#sweeper ??= setInterval(() => this.#sweep(), this.#sweepMs);
    // Node reports the closing to a response that waits for its turn, except to a response behind a CONNECT that closes
    // the connection. So every open request is abandoned here.
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#ignored -= connection.ignored;
      this.#dropWaiting(connection);
      if (this.#connections.size === 0) this.#stopSweeping();
      for (const request of connection.open) request.abandon();
    });
  }

  /** Returns the connection of a socket; undefined if it is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#connections.get(socket);
  }

  /**
   * Registers a request whose headers have arrived. Returns false if the request gets no answer of its own: it comes
   * too late, or it is one too many, and the connection is broken off with the answer of an overloaded service.
   * `isFull`: the server has its maximum of requests in flight; then a request behind another one is one too many,
   * unless it has to wait.
   */
  begin(connection: Connection, request: OpenRequest, isFull: boolean): boolean {
    const isTooMany = mustQueue(connection)
      ? this.#waiting >= WAITING_MAX
      : isFull && connection.open.length > 0;
    if (isTooMany) this.breakOff(connection.socket, overloadedAnswer());
    if (connection.isEnding) {
      this.#ignore(connection);
      return false;
    }
    connection.open.push(request);
    connection.newest = request;
    return true;
  }

  /** Returns whether a new request has to wait for those before it. Then queues it, and `serve` is called later. */
  mustWait(connection: Connection, request: OpenRequest): boolean {
    if (!mustQueue(connection)) return false;
    const { waiting, socket } = connection;
    // Node also pauses a connection for other reasons, and resumes it by itself.
    if (waiting.length === 0) socket.pause().on('resume', stayPaused);
    waiting.push(request);
    this.#waiting += 1;
    return true;
  }

  /**
   * Serves the waiting requests of a connection, as far as possible, after one of its requests is done. `isFull`:
   * returns whether the server has its maximum of requests in flight. In that case the waiting requests wait until
   * another request of the connection is done, unless the first of them is the oldest open request of the connection.
   */
  proceed(connection: Connection, isFull: () => boolean): void {
    const { open, waiting, socket } = connection;
    if (waiting.length === 0) return;
    while (waiting.length > 0 && connection.keptBytes <= KEPT_BYTES_MAX) {
      if (isFull() && open[0] !== waiting[0]) return;
      this.#waiting -= 1;
      waiting.shift()!.serve();
    }
    if (waiting.length === 0) socket.off('resume', stayPaused).resume();
  }

  /** Notes that the current answer announces closing: the requests that wait behind it get no answer. */
  markEnding(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.isEnding = true;
    this.#dropWaiting(connection);
  }

  /** Removes a request whose answer is finished, or cannot be received any more. */
  end(socket: Socket, request: OpenRequest): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { open } = connection;
    if (open[0] === request) open.shift();
    else if (open.includes(request)) open.splice(open.indexOf(request), 1);
    connection.idleSweeps = 0;
    if (connection.lastAnswer !== undefined) this.#writeLast(socket, connection);
    if (this.#isClosing && open.length === 0) socket.destroySoon();
  }

  /** Returns whether no later request has arrived on the socket: only the newest request's answer may close it. */
  isNewest(socket: Socket, request: OpenRequest): boolean {
    return this.#connections.get(socket)?.newest === request;
  }

  /** Ends a socket with a last answer, because its bytes are not HTTP or too many requests wait. */
  breakOff(socket: Socket, answer: Answer): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.isEnding) return;
    connection.isEnding = true;
    connection.lastAnswer = answer;
    this.#writeLast(socket, connection);
  }

  /** Closes sockets without a running request, now and as requests end. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, connection] of this.#connections)
      if (connection.open.length === 0) socket.destroy();
  }

  /** Cuts every connection. Returns whether a request was running, whose answer may be lost. */
  cut(): boolean {
    let hasCut = false;
    for (const [socket, { open }] of this.#connections) {
      hasCut ||= open.length > 0;
      socket.destroy();
    }
    return hasCut;
  }

  #dropWaiting({ waiting }: Connection): void {
    this.#waiting -= waiting.length;
    waiting.length = 0;
  }

  #ignore(connection: Connection): void {
    connection.ignored += 1;
    this.#ignored += 1;
    if (this.#ignored > IGNORED_MAX) connection.socket.destroy();
  }

  #sweep(): void {
    const { idleMs, stallMs } = this.#times;
    this.#pressure = nextPressure(this.#pressure, this.#unsent);
    for (const [socket, connection] of this.#connections) {
      // While bytes wait to be written, the socket's own timer sees whether any of them leave.
      const isWriting = socket.writableLength > 0;
      const isTimed = (socket.timeout ?? 0) > 0;
      if (isWriting !== isTimed) socket.setTimeout(isWriting ? stallMs : 0);
      const writingMs = isWriting ? this.#sweepMs : 0;
      if (connection.rate.isTooLow(writingMs, this.#pressure)) socket.destroy();
      // Before the first request, the timeout of its headers runs.
      if (connection.open.length > 0 || connection.newest === undefined) continue;
      connection.idleSweeps += 1;
      if ((connection.idleSweeps - 1) * this.#sweepMs >= idleMs) socket.destroy();
    }
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #writeLast(socket: Socket, connection: Connection): void {
    const { lastAnswer } = connection;
    if (lastAnswer === undefined) return;
    for (const request of connection.open) if (!request.isReading) return;
    connection.lastAnswer = undefined;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const bytes = lastAnswer.body?.length ?? 0;
    this.#unsent.add(bytes);
    socket.once('close', () => this.#unsent.add(-bytes));
    writeLastAnswer(socket, lastAnswer, this.#times.lingerMs);
  }
}

/** Returns whether a request that arrives now on the connection has to wait for those before it. */
function mustQueue({ waiting, keptBytes }: Connection): boolean {
  return waiting.length > 0 || keptBytes > KEPT_BYTES_MAX;
}

function stayPaused(this: Socket): void {
  this.pause();
}
