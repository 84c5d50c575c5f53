// CallFailures: how calls and reads of one request have failed, so that a handler that answers with the result
// of one of them is answered by the failure of that one, whatever failed with another text before or after it.
// A handler knows a failure only by its word and text: of two that are told alike the newest answers, which has the
// same status and perhaps another error id.
//
// Invariant: at most one failure is kept for each text that a module can be told.
import type { Refusal } from '../../model/call.ts';
import { type CallFailure, type CallFailureWord, callFailure } from '../../model/call-failure.ts';

const WORDS: ReadonlySet<string | undefined> = new Set<CallFailureWord>([
  'UNAVAILABLE',
  'TIMED_OUT',
  'INTERNAL',
]);

export class CallFailures {
  /** The newest failure of each text, under its word. */
  readonly #byText = new Map<CallFailureWord, Map<string, unknown>>();

  /** `told`: what the module is told of the failure; undefined when it is not told, and ends with it. */
  add(error: unknown, told: CallFailure | undefined): void {
    if (told === undefined) return;
    let ofWord = this.#byText.get(told.word);
    if (ofWord === undefined) this.#byText.set(told.word, (ofWord = new Map()));
    // The newest is the last.
    ofWord.delete(told.text);
    ofWord.set(told.text, error);
  }

  /** The failure that the answer of a handler passes on; undefined when the answer is its own word. */
  passedOnBy({ code, otherCode, message }: Refusal): unknown {
    if (code !== 'OTHER' || !WORDS.has(otherCode)) return undefined;
    const ofWord = this.#byText.get(otherCode as CallFailureWord);
    if (ofWord === undefined) return undefined;
    const same = ofWord.get(message);
    if (same !== undefined) return same;
    // The handler says it in words of its own, and the newest failure of the word answers. `callFailure` is asked
    // again because a read that failed is told, and kept here, as INTERNAL, while `callFailure` says UNAVAILABLE of
    // it: such a failure is answered only when its own text is passed on, since an INTERNAL may also be about a call
    // that was done and whose reply could not be read.
    return [...ofWord.values()].findLast((failure) => callFailure(failure)?.word === otherCode);
  }
}
