// Effects resolves the idempotency keys in the attempts of one entity: all attempts with one key have one effect together. The reduction is exact.
// The one execution of a key lies after the start of the first attempt that may have caused it, and before the end of each attempt that got
// its reply. The other attempts got the stored reply, which constrains nothing else.
//
// Invariant: an effect does not end before it has started. Attempts that were not done have no effect.
import type { Attempt, Value } from './history.ts';

export interface Effect<Input, Output> {
  readonly input: Input;
  /** Undefined: nobody got the answer. */
  readonly output: Output | undefined;
  readonly startMs: number;
  /** Infinity: it is unknown whether the effect happens at all. */
  readonly endMs: number;
}

/** A key whose attempts have no known effect. */
export type Unexplained =
  /** No order of effects explains the attempts with one key. */
  | { readonly kind: 'contradiction'; readonly reason: string }
  /** The key was used with several inputs, and the attempts do not show which one was executed. */
  | { readonly kind: 'ambiguous'; readonly reason: string };

type Attempts<Input, Output> = readonly Attempt<Input, Output>[];

/** Returns the effects of the attempts of one entity, or the first key without an explanation. */
export function effectsOf<Input, Output extends Value>(
  attempts: Attempts<Input, Output>,
): readonly Effect<Input, Output>[] | Unexplained {
  const effects: Effect<Input, Output>[] = [];
  for (const group of groupsOf(attempts)) {
    const found = effectOf(group);
    if ('kind' in found) return found;
    effects.push(found);
  }
  return effects;
}

/** Groups the attempts that may have had an effect by their keys. */
function groupsOf<Input, Output>(attempts: Attempts<Input, Output>) {
  const groups: Attempt<Input, Output>[][] = [];
  const keyed = new Map<string, Attempt<Input, Output>[]>();
  for (const attempt of attempts) {
    const { key, outcome } = attempt;
    if (outcome.kind === 'not-done') continue;
    const group = key === undefined ? undefined : keyed.get(key);
    if (group !== undefined) {
      group.push(attempt);
      continue;
    }
    const first = [attempt];
    groups.push(first);
    if (key !== undefined) keyed.set(key, first);
  }
  return groups;
}

/** Returns the one effect of attempts with one key, or of one attempt without a key. */
function effectOf<Input, Output extends Value>(
  group: Attempts<Input, Output>,
): Effect<Input, Output> | Unexplained {
  const { key } = group[0]!;
  const contradiction = (what: string): Unexplained => ({
    kind: 'contradiction',
    reason: `key ${key}: ${what}`,
  });
  const answered = group.filter(({ outcome }) => outcome.kind === 'answered');
  const reused = group.filter(({ outcome }) => outcome.kind === 'reused');
  const executed = answered[0] ?? executedOf(group, reused);
  if (executed === 'ambiguous')
    return { kind: 'ambiguous', reason: `key ${key}: several inputs and no answer` };
  if (executed === undefined) return contradiction('refused as used before, and was not');
  const output = outputOf(executed);
  for (const attempt of answered) {
    if (textOf(attempt) !== textOf(executed))
      return contradiction('two inputs with one key were executed');
    if (outputOf(attempt) !== output)
      return contradiction(`answered with ${output}, and with ${outputOf(attempt)}`);
  }
  if (reused.some((attempt) => textOf(attempt) === textOf(executed)))
    return contradiction('refused as used with another input, and was not');
  const causes = group.filter((attempt) => textOf(attempt) === textOf(executed));
  const startMs = Math.min(...causes.map((cause) => cause.startMs));
  const endMs = Math.min(...[...answered, ...reused].map((attempt) => attempt.endMs));
  if (startMs > endMs) return contradiction('refused as used before its first use');
  return { input: executed.input, output, startMs, endMs };
}

/** Returns the attempt that was executed, of those whose outcome is unknown. */
function executedOf<Input, Output>(
  group: Attempts<Input, Output>,
  reused: Attempts<Input, Output>,
): Attempt<Input, Output> | 'ambiguous' | undefined {
  const refused = new Set(reused.map(textOf));
  const possible = group.filter((attempt) => !refused.has(textOf(attempt)));
  if (new Set(possible.map(textOf)).size > 1) return 'ambiguous';
  return possible[0];
}

function outputOf<Output>({ outcome }: Attempt<unknown, Output>): Output | undefined {
  return outcome.kind === 'answered' ? outcome.output : undefined;
}

function textOf({ input }: Attempt<unknown, unknown>): string {
  return JSON.stringify(input);
}
