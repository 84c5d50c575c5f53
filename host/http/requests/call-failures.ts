// CallFailures: the failed calls and reads of one request. If a handler answers with the result of one of them, the
// caller receives the failure of that call or read, whatever else failed. A handler knows a failure only by its word
// and text. Of two failures with the same word and text the newer one is answered: both have the same status, but the
// error id may differ.
//
// Invariant: at most one failure is kept for each word and text that a module can receive.
import type { Refusal } from '@svc/model/call';
import { type CallFailure, type CallFailureWord, callFailure } from '@svc/model/call-failure';
import { failureCause } from '@svc/model/failure-cause';

const WORDS: ReadonlySet<string | undefined> = new Set<CallFailureWord>([
  'DENIED',
  'UNAVAILABLE',
  'TIMED_OUT',
  'INTERNAL',
]);

export class CallFailures {
  /** The newest failure of each text, under its word. */
  readonly #byText = new Map<CallFailureWord, Map<string, unknown>>();
  #ofRuntime: unknown;

  /**
   * `received`: the failure as the module receives it; undefined: the handler receives none, and fails with the
   * error.
   */
  add(error: unknown, received: CallFailure | undefined): void {
    if (failureCause(error) === 'runtime') this.#ofRuntime = error;
    if (received === undefined) return;
    let ofWord = this.#byText.get(received.word);
    if (ofWord === undefined) this.#byText.set(received.word, (ofWord = new Map()));
    // The text is inserted again, so that the newest failure is the last.
    ofWord.delete(received.text);
    ofWord.set(received.text, error);
  }

  /** The newest failure whose cause is the runtime; undefined: there is none. */
  get ofRuntime(): unknown {
    return this.#ofRuntime;
  }

  has(error: unknown): boolean {
    if (error === this.#ofRuntime) return true;
    return [...this.#byText.values()].some((ofWord) => [...ofWord.values()].includes(error));
  }

  /** Returns the failure that a handler's answer passes on; undefined if the answer is the handler's own. */
  passedOnBy({ code, otherCode, message }: Refusal): unknown {
    if (code !== 'OTHER' || !WORDS.has(otherCode)) return undefined;
    const ofWord = this.#byText.get(otherCode as CallFailureWord);
    if (ofWord === undefined) return undefined;
    const same = ofWord.get(message);
    if (same !== undefined) return same;
    // The handler has written its own text, so the newest failure with this word is answered. `callFailure` is called
    // again because of failed reads, which are stored here as INTERNAL although `callFailure` returns UNAVAILABLE for
    // them: such a failure is answered only if its own text is passed on, since an INTERNAL may also come from a call
    // that was executed and whose reply could not be read.
    return [...ofWord.values()].findLast((failure) => callFailure(failure)?.word === otherCode);
  }
}
