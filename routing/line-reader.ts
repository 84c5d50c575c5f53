// LineReader: lines of a stream, of which none is longer than a bound.

const LINE_FEED = 0x0a;

export class LineReader {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the lines that end in the chunk, without their line feeds; undefined if a line is too long. */
  push(chunk: Buffer): readonly string[] | undefined {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      this.#bytes += piece.length;
      if (this.#bytes > this.#bytesMax) return undefined;
      if (piece.length > 0) this.#pieces.push(piece);
      if (end === -1) return lines;
      lines.push(Buffer.concat(this.#pieces).toString());
      this.#pieces = [];
      this.#bytes = 0;
      start = end + 1;
    }
  }
}
