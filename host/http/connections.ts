// Connections owns the open sockets: which requests each has under way, when a broken one may be
// told so, how long one may be idle, and closing them. It knows nothing of what is asked or answered.
//
// Time is looked after in sweeps over all of them: a timer for each, set anew with every request and every
// answer, would be a part of what a short request costs.
//
// Requests that are pipelined wait while the connection keeps more than a little for its caller, and nothing further is read
// from it meanwhile: a caller that reads no response gets no further one made.
//
// Invariants:
// - A socket whose bytes were not HTTP gets its last answer after those of the requests before it, which are served.
// - Once closing, a socket without a request under way is closed.
// - No request is taken from a socket after the answer that said it would close.
// - An idle socket is closed after its time, and one whose other end takes nothing of an answer, or too little, too.
import type { Socket } from 'node:net';
import type { ByteBudget } from '../model/byte-budget.ts';
import type { KeptTogether } from '../model/kept-bytes.ts';
import { type Answer, overloadedAnswer } from './answers.ts';
import type { ConnectionTimes } from './http-settings.ts';
import { NO_PRESSURE, nextPressure, ResponseRate } from './response-rate.ts';
import { writeLastAnswer } from './response-writer.ts';

/** A request whose answer is not finished. */
export interface OpenRequest {
  /** Its body is still arriving, and it has no answer yet. */
  readonly isReading: boolean;
  /** Its connection is closed: nobody is left to take its answer. */
  abandon(): void;
  /** The request had to wait for those before it, and is served now. */
  serve(): void;
}

/** What a request knows of its connection. */
export interface Connection extends KeptTogether {
  readonly socket: Socket;
  /** In the order of arrival. An array: without pipelining there is one. */
  readonly open: OpenRequest[];
  newest: OpenRequest | undefined;
  /** Of the open ones, those that are not served yet, in the order of arrival. */
  readonly waiting: OpenRequest[];
  /** Requests that came too late to be answered, and are in memory until the socket is closed. */
  ignored: number;
  readonly rate: ResponseRate;
  lastAnswer: Answer | undefined;
  /** The last answer is given or due: nothing further is taken from the socket. */
  isEnding: boolean;
  /** Since its last answer was finished. */
  idleSweeps: number;
}

const SWEEPS_PER_TIME = 4;
const SWEEP_MS_MAX = 5000;
/** What a connection may keep for its caller while its next request is served, in bytes. */
const KEPT_BYTES_MAX = 64 * 1024;
/** Pipelined requests of all connections that wait; a connection that brings a further one is broken off. */
const WAITING_MAX = 1_000;
/** Requests of all connections that came too late; one that brings more is cut. */
const IGNORED_MAX = 10_000;

export class Connections {
  /** The header of that name for an answer after which the connection stays open. */
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

  /** `unsent`: what all connections keep for their callers. */
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
    // Node tells a response that waits for its turn, but not behind a CONNECT that it closes upon.
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#ignored -= connection.ignored;
      this.#dropWaiting(connection);
      if (this.#connections.size === 0) this.#stopSweeping();
      for (const request of connection.open) request.abandon();
    });
  }

  /** Undefined: the socket is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#connections.get(socket);
  }

  /**
   * A request's headers have arrived. False when it comes too late to be answered. `isFull`: the server has as many
   * requests in flight as it may; one that comes behind another is not taken then, unless it has to wait.
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

  /** Whether a request that has begun has to wait for those before it; `serve` is called once it has not. */
  mustWait(connection: Connection, request: OpenRequest): boolean {
    if (!mustQueue(connection)) return false;
    const { waiting, socket } = connection;
    // Node pauses a connection, too, for other reasons, and resumes it by itself.
    if (waiting.length === 0) socket.pause().on('resume', stayPaused);
    waiting.push(request);
    this.#waiting += 1;
    return true;
  }

  /**
   * A request of the connection is done: serves those that wait, as far as they may. `isFull`: whether the server has as
   * many requests in flight as it may. Then they wait on for the next to be done, if there is one before them.
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

  /** The answer that is being given says that the connection closes: those that wait behind it get none. */
  markEnding(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.isEnding = true;
    this.#dropWaiting(connection);
  }

  /** A request's answer is finished, or nobody is left to take it. */
  end(socket: Socket, request: OpenRequest): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { open } = connection;
    if (open[0] === request) open.shift();
    else if (open.includes(request)) open.splice(open.indexOf(request), 1);
    connection.idleSweeps = 0;
    if (connection.lastAnswer !== undefined) this.#sayLast(socket, connection);
    if (this.#isClosing && open.length === 0) socket.destroySoon();
  }

  /** Whether no later request has arrived on the socket: only such a one's answer may close it. */
  isNewest(socket: Socket, request: OpenRequest): boolean {
    return this.#connections.get(socket)?.newest === request;
  }

  /** What arrives on the socket is not HTTP: no further request of it can be understood. */
  breakOff(socket: Socket, answer: Answer): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.isEnding) return;
    connection.isEnding = true;
    connection.lastAnswer = answer;
    this.#sayLast(socket, connection);
  }

  /** Closes what has no request under way, now and as the requests end. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, connection] of this.#connections)
      if (connection.open.length === 0) socket.destroy();
  }

  /** Cuts every connection. Says whether a request was under way, whose answer may be leaving. */
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
      // With bytes that wait, the socket's own timer sees whether any of them leave.
      const isWriting = socket.writableLength > 0;
      const isTimed = (socket.timeout ?? 0) > 0;
      if (isWriting !== isTimed) socket.setTimeout(isWriting ? stallMs : 0);
      const writingMs = isWriting ? this.#sweepMs : 0;
      if (connection.rate.isTooLow(writingMs, this.#pressure)) socket.destroy();
      // Before its first request, the time for its headers runs.
      if (connection.open.length > 0 || connection.newest === undefined) continue;
      connection.idleSweeps += 1;
      if ((connection.idleSweeps - 1) * this.#sweepMs >= idleMs) socket.destroy();
    }
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #sayLast(socket: Socket, connection: Connection): void {
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

/** Whether its next request has to wait. */
function mustQueue({ waiting, keptBytes }: Connection): boolean {
  return waiting.length > 0 || keptBytes > KEPT_BYTES_MAX;
}

function stayPaused(this: Socket): void {
  this.pause();
}
