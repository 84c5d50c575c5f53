// Two ends of a connection in memory. It splits what is written into pieces of any size, and can break at any byte.
import { Duplex } from 'node:stream';

export class WireEnd extends Duplex {
  other!: WireEnd;
  readonly #pieceBytes: number;
  #bytesLeft: number;

  /** `bytesLeft`: so many bytes pass from this end to the other before both ends break. */
  constructor(pieceBytes: number, bytesLeft: number) {
    super({ allowHalfOpen: true, highWaterMark: 1 << 20 });
    this.#pieceBytes = pieceBytes;
    this.#bytesLeft = bytesLeft;
    this.on('error', () => undefined);
  }

  override _read(): void {
    // What the other end writes is pushed at once.
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    const passed = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= passed.length;
    for (let at = 0; at < passed.length; at += this.#pieceBytes)
      if (!this.other.destroyed)
        this.other.push(Buffer.from(passed.subarray(at, at + this.#pieceBytes)));
    done();
    if (this.#bytesLeft === 0) this.break();
  }

  override _final(done: () => void): void {
    if (!this.other.destroyed) this.other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    done(error);
    if (!this.other.destroyed) setImmediate(() => this.other.destroy(RESET));
  }

  /** Breaks both ends after what has passed was read. */
  break(): void {
    setImmediate(() => this.destroy(RESET));
  }
}

const RESET = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

export interface Wire {
  readonly pieceBytes?: number;
  readonly upBytes?: number;
  readonly downBytes?: number;
}

/** Returns the client's and the server's end. */
export function wire({ pieceBytes = Infinity, upBytes = Infinity, downBytes = Infinity }: Wire): {
  client: WireEnd;
  server: WireEnd;
} {
  const client = new WireEnd(pieceBytes, upBytes);
  const server = new WireEnd(pieceBytes, downBytes);
  client.other = server;
  server.other = client;
  return { client, server };
}
