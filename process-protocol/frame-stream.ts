// FrameStream sends the frames of one side of a stream. Frames that are sent in one turn of the event loop leave together, and frames
// wait while the other side has not credited what it was sent, and while the connection does not take more.
//
// Invariants
// S1  Frames leave in the order in which they were sent. Control frames (ping, pong, credit) leave before others that wait.
// S2  No more than the window of the receiver is in flight, but for one message that was sent while less than half of it was. A receiver
//     credits each quarter of its window, so a message of any size leaves at last.
// S3  Nothing is written after the connection said that it is full, until it has drained.
import { headLength, MESSAGE_BYTES_MAX, messageOf } from './protocol.ts';

/** The writing side of a gRPC stream. */
export interface FrameSink {
  /** Returns false if nothing more is to be written before `drain`. */
  write(message: Buffer): boolean;
  once(event: 'drain', listener: () => void): unknown;
}

export interface FrameStreamOptions {
  readonly sink: FrameSink;
  /** Returns the encoded frame that credits bytes. */
  readonly creditFrame: (bytes: number) => Uint8Array;
  /** Bytes that this side has asked the other one not to exceed. */
  readonly ownWindowBytes: number;
  /** Bytes that the other side takes at once. Until it has said so: enough for the handshake. */
  readonly windowBytes: number;
}

/** The part of this side's window after which it is credited. */
const CREDIT_SHARE = 4;
/** The part of the other side's window of which less is to be in flight for a message of any size. */
const ANY_SIZE_SHARE = 2;

/** The most pings or pongs that wait. */
const CONTROLS_MAX = 100;

export class FrameStream {
  readonly #sink: FrameSink;
  readonly #creditFrame: (bytes: number) => Uint8Array;
  readonly #creditAfter: number;
  #windowBytes: number;
  /** Bytes that are sent and not credited. */
  #inFlight = 0;
  #unsent: Uint8Array[] = [];
  /** Index of the first frame that is not sent. */
  #next = 0;
  #unsentBytes = 0;
  #controls: Uint8Array[] = [];
  #uncredited = 0;
  #isFull = false;
  #isScheduled = false;
  #isClosed = false;

  constructor({ sink, creditFrame, ownWindowBytes, windowBytes }: FrameStreamOptions) {
    this.#sink = sink;
    this.#creditFrame = creditFrame;
    this.#creditAfter = ownWindowBytes / CREDIT_SHARE;
    this.#windowBytes = windowBytes;
  }

  /** Bytes of frames that wait. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Sets the window that the other side has named. */
  set windowBytes(bytes: number) {
    this.#windowBytes = bytes;
  }

  /** Sends an encoded frame, at the end of this turn of the event loop or later. */
  send(frame: Uint8Array): void {
    this.#unsent.push(frame);
    this.#unsentBytes += frame.length;
    this.#schedule();
  }

  /** Sends an encoded Ping or Pong, which is not counted. */
  sendControl(frame: Uint8Array): void {
    this.#controls.push(frame);
    // Pings whose sender reads nothing: the latest pongs are enough.
    if (this.#controls.length > CONTROLS_MAX) this.#controls.shift();
    this.#schedule();
  }

  /** Notes that the frames of a message were taken, and credits them in time. */
  taken(bytes: number): void {
    this.#uncredited += bytes;
    if (this.#uncredited >= this.#creditAfter) this.#schedule();
  }

  /** Notes that the other side has credited bytes. */
  credited(bytes: number): void {
    this.#inFlight = Math.max(0, this.#inFlight - bytes);
    this.#schedule();
  }

  /** Drops what waits; nothing is written from now on. */
  close(): void {
    this.#isClosed = true;
    this.#unsent = [];
    this.#next = 0;
    this.#unsentBytes = 0;
    this.#controls = [];
  }

  /** Writes what may be sent, now. */
  flush(): void {
    this.#isScheduled = false;
    this.#flushControls();
    while (!this.#isFull && !this.#isClosed && this.#next < this.#unsent.length) {
      const frames = this.#nextFrames();
      if (frames.length === 0) break;
      const message = messageOf(frames);
      this.#inFlight += message.length;
      this.#write(message);
    }
  }

  #flushControls(): void {
    if (this.#isFull || this.#isClosed) return;
    if (this.#uncredited >= this.#creditAfter) {
      this.#controls.push(this.#creditFrame(this.#uncredited));
      this.#uncredited = 0;
    }
    if (this.#controls.length === 0) return;
    this.#write(messageOf(this.#controls));
    this.#controls = [];
  }

  /** Takes the frames of the next message; none if the window does not admit one. */
  #nextFrames(): readonly Uint8Array[] {
    const left = this.#windowBytes - this.#inFlight;
    const hasRoom = this.#inFlight * ANY_SIZE_SHARE <= this.#windowBytes;
    const from = this.#next;
    let bytes = 0;
    let until = from;
    for (; until < this.#unsent.length; until++) {
      const { length } = this.#unsent[until]!;
      const grown = bytes + length + headLength(length);
      const isFirst = until === from;
      const fitsWindow = grown <= left || (isFirst && hasRoom);
      if (!fitsWindow || (!isFirst && grown > MESSAGE_BYTES_MAX)) break;
      bytes = grown;
      this.#unsentBytes -= length;
    }
    const frames = this.#unsent.slice(from, until);
    this.#next = until;
    if (until * 2 >= this.#unsent.length) {
      this.#unsent = this.#unsent.slice(until);
      this.#next = 0;
    }
    return frames;
  }

  #write(message: Buffer): void {
    if (this.#sink.write(message)) return;
    this.#isFull = true;
    this.#sink.once('drain', () => {
      this.#isFull = false;
      this.flush();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }
}
