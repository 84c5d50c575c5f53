// MessageConnection exchanges messages with another node over a socket, and ends when the other side is silent, reads nothing,
// sends what is no message, or lets too much wait.
//
// Heartbeats: once a second each side sends the number of bytes that it has received. So a connection that leads nowhere is noticed
// in either direction, and so is a side that receives and does not read.
//
// Invariants
// - `ended` is called once, after the last message, and never within a call of `send`.
// - After the end nothing is passed on and nothing is sent.
// - Memory for the other side is bounded, whatever it does: by MESSAGE_BYTES_MAX for what arrives, by RemotingBounds for what
//   waits, and by those for all connections together.
import type { Socket } from 'node:net';
import { decodeList, encodeList, type Scalar } from './flat-list.ts';
import { MessageReader } from './message-reader.ts';
import { RefusedMessage } from './refused-message.ts';
import type { RemotingBytes } from './remoting-bytes.ts';
import {
  HEARTBEAT_MS,
  HELLO_BYTES_MAX,
  MESSAGE_BYTES_MAX,
  MESSAGE_MS_MAX,
  MESSAGE_VALUES_MAX,
  SILENCE_MS_MAX,
  UNREAD_MS_MAX,
} from './remoting-limits.ts';

export interface MessageConnectionOptions {
  readonly socket: Socket;
  readonly bytes: RemotingBytes;
  /** Receives each message. It may throw RefusedMessage, which ends the connection. */
  readonly received: (values: Scalar[]) => void;
  /** Called when the connection has ended. */
  readonly ended: (end: ConnectionEnd) => void;
}

export interface ConnectionEnd {
  /** The rest of a sentence that begins with "the other side". */
  readonly problem: string;
  /** Whether this side has ended the connection because of something that the other side did, or did not do. */
  readonly isRefusal: boolean;
}

export class MessageConnection {
  readonly #options: MessageConnectionOptions;
  readonly #reader: MessageReader;
  #end: ConnectionEnd | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #lastBeatMs = 0;
  #receivedBytes = 0;
  #receivedAtMs = 0;
  /** Number of bytes that the other side has received, and when that number was another one last. */
  #readBytes = 0;
  #readAtMs = 0;
  /** When the incomplete message began to arrive; undefined: none is incomplete. */
  #incompleteSinceMs: number | undefined;
  /** The part of this connection in the counts of all connections. */
  #queued = 0;
  #arriving = 0;

  constructor(options: MessageConnectionOptions) {
    this.#options = options;
    this.#reader = new MessageReader(HELLO_BYTES_MAX, (bytes, start, end) =>
      this.#message(decodeList(bytes, start, end, MESSAGE_VALUES_MAX)),
    );
    const { socket } = options;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('drain', () => this.#countQueued());
    // A side that ends its half has nothing to say any more, and is gone.
    socket.on('end', () => this.#destroy('ended the connection', false));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#destroy(`cannot be reached (${error.code ?? error.message})`, false),
    );
    socket.on('close', () => this.#closed());
  }

  /** Allows messages of the full size, and begins to send heartbeats: the handshake is done. */
  establish(): void {
    if (this.#end !== undefined) return;
    this.#reader.allow(MESSAGE_BYTES_MAX);
    const nowMs = performance.now();
    this.#lastBeatMs = this.#receivedAtMs = this.#readAtMs = nowMs;
    this.#heartbeat = setInterval(() => this.#beat(performance.now()), HEARTBEAT_MS).unref();
  }

  /** Bytes that wait to be sent. */
  get queuedBytes(): number {
    return this.#queued;
  }

  send(values: readonly Scalar[]): void {
    if (this.#end !== undefined) return;
    this.#options.socket.write(encodeList(values));
    this.#countQueued();
    if (this.#options.bytes.mayNotQueue(this.#queued))
      this.refuse(`lets ${this.#queued} bytes wait`);
  }

  /** Sends a last message, and ends the connection. `problem`: the rest of a sentence that begins with "the other side". */
  refuseWith(values: readonly Scalar[], problem: string): void {
    if (this.#end !== undefined) return;
    const { socket } = this.#options;
    socket.write(encodeList(values));
    this.#finish({ problem, isRefusal: true });
    socket.destroySoon();
  }

  /** Ends the connection at once. `problem`: the rest of a sentence that begins with "the other side". */
  refuse(problem: string): void {
    this.#destroy(problem, true);
  }

  /** Ends the connection at once. */
  close(): void {
    this.#destroy('is needed no more', false);
  }

  #destroy(problem: string, isRefusal: boolean): void {
    if (this.#end !== undefined) return;
    this.#finish({ problem, isRefusal });
    this.#options.socket.destroy();
  }

  #finish(end: ConnectionEnd): void {
    this.#end = end;
    clearInterval(this.#heartbeat);
    this.#reader.stop();
    this.#countArriving();
  }

  #closed(): void {
    this.#destroy('ended the connection', false);
    this.#options.bytes.queued -= this.#queued;
    this.#queued = 0;
    this.#options.ended(this.#end!);
  }

  #read(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    this.#receivedAtMs = performance.now();
    try {
      this.#reader.read(chunk);
    } catch (error) {
      if (!(error instanceof RefusedMessage)) throw error;
      this.refuse(error.message);
      return;
    }
    if (this.#reader.isIncomplete) this.#incompleteSinceMs ??= this.#receivedAtMs;
    this.#countArriving();
    if (this.#options.bytes.mayNotReceive(this.#arriving))
      this.refuse('sends a large message while many others arrive');
  }

  #message(values: Scalar[]): void {
    this.#incompleteSinceMs = undefined;
    if (values.length === 1) this.#otherHas(values[0]!);
    else this.#options.received(values);
  }

  /** Reads the heartbeat of the other side. */
  #otherHas(bytes: Scalar): void {
    if (typeof bytes !== 'number') throw new RefusedMessage('sent a heartbeat that is none');
    if (bytes === this.#readBytes) return;
    this.#readBytes = bytes;
    this.#readAtMs = this.#receivedAtMs;
  }

  #beat(nowMs: number): void {
    const isLate = nowMs - this.#lastBeatMs > 2 * HEARTBEAT_MS;
    this.#lastBeatMs = nowMs;
    // This thread was busy, so that what has arrived meanwhile is not read yet.
    if (isLate) this.#receivedAtMs = nowMs;
    const incompleteMs = nowMs - (this.#incompleteSinceMs ?? nowMs);
    if (nowMs - this.#receivedAtMs > SILENCE_MS_MAX) this.refuse('is silent');
    else if (incompleteMs >= MESSAGE_MS_MAX) this.refuse('does not finish a message');
    else if (nowMs - this.#readAtMs > UNREAD_MS_MAX) this.refuse('reads nothing');
    else this.send([this.#receivedBytes]);
  }

  #countQueued(): void {
    const queued = this.#options.socket.writableLength;
    this.#options.bytes.queued += queued - this.#queued;
    this.#queued = queued;
  }

  #countArriving(): void {
    const arriving = this.#reader.heldBytes;
    this.#options.bytes.arriving += arriving - this.#arriving;
    this.#arriving = arriving;
  }
}
