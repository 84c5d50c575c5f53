// A history is a list of attempts: the requests that callers have made to entities, each with its start, its end and its outcome.
// All times are of one monotonic clock. An attempt precedes another one if it has ended before the other has started; otherwise the
// two are concurrent, also when the times are equal.

/** Values that are compared by `===`. */
export type Value = string | number | boolean | null;

export type Outcome<Output> =
  | { readonly kind: 'answered'; readonly output: Output }
  /** 422: the idempotency key was used with another input before. The attempt had no effect. */
  | { readonly kind: 'reused' }
  /** 503: the attempt had no effect, and never will have one. */
  | { readonly kind: 'not-done' }
  /** 504, or a broken connection: the attempt has its effect once or not at all, at any time after its start. */
  | { readonly kind: 'unknown' };

export interface Attempt<Input, Output> {
  readonly entity: string;
  readonly input: Input;
  /**
   * Idempotency key. Attempts of an entity with the same key and input have one effect together, and get one answer. Keys of
   * different routes are different keys here.
   */
  readonly key?: string;
  /** The node that was asked. */
  readonly node: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: Outcome<Output>;
}

/** Writes an attempt as one line. */
export function attemptText(attempt: Attempt<unknown, unknown>): string {
  const { input, key, node, startMs, endMs, outcome } = attempt;
  const keyText = key === undefined ? '' : ` key ${key}`;
  const result = outcome.kind === 'answered' ? JSON.stringify(outcome.output) : outcome.kind;
  return `${startMs.toFixed(3)} to ${endMs.toFixed(3)} ${node}${keyText} ${JSON.stringify(input)}: ${result}`;
}
