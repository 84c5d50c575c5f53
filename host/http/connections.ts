// Connections owns the open sockets: which requests each has under way, when a broken one may be
// told so, and closing them. It knows nothing of what is asked or answered.
//
// Invariants:
// - A socket whose bytes were not HTTP gets its last answer after those of the requests before it.
// - Once closing, a socket without a request under way is closed.
// - No request is taken from a socket after the answer that said it would close.
import type { Socket } from 'node:net';
import type { Answer } from './answers.ts';
import { writeLastAnswer } from './response-writer.ts';

/** A request whose answer is not finished. */
export interface OpenRequest {
  /** Its body is still arriving, and it has no answer yet. */
  readonly isReading: boolean;
  /** Its connection is closed: nobody is left to take its answer. */
  abandon(): void;
}

interface Connection {
  /** In the order of arrival. An array: without pipelining there is one. */
  readonly open: OpenRequest[];
  newest: OpenRequest | undefined;
  lastAnswer: Answer | undefined;
  /** The last answer is given or due: nothing further is taken from the socket. */
  isEnding: boolean;
}

export class Connections {
  readonly #connections = new Map<Socket, Connection>();
  readonly #lingerMs: number;
  #isClosing = false;

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  accept(socket: Socket): void {
    if (this.#isClosing) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      open: [],
      newest: undefined,
      lastAnswer: undefined,
      isEnding: false,
    };
    this.#connections.set(socket, connection);
    // Node tells a response that waits for its turn, but not behind a CONNECT that it closes upon.
    socket.once('close', () => {
      this.#connections.delete(socket);
      for (const request of connection.open) request.abandon();
    });
  }

  /** A request's headers have arrived. False when it comes too late to be answered. */
  begin(socket: Socket, request: OpenRequest): boolean {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.isEnding) return false;
    connection.open.push(request);
    connection.newest = request;
    return true;
  }

  /** The answer that is being given says that the connection closes. */
  markEnding(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection !== undefined) connection.isEnding = true;
  }

  /** A request's answer is finished, or nobody is left to take it. */
  end(socket: Socket, request: OpenRequest): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const at = connection.open.indexOf(request);
    if (at !== -1) connection.open.splice(at, 1);
    this.#sayLast(socket, connection);
    if (this.#isClosing && connection.open.length === 0) socket.destroySoon();
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

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #sayLast(socket: Socket, connection: Connection): void {
    const { lastAnswer } = connection;
    if (lastAnswer === undefined) return;
    for (const request of connection.open) if (!request.isReading) return;
    connection.lastAnswer = undefined;
    if (socket.writable) writeLastAnswer(socket, lastAnswer, this.#lingerMs);
    else socket.destroy();
  }
}
