// GatheredBytes: collects bytes that arrive in pieces in one growing buffer. A list of the pieces would need
// a hundred more bytes for each piece, and the sender decides how small the pieces are.

const NONE = Buffer.alloc(0);

export class GatheredBytes {
  readonly #bytesMax: number;
  #buffer: Buffer = NONE;
  #length = 0;

  /** `bytesMax`: the most bytes that are expected. The buffer grows beyond this size only when more bytes arrive. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the bytes of memory that the buffer takes once the piece is added. */
  bytesWith(piece: Buffer): number {
    const needed = this.#length + piece.length;
    if (this.#length === 0 || needed <= this.#buffer.length)
      return Math.max(needed, this.#buffer.length);
    return Math.min(needed * 2, Math.max(this.#bytesMax, needed));
  }

  add(piece: Buffer): void {
    const bytes = this.bytesWith(piece);
    // A single piece is not copied.
    if (this.#length === 0) this.#buffer = piece;
    else {
      if (bytes > this.#buffer.length) this.#grow(bytes);
      piece.copy(this.#buffer, this.#length);
    }
    this.#length += piece.length;
  }

  /** Adds a copy of a piece, which may be a small part of a buffer that would otherwise stay in memory. */
  addCopy(piece: Buffer): void {
    if (this.#length > 0) return this.add(piece);
    const copy = Buffer.allocUnsafeSlow(piece.length);
    piece.copy(copy);
    this.add(copy);
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
