// LiveArea: the last lines of a terminal, which are drawn again in their place; what is printed meanwhile stands above
// them. Where the output is no terminal, lines are written one after the other and nothing is drawn again.
import { stripVTControlCharacters } from 'node:util';

/** What of a stream it needs. */
export interface AreaStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

export class LiveArea {
  readonly #stream: AreaStream;
  /** Lines that stand there now. */
  #shown: readonly string[] = [];

  constructor(stream: AreaStream) {
    this.#stream = stream;
  }

  /** Lines that stay. */
  print(lines: readonly string[]): void {
    this.#redraw(lines, this.#shown);
  }

  /** Takes the place of what was shown. `passing`: it is of no use where nothing is drawn again. */
  show(lines: readonly string[], passing = false): void {
    if (this.#stream.isTTY === true) return this.#redraw([], lines);
    if (passing) return undefined;
    // What still holds was written before.
    this.#write(lines.filter((line) => line === '' || !this.#shown.includes(line)));
    this.#shown = lines;
    return undefined;
  }

  /** What is shown stays. */
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
