// AtOnce: entities and codecs have nothing to wait for. An answer that is a promise is an error of the program,
// and how it ends concerns nobody.

/** `what`: what is said of a promise, which nobody would wait for. Throws then. */
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
