// The bytes that a connection writes. All bytes of a turn of the event loop leave in one write: a small message
// costs one system call, and so do the answers to several pipelined requests. The connections of a thread write one after
// the other, at the end of the turn: most of the cost of a write is to wake the process at the other end, and most writes
// that follow another directly find it awake.
//
// Invariants:
// - Bytes leave in the order in which they were put.
// - After `put` returned false, `onDrain` is called once the socket has taken everything.
// - Small pieces that wait for the socket cost about as much memory in a thousand pieces as in one.
import type { ByteSocket } from './socket-end.ts';

/** Bytes to write. A text is latin1: a byte for each character. */
export type Bytes = Buffer | string;

/** Pieces that together have at most this many bytes are copied into one; larger ones are written as they are. */
const JOINED_BYTES_MAX = 16 * 1024;
/** As many small pieces, one after the other, are copied into one while they wait. */
const SMALL_PIECES_MAX = 256;
const SMALL_BYTES_MAX = 1024;
/** Bytes that are written without waiting for the end of the turn. */
const TURN_BYTES_MAX = 64 * 1024;
/** A larger buffer is written in parts. */
const PART_BYTES_MAX = 128 * 1024;

/** Outputs that write at the end of this turn. */
let scheduled: Output[] = [];

function flushAll(): void {
  const outputs = scheduled;
  scheduled = [];
  for (const output of outputs) output.flush();
}

export class Output {
  readonly #socket: ByteSocket;
  readonly #onDrain: () => void;
  readonly #onFlush: (() => void) | undefined;
  /** Called when a write of a socket of TLS is done, which it never is at once; undefined: another socket. */
  readonly #onWritten: (() => void) | undefined;
  #pending: Bytes[] = [];
  #pendingBytes = 0;
  /** Number of small pieces at the end of those that are pending. */
  #smallPieces = 0;
  #writtenBytes = 0;
  #whenTaken: (() => void)[] = [];
  #isScheduled = false;
  #isBlocked = false;
  #isEnding = false;

