// The bytes that a connection writes. All bytes of a turn of the event loop leave in one write: a small message
// costs one system call, and so do the answers to several pipelined requests.
//
// Invariants:
// - Bytes leave in the order in which they were put.
// - After `put` returned false, `onDrain` is called once the socket has taken everything.
import type { ByteSocket } from './socket-end.ts';

/** Buffers that together have at most this many bytes are copied into one; larger ones are written as they are. */
const JOINED_BYTES_MAX = 16 * 1024;
/** Bytes that are written without waiting for the end of the turn. */
const TURN_BYTES_MAX = 64 * 1024;
/** A larger buffer is written in parts. */
const PART_BYTES_MAX = 128 * 1024;

export class Output {
  /** Called after `put` has returned false and the socket has taken all bytes. */
  onDrain: (() => void) | undefined;
  /** Called when bytes were given to the socket. */
  onFlush: (() => void) | undefined;
  readonly #socket: ByteSocket;
  readonly #flush = (): void => this.flush();
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;
  #isScheduled = false;
  #isBlocked = false;
  #isEnding = false;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
    socket.on('drain', () => {
      if (this.#pendingBytes > 0) this.flush();
      else this.#unblock();
    });
  }

  /** Bytes that were put and that the socket has not taken. */
  get waitingBytes(): number {
    return this.#pendingBytes + this.#socket.writableLength;
  }

  /** Bytes that the socket has taken since the connection began. */
  get takenBytes(): number {
    return this.#writtenBytes - this.#socket.writableLength;
  }

  /** Whether bytes were put that have not been given to the socket yet. */
  get isPending(): boolean {
    return this.#pendingBytes > 0;
  }

  /**
   * Writes bytes at the end of this turn. `afterReads`: only after the event loop has read what other sockets received,
   * so that a peer's answer is seen before a write to a peer that has gone fails. Returns false if the caller should wait
   * for `onDrain`.
   */
  put(bytes: Buffer, afterReads = false): boolean {
    if (bytes.length === 0) return !this.#isBlocked;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= TURN_BYTES_MAX && !afterReads) this.flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      if (afterReads) setImmediate(this.#flush);
      else process.nextTick(this.#flush);
    }
    if (this.#pendingBytes >= TURN_BYTES_MAX) this.#isBlocked = true;
    return !this.#isBlocked;
  }

  /** Gives the socket as much as it takes, in portions: what it has taken is known only for whole ones. */
  flush(): void {
    this.#isScheduled = false;
    const socket = this.#socket;
    if (!socket.writable) {
      this.#pending = [];
      this.#pendingBytes = 0;
      return;
    }
    const writtenBytes = this.#writtenBytes;
    while (this.#pendingBytes > 0 && !socket.writableNeedDrain) this.#write(this.#portion());
    if (this.#writtenBytes > writtenBytes) this.onFlush?.();
    if (this.#pendingBytes > 0 || socket.writableNeedDrain) this.#isBlocked = true;
    else if (this.#isBlocked) this.#unblock();
    this.#endIfWritten();
  }

  /** Writes everything, and ends this side of the connection. */
  end(): void {
    this.#isEnding = true;
    this.flush();
    this.#endIfWritten();
  }

  #endIfWritten(): void {
    if (this.#isEnding && this.#pendingBytes === 0 && !this.#socket.writableEnded)
      this.#socket.end();
  }

  #unblock(): void {
    this.#isBlocked = false;
    this.onDrain?.();
  }

  /** Removes the next buffers, about as many bytes as a turn writes at once. */
  #portion(): Buffer[] {
    const pending = this.#pending;
    if (this.#pendingBytes <= PART_BYTES_MAX) {
      this.#pending = [];
      return pending;
    }
    const portion: Buffer[] = [];
    for (let bytes = 0; bytes < TURN_BYTES_MAX && pending.length > 0;) {
      const first = pending[0]!;
      const part = first.length > PART_BYTES_MAX ? first.subarray(0, TURN_BYTES_MAX) : first;
      if (part === first) pending.shift();
      else pending[0] = first.subarray(part.length);
      portion.push(part);
      bytes += part.length;
    }
    return portion;
  }

  #write(portion: readonly Buffer[]): void {
    const socket = this.#socket;
    const bytes = portion.reduce((sum, { length }) => sum + length, 0);
    this.#pendingBytes -= bytes;
    this.#writtenBytes += bytes;
    if (portion.length === 1) socket.write(portion[0]);
    else if (bytes <= JOINED_BYTES_MAX) socket.write(Buffer.concat(portion, bytes));
    else {
      socket.cork();
      for (const each of portion) socket.write(each);
      socket.uncork();
    }
  }
}
