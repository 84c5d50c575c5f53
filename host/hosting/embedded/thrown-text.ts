// ThrownText: what is said of what a program has thrown. It may have thrown anything: looking at it never throws
// in its turn.

/** Of what has no text, or throws when it is asked for one, its kind. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown);
  } catch {
    return `what has no text (${typeof thrown})`;
  }
}