  /**
   * `onDrain`: called after `put` has returned false and the socket has taken all bytes. `onFlush`: called when bytes were given
   * to the socket.
   */
  constructor(socket: ByteSocket, onDrain: () => void, onFlush?: () => void) {
    this.#socket = socket;
    this.#onDrain = onDrain;
    this.#onFlush = onFlush;
    this.#onWritten = 'encrypted' in socket ? () => this.#noteTaken() : undefined;
    socket.on('drain', () => {
      if (this.#pendingBytes > 0) this.flush();
      else this.#unblock();
      this.#noteTaken();
    });
    socket.on('close', () => this.#callWhenTaken());
  }

  /** Bytes that were put and that the socket has not taken. */
  get waitingBytes(): number {
    return this.#pendingBytes + this.#socket.writableLength;
  }

  /** Bytes that the socket has taken since the connection began. */
  get takenBytes(): number {
    return this.#writtenBytes - this.#socket.writableLength;
  }

  /** Bytes that have left, as far as the connection knows: a socket that takes bytes reports it later with TLS. */
  get sentBytes(): number {
    return this.#isBlocked ? this.takenBytes : this.#writtenBytes;
  }

  /** Whether bytes were put that have not been given to the socket yet. */
  get isPending(): boolean {
    return this.#pendingBytes > 0;
  }

  /** Whether whoever puts bytes should wait for `onDrain`. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /**
   * Writes bytes at the end of this turn, after the event loop has read what other sockets received. `isDeferred`: not before,
   * however many they are, so that a peer's answer is seen before a write to a peer that has gone fails. Returns false if
   * the caller should wait for `onDrain`.
   */
  put(bytes: Bytes, isDeferred = false): boolean {
    if (bytes.length === 0) return !this.#isBlocked;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#smallPieces = bytes.length <= SMALL_BYTES_MAX ? this.#smallPieces + 1 : 0;
    if (this.#smallPieces >= SMALL_PIECES_MAX) this.#joinSmallPieces();
    if (this.#pendingBytes >= TURN_BYTES_MAX && !isDeferred) this.flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      scheduled.push(this);
      if (scheduled.length === 1) setImmediate(flushAll);
    }
    if (this.#pendingBytes >= TURN_BYTES_MAX) this.#isBlocked = true;
    return !this.#isBlocked;
  }

  /** Calls back once, when the socket has taken all bytes that were put, or is closed. */
  whenTaken(callback: () => void): void {
    this.#whenTaken.push(callback);
    if (!this.#isScheduled) this.#noteTaken();
  }

  /** Gives the socket as much as it takes, in portions: what it has taken is known only for whole ones. */
  flush(): void {
    this.#isScheduled = false;
    this.#smallPieces = 0;
    const socket = this.#socket;
    if (!socket.writable) {
      this.#pending = [];
      this.#pendingBytes = 0;
      return;
    }
    const writtenBytes = this.#writtenBytes;
    while (this.#pendingBytes > 0 && !socket.writableNeedDrain) this.#write(this.#portion());
    if (this.#writtenBytes > writtenBytes) this.#onFlush?.();
    if (this.#pendingBytes > 0 || socket.writableNeedDrain) this.#isBlocked = true;
    else if (this.#isBlocked) this.#unblock();
    this.#endIfWritten();
    this.#noteTaken();
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
    this.#onDrain();
  }

  #noteTaken(): void {
    if (this.#whenTaken.length === 0) return;
    const socket = this.#socket;
    if (socket.destroyed || this.waitingBytes === 0) this.#callWhenTaken();
    // Otherwise this is called again: by the next flush, when a write of TLS is done, or when the socket is drained.
    else if (this.#pendingBytes === 0 && this.#onWritten === undefined && !socket.writableNeedDrain)
      // What the socket has not taken is too little for a drain event.
      socket.write('', () => this.#noteTaken());
  }

  #callWhenTaken(): void {
    const callbacks = this.#whenTaken;
    if (callbacks.length === 0) return;
    this.#whenTaken = [];
    for (const callback of callbacks) callback();
  }

  #joinSmallPieces(): void {
    const pieces = this.#pending.splice(-this.#smallPieces);
    let bytes = 0;
    for (const piece of pieces) bytes += piece.length;
    this.#pending.push(joinedBuffer(pieces, bytes));
    this.#smallPieces = 0;
  }

  /** Removes the next pieces, about as many bytes as a turn writes at once. */
  #portion(): Bytes[] {
    const pending = this.#pending;
    if (this.#pendingBytes <= PART_BYTES_MAX) {
      this.#pending = [];
      return pending;
    }
    const portion: Bytes[] = [];
    for (let bytes = 0; bytes < TURN_BYTES_MAX && pending.length > 0;) {
      const first = pending[0]!;
      const isLarge = typeof first !== 'string' && first.length > PART_BYTES_MAX;
      const part = isLarge ? first.subarray(0, TURN_BYTES_MAX) : first;
      if (isLarge) pending[0] = first.subarray(part.length);
      else pending.shift();
      portion.push(part);
      bytes += part.length;
    }
    return portion;
  }

  #write(portion: readonly Bytes[]): void {
    const socket = this.#socket;
    let bytes = 0;
    for (const piece of portion) bytes += piece.length;
    this.#pendingBytes -= bytes;
    this.#writtenBytes += bytes;
    if (portion.length === 1) this.#writePiece(portion[0]!);
    else if (bytes <= JOINED_BYTES_MAX) this.#writePiece(joined(portion, bytes));
    else {
      socket.cork();
      for (const piece of portion) this.#writePiece(piece);
      socket.uncork();
    }
  }

  #writePiece(piece: Bytes): void {
    if (typeof piece === 'string') this.#socket.write(piece, 'latin1', this.#onWritten);
    else this.#socket.write(piece, this.#onWritten);
  }
}

/** Joins pieces: texts to a text, which the socket encodes as it writes it, and others to a buffer. */
function joined(portion: readonly Bytes[], bytes: number): Bytes {
  return joinedText(portion) ?? joinedBuffer(portion, bytes);
}

function joinedBuffer(portion: readonly Bytes[], bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const piece of portion)
    at += typeof piece === 'string' ? buffer.write(piece, at, 'latin1') : piece.copy(buffer, at);
  return buffer;
}

/** Joins texts; undefined if one of the pieces is none. */
function joinedText(portion: readonly Bytes[]): string | undefined {
  let text = '';
  for (const piece of portion) {
    if (typeof piece !== 'string') return undefined;
    text += piece;
  }
  return text;
}
