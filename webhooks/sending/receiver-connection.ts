// ReceiverConnection: the connection to a receiver as undici reads it. undici counts neither the reason phrase nor the padding of fields for the size
// of a head, nor the framing of chunks for that of a body, and takes a `100 Continue` that nobody asked for as the end of the connection.
//
// Invariants
// - Each head of an answer, informational ones as well, has at most `headBytesMax` bytes as they were sent.
// - After the final head at most `bodyBytesMax` bytes are passed on, the framing of chunks included. Then the connection ends.
// - However small the pieces are in which a head comes, each byte is looked at once.
// - A `100 Continue` is left out. The other informational responses are passed on, and all are counted.
import { Duplex } from 'node:stream';
import { AttemptFailure } from './attempt-error.ts';
import type { SenderLimits } from './sender-limits.ts';

const INFORMATIONAL_MAX = 16;
const STATUS_CONTINUE = 100;
const STATUS_SWITCHING_PROTOCOLS = 101;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const START = 'HTTP/1.';
const STATUS_AT = 9;
const STATUS_END = 12;

export class ReceiverConnection extends Duplex {
  readonly #socket: Duplex;
  readonly #limits: Pick<SenderLimits, 'headBytesMax' | 'bodyBytesMax'>;
  /** True from a request until the final head of its answer. */
  #isInHead = false;
  /** The received part of a head, which is passed on once it is complete. */
  #head: Buffer[] = [];
  /** The first characters of that, up to the end of the status. */
  #start = '';
  #headBytes = 0;
  #lineBytes = 0;
  #bodyBytes = 0;
  #informational = 0;

  /** `socket`: connected. It is read and ended by nobody else from then on. */
  constructor(socket: Duplex, limits: Pick<SenderLimits, 'headBytesMax' | 'bodyBytesMax'>) {
    super();
    this.#socket = socket;
    this.#limits = limits;
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** undici lets a connection without a request not keep the process alive. */
  ref(): this {
    (this.#socket as { ref?: () => void }).ref?.();
    return this;
  }

  unref(): this {
    (this.#socket as { unref?: () => void }).unref?.();
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#begin();
    this.#socket.write(chunk, done);
  }

  /** undici writes head and body of a request at once. */
  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#begin();
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #begin(): void {
    this.#isInHead = true;
    this.#bodyBytes = 0;
    this.#informational = 0;
    this.#beginHead();
  }

  #beginHead(): void {
    this.#head = [];
    this.#start = '';
    this.#headBytes = 0;
    this.#lineBytes = 0;
  }

  #received(chunk: Buffer): void {
    let rest = chunk;
    while (this.#isInHead && rest.length > 0 && !this.destroyed) {
      const end = this.#endOfHead(rest);
      const part = rest.subarray(0, end ?? rest.length);
      rest = rest.subarray(part.length);
      this.#head.push(part);
      this.#start += part.toString('latin1', 0, STATUS_END - this.#start.length);
      this.#headBytes += part.length;
      if (this.#headBytes > this.#limits.headBytesMax) this.#refuse();
      else if (end !== undefined) this.#completeHead();
      else if (!this.#mayBeHttp()) this.#passHead();
    }
    if (rest.length > 0 && !this.destroyed) this.#passBody(rest);
  }

  /** Returns the index behind the empty line that ends a head; undefined: it is not there. */
  #endOfHead(bytes: Buffer): number | undefined {
    for (let at = 0; at < bytes.length; at++)
      if (bytes[at] === LINE_FEED) {
        if (this.#lineBytes === 0) return at + 1;
        this.#lineBytes = 0;
      } else if (bytes[at] !== CARRIAGE_RETURN) this.#lineBytes++;
    return undefined;
  }

  #completeHead(): void {
    const status = Number(this.#start.slice(STATUS_AT, STATUS_END));
    const isFinal = !(status >= STATUS_CONTINUE && status < 200);
    if (!isFinal && ++this.#informational > INFORMATIONAL_MAX) this.#refuse();
    else if (status === STATUS_CONTINUE) this.#beginHead();
    else if (isFinal || status === STATUS_SWITCHING_PROTOCOLS) this.#passHead();
    else {
      this.#pass(Buffer.concat(this.#head));
      this.#beginHead();
    }
  }

  #mayBeHttp(): boolean {
    return START.startsWith(this.#start.slice(0, START.length));
  }

  /** Passes a final head on, or what is none, and lets undici judge. */
  #passHead(): void {
    const head = Buffer.concat(this.#head);
    this.#isInHead = false;
    this.#beginHead();
    this.#pass(head);
  }

  #passBody(bytes: Buffer): void {
    const room = this.#limits.bodyBytesMax - this.#bodyBytes;
    this.#bodyBytes += bytes.length;
    this.#pass(bytes.subarray(0, room));
    if (bytes.length > room) this.#cut();
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0 && !this.push(bytes)) this.#socket.pause();
  }

  #ended(): void {
    if (this.#head.length > 0) this.#passHead();
    this.push(null);
  }

  /** Ends the connection behind what was passed on, from which the result follows. */
  #cut(): void {
    this.#socket.removeAllListeners('data');
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
    this.push(null);
  }

  #refuse(): void {
    this.destroy(new AttemptFailure('protocol'));
  }
}
