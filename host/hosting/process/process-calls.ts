// ProcessCalls are the calls of one stream that the process has not answered. Each has a number and a time limit.
//
// Invariants
// C1  Each call is settled once: by its answer, by its time limit, or by the end of the stream.
// C2  An answer whose call is not under way is dropped: it came after its time limit. One of a call that was never made breaks the protocol.
import type { FromProcessFrame } from '@svc/process-protocol/process';
import { ProtocolError } from '@svc/process-protocol/protocol-error';

export type Answer = NonNullable<FromProcessFrame['frame']>;

/** A call under way. */
export interface ProcessCall {
  /** Called once, with the answer or with why there is none. */
  readonly settle: (answer: Answer | CallEnd) => void;
  readonly timeoutMs: number;
  /** The handler or the part of the code that was called, in words. */
  readonly subject: string;
}

/** Why a call has no answer. */
export interface CallEnd {
  readonly $case: 'timed out' | 'ended';
  /** For `ended`: the end of a sentence that begins with `The process`. */
  readonly why: string;
}

export function isAnswer(settled: Answer | CallEnd): settled is Answer {
  return settled.$case !== 'ended' && settled.$case !== 'timed out';
}

interface Timed {
  readonly call: ProcessCall;
  readonly deadlineMs: number;
}

/** Pause between two looks at the time limits, in milliseconds. */
const LOOK_MS = 100;

export class ProcessCalls {
  /** The calls by their numbers. */
  readonly #calls = new Map<number, Timed>();
  readonly #cancel: (number: number) => void;
  readonly #timer: NodeJS.Timeout;
  #lastNumber = 0;

  /** `cancel`: reports to the process that nobody waits for a call any more. */
  constructor(cancel: (number: number) => void) {
    this.#cancel = cancel;
    this.#timer = setInterval(() => this.#endLate(), LOOK_MS);
    this.#timer.unref();
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Adds a call, and returns its number. */
  add(call: ProcessCall): number {
    const number = ++this.#lastNumber;
    this.#calls.set(number, { call, deadlineMs: performance.now() + call.timeoutMs });
    return number;
  }

  /** Settles the call with its answer. Throws ProtocolError. */
  answer(number: number, answer: Answer): void {
    const call = this.#take(number);
    if (call !== undefined) call.settle(answer);
    else if (number > this.#lastNumber || number === 0)
      throw new ProtocolError(`it has answered call ${number}, which was not made`);
  }

  /** Ends all calls, and returns their subjects. `why`: as in CallEnd. */
  end(why: string): readonly string[] {
    clearInterval(this.#timer);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { call } of calls) call.settle({ $case: 'ended', why });
    return calls.map(({ call }) => call.subject);
  }

  /** Drops a call that was not sent; it is not settled. */
  drop(number: number): void {
    this.#take(number);
  }

  #take(number: number): ProcessCall | undefined {
    const timed = this.#calls.get(number);
    this.#calls.delete(number);
    return timed?.call;
  }

  #endLate(): void {
    const nowMs = performance.now();
    for (const [number, { call, deadlineMs }] of this.#calls)
      if (deadlineMs <= nowMs) {
        this.#calls.delete(number);
        this.#cancel(number);
        call.settle({ $case: 'timed out', why: '' });
      }
  }
}
