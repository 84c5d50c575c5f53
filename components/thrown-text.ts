// ThrownText converts a value that a program has thrown into a text. The value may be anything, and converting it
// never throws.

/** Returns the text; for a value that has none, or whose conversion throws, its type. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown);
  } catch {
    return `what has no text (${typeof thrown})`;
  }
}
