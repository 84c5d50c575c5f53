// OutputLines: the lines of a process's output. Invariants: a line has at most LINE_UNITS_MAX characters, longer ones
// are reported in several parts, and no more than one part is held in memory.
import { StringDecoder } from 'node:string_decoder';

/** Maximum length of a line, in UTF-16 code units. */
export const LINE_UNITS_MAX = 8_192;

export class OutputLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string) => void;
  /** The beginning of a line whose end has not arrived. */
  #begun = '';

  /** `onLine` receives lines without their ends. */
  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(bytes: Buffer): void {
    this.#take(this.#decoder.write(bytes));
  }

  /** Reports a last line that has no end. */
  end(): void {
    this.#take(this.#decoder.end());
    if (this.#begun !== '') this.#onLine(this.#begun);
    this.#begun = '';
  }

  #take(text: string): void {
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      this.#append(text.slice(from, at));
      this.#onLine(this.#begun.endsWith('\r') ? this.#begun.slice(0, -1) : this.#begun);
      this.#begun = '';
      from = at + 1;
    }
    this.#append(text.slice(from));
  }

  #append(text: string): void {
    this.#begun += text;
    while (this.#begun.length > LINE_UNITS_MAX) {
      // A pair of surrogates is one character.
      const isPair = /[\ud800-\udbff]/.test(this.#begun[LINE_UNITS_MAX - 1]!);
      const end = isPair ? LINE_UNITS_MAX - 1 : LINE_UNITS_MAX;
      this.#onLine(this.#begun.slice(0, end));
      this.#begun = this.#begun.slice(end);
    }
  }
}
