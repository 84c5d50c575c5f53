// LastWords: the line of a program's output that says best why the program has ended: its last one, or the error before what Node
// writes after it.

/** Line that Node writes last when an error ends it. */
const NODE_ENDING = /^Node\.js v\d+\.\d+\.\d+$/;
/** Line with the error, above its stack. */
const ERROR = /^(?:Uncaught )?[A-Za-z.]*(?:Error|Exception)\b/;

export class LastWords {
  #last: string | undefined;
  #error: string | undefined;

  /** Takes the next line of the output. */
  take(line: string): void {
    const text = line.trim();
    if (text === '') return;
    if (NODE_ENDING.test(text)) {
      this.#last = this.#error ?? this.#last;
      this.#error = undefined;
      return;
    }
    if (ERROR.test(text)) this.#error = text;
    this.#last = text;
  }

  /** Undefined if there was no line with text. */
  get line(): string | undefined {
    return this.#last;
  }
}
