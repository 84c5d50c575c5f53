// AtOnce: entities and codecs are synchronous. A promise as a result is an error of the program, and how the
// promise settles is ignored.

/** Returns the value, or throws if it is a promise. `what`: subject of the error message. */
export function atOnce(answer: unknown, what: string): unknown {
  if (!isThenable(answer)) return answer;
  if (answer instanceof Promise) answer.catch(() => {});
  throw new Error(`${what}: here nothing is async`);
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
