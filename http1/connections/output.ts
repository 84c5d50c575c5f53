// The bytes that a connection writes. All bytes of a turn of the event loop leave in one write: a small message
// costs one system call, and so do the answers to several pipelined requests.
//
// Invariants:
// - Bytes leave in the order in which they were put.
// - After `put` returned false, `onDrain` is called once the socket has taken everything.
import type { ByteSocket } from './socket-end.ts';

/** Buffers that together have at most this many bytes are copied into one; larger ones are written as they are. */
const JOINED_BYTES_MAX = 16 * 1024;
/** Bytes that are written at once, without waiting for the end of the turn. */
const TURN_BYTES_MAX = 64 * 1024;
/** Bytes of one write. Progress of a slow reader is seen in steps of this size. */
const WRITE_BYTES_MAX = 64 * 1024;

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
  #isEnded = false;

  constructor(socket: ByteSocket) {
    this.#socket = socket;
    socket.on('drain', () => {
      this.#isBlocked = false;
      this.onDrain?.();
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

  /** Gives the socket everything that was put. */
  flush(): void {
    this.#isScheduled = false;
    const pending = this.#pending;
    if (pending.length === 0) return;
    const bytes = this.#pendingBytes;
    this.#pending = [];
    this.#pendingBytes = 0;
    const socket = this.#socket;
    if (!socket.writable || this.#isEnded) return;
    this.#writtenBytes += bytes;
    if (pending.length === 1) this.#write(pending[0]!);
    else if (bytes <= JOINED_BYTES_MAX) this.#write(Buffer.concat(pending, bytes));
    else {
      socket.cork();
      for (const each of pending) this.#write(each);
      socket.uncork();
    }
    const wasBlocked = this.#isBlocked;
    this.#isBlocked = socket.writableNeedDrain;
    this.onFlush?.();
    if (wasBlocked && !this.#isBlocked) this.onDrain?.();
  }

  /** Writes everything, and ends this side of the connection. */
  end(): void {
    this.flush();
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket.end();
  }

  #write(bytes: Buffer): void {
    if (bytes.length <= WRITE_BYTES_MAX) this.#socket.write(bytes);
    else
      for (let at = 0; at < bytes.length; at += WRITE_BYTES_MAX)
        this.#socket.write(bytes.subarray(at, at + WRITE_BYTES_MAX));
  }
}
