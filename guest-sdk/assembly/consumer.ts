// Consumer: the base class of the author's consumers, and what they decide about an event. The compiler adds the method
// that dispatches events to the methods of their sources (`__svc_consume`) to the author's class.
import { Code, Refusal } from "./code";
import { host } from "./host";
import { SourceEvent } from "./source-event";

/** The first events that a consumer is called with. */
export enum Start {
  /** All events that the journal has. */
  beginning,
  /** Those that are stored after the first start of a module with the consumer. */
  now,
}

const DONE: u8 = 0;
const RETRY: u8 = 1;
const SKIP: u8 = 2;

/** A consumer's decision about an event. */
export class Verdict {
  /** Set if the event is refused; the other fields mean nothing then. */
  __svc_refusal: Refusal | null = null;

  /** `afterMs`: milliseconds until the next attempt; negative: the runtime decides. */
  constructor(
    private kind: u8,
    private reason: string,
    private afterMs: i64,
  ) {}

  /** Writes a `verdict` of the WIT, 32 bytes. */
  __svc_put(at: usize): void {
    store<u8>(at, this.kind);
    if (this.kind == DONE) return;
    host.putText(at + 8, this.reason);
    if (this.kind == SKIP) return;
    store<u8>(at + 16, this.afterMs < 0 ? 0 : 1);
    store<u64>(at + 24, <u64>this.afterMs);
  }
}

/**
 * Is called with the events of entities, after they are stored: at least once with each, and with those of one entity in
 * their order. The object itself has no state. Its methods may call entities, find rows and set timers, as handlers of
 * endpoints may; a repeated call with the same event makes the same calls, which the runtime executes once.
 */
export abstract class Consumer {
  /** Settles the event. */
  protected done(): Verdict {
    return new Verdict(DONE, "", -1);
  }

  /**
   * Has the event handled again, before any later event of its entity. `reason`: for the operator. `afterMs`:
   * milliseconds until the next attempt; negative: growing pauses, as the runtime chooses them. Calls that were answered
   * keep their replies; those that were refused are made again.
   */
  protected retry(reason: string, afterMs: i64 = -1): Verdict {
    return new Verdict(RETRY, reason, afterMs);
  }

  /** Settles the event without handling it, which the runtime records. `reason`: for the operator. */
  protected skip(reason: string): Verdict {
    return new Verdict(SKIP, reason, -1);
  }

  /**
   * Refuses the event for good: it and the later events of its entity wait until an operator has it handled again or
   * skipped. The message is for the operator.
   */
  protected refuse(message: string, code: Code = Code.UNPROCESSABLE): Verdict {
    const verdict = this.done();
    verdict.__svc_refusal = new Refusal(code, message);
    return verdict;
  }

  abstract __svc_consumer(): string;
  abstract __svc_consume(event: SourceEvent): Verdict;
}
