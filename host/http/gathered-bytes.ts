// GatheredBytes: bytes that come in pieces, in one buffer that grows. A list of the pieces would take a hundred bytes for
// each beside its own, and whoever sends them decides how small they are.

const NONE = Buffer.alloc(0);

export class GatheredBytes {
  readonly #bytesMax: number;
  #buffer: Buffer = NONE;
  #length = 0;

  /** `bytesMax`: no more than this come. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What they take in memory once the piece is added. */
  bytesWith(piece: Buffer): number {
    const needed = this.#length + piece.length;
    if (this.#length === 0 || needed <= this.#buffer.length)
      return Math.max(needed, this.#buffer.length);
    return Math.min(needed * 2, Math.max(this.#bytesMax, needed));
  }

  add(piece: Buffer): void {
    const bytes = this.bytesWith(piece);
    // One that comes alone stays where it is.
    if (this.#length === 0) this.#buffer = piece;
    else {
      if (bytes > this.#buffer.length) this.#grow(bytes);
      piece.copy(this.#buffer, this.#length);
    }
    this.#length += piece.length;
  }

  get whole(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(bytes);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
