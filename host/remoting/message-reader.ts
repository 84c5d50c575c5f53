// MessageReader cuts the bytes of a connection into messages, each with its length of four bytes before it.
//
// Invariants
// - The memory for a message that has not arrived completely is at most twice the bytes of it that have arrived, and
//   FIRST_BYTES: a length alone takes nothing.
// - A message is passed on once, when its last byte has arrived. Its bytes are valid during the call.
import { LENGTH_BYTES } from './flat-list.ts';
import { RefusedMessage } from './refused-message.ts';
import { TLS_DIFFERS } from './remoting-limits.ts';

/** Memory for the beginning of a message, in bytes. */
const FIRST_BYTES = 4_096;
/** The first two bytes of a side that speaks TLS: of an alert, and of a handshake. No length that is allowed begins with them. */
const TLS_BEGINNINGS: ReadonlySet<number> = new Set([0x15_03, 0x16_03]);

/** Receives a message: the bytes from `start` to `end`. */
export type OnMessage = (bytes: Buffer, start: number, end: number) => void;

export class MessageReader {
  readonly #onMessage: OnMessage;
  /** Largest length of a message. */
  #bytesMax: number;
  /** The length of a message, as far as it has arrived. */
  readonly #header = Buffer.alloc(LENGTH_BYTES);
  #headerBytes = 0;
  /** The beginning of a message, after its length; undefined between two messages. */
  #body: Buffer | undefined;
  #length = 0;
  #arrived = 0;
  #isStopped = false;

  constructor(bytesMax: number, onMessage: OnMessage) {
    this.#bytesMax = bytesMax;
    this.#onMessage = onMessage;
  }

  /** Whether a part of a message has arrived. */
  get isIncomplete(): boolean {
    return this.#body !== undefined || this.#headerBytes > 0;
  }

  /** Memory of the incomplete message, in bytes. */
  get heldBytes(): number {
    return this.#body?.length ?? 0;
  }

  /** Sets the largest length of the messages that follow. */
  allow(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** Passes on no message any more. */
  stop(): void {
    this.#isStopped = true;
    this.#body = undefined;
    this.#headerBytes = 0;
  }

  /** Reads the next bytes of the connection. Throws RefusedMessage for a length that is not allowed. */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#isStopped) {
      if (this.#body !== undefined) at += this.#continueBody(chunk, at);
      else if (this.#headerBytes === 0 && chunk.length - at >= LENGTH_BYTES) {
        const length = this.#allowed(chunk.readUInt32BE(at));
        at += LENGTH_BYTES;
        if (chunk.length - at < length) this.#beginBody(length);
        else {
          this.#onMessage(chunk, at, at + length);
          at += length;
        }
      } else {
        this.#header[this.#headerBytes++] = chunk[at++]!;
        if (this.#headerBytes < LENGTH_BYTES) continue;
        this.#headerBytes = 0;
        const length = this.#allowed(this.#header.readUInt32BE(0));
        if (length === 0) this.#onMessage(chunk, at, at);
        else this.#beginBody(length);
      }
    }
  }

  #allowed(length: number): number {
    if (length <= this.#bytesMax) return length;
    throw new RefusedMessage(
      TLS_BEGINNINGS.has(length >>> 16)
        ? `speaks TLS, and this node does not: ${TLS_DIFFERS}`
        : `sent a message of ${length} bytes, and ${this.#bytesMax} are the most`,
    );
  }

  #beginBody(length: number): void {
    this.#length = length;
    this.#arrived = 0;
    this.#body = Buffer.allocUnsafe(Math.min(length, FIRST_BYTES));
  }

  /** Returns the number of bytes of the chunk that belong to the message. */
  #continueBody(chunk: Buffer, at: number): number {
    const length = this.#length;
    const taken = Math.min(chunk.length - at, length - this.#arrived);
    const arrived = this.#arrived + taken;
    let body = this.#body!;
    if (arrived > body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(length, 2 * arrived));
      body.copy(larger, 0, 0, this.#arrived);
      this.#body = body = larger;
    }
    chunk.copy(body, this.#arrived, at, at + taken);
    this.#arrived = arrived;
    if (arrived === length) {
      this.#body = undefined;
      this.#onMessage(body, 0, length);
    }
    return taken;
  }
}
