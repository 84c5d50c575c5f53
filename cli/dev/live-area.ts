// LiveArea: the last lines of a terminal, which are redrawn in place; printed lines appear above them. If the output
// is not a terminal, lines are written one after the other and nothing is redrawn.
import { stripVTControlCharacters } from 'node:util';

/** The members of a stream that LiveArea uses. */
export interface AreaStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

export class LiveArea {
  readonly #stream: AreaStream;
  /** Lines that are currently displayed. */
  #shown: readonly string[] = [];

  constructor(stream: AreaStream) {
    this.#stream = stream;
  }

  /** Prints lines above the area. */
  print(lines: readonly string[]): void {
    this.#redraw(lines, this.#shown);
  }

  /** Replaces the displayed lines. `passing`: the lines are omitted if the output is not a terminal. */
  show(lines: readonly string[], passing = false): void {
    if (this.#stream.isTTY === true) return this.#redraw([], lines);
    if (passing) return undefined;
    // Without a terminal, only blank lines and lines that have changed are written.
    this.#write(lines.filter((line) => line === '' || !this.#shown.includes(line)));
    this.#shown = lines;
    return undefined;
  }

  /** Leaves the displayed lines where they are, and starts an empty area. */
  leave(): void {
    this.#shown = [];
  }

  #redraw(above: readonly string[], live: readonly string[]): void {
    if (this.#stream.isTTY !== true) return this.#write(above);
    const rows = Math.min(this.#rowsOf(this.#shown), (this.#stream.rows ?? 24) - 1);
    const erase = rows === 0 ? '' : `\u001b[${rows}A\u001b[0J`;
    this.#shown = live;
    this.#stream.write(`${erase}${[...above, ...live].map((line) => `${line}\n`).join('')}`);
  }

  #write(lines: readonly string[]): void {
    if (lines.length > 0) this.#stream.write(lines.map((line) => `${line}\n`).join(''));
  }

  #rowsOf(lines: readonly string[]): number {
    const columns = Math.max(1, this.#stream.columns ?? 80);
    return lines
      .flatMap((line) => line.split('\n'))
      .reduce(
        (sum, line) =>
          sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
        0,
      );
  }
}
