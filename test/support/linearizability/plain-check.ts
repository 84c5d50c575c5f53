// plainCheck is a checker without any of the reductions of the real one, which is compared with it: it tries all orders of the attempts,
// and executes idempotency keys as an entity does. It can check some ten attempts of one entity.
import type { Attempt, Value } from './history.ts';
import type { Model } from './model.ts';

interface StoredReply<Output> {
  readonly inputText: string;
  readonly output: Output;
}

export function plainCheck<State extends Value, Input, Output extends Value>(
  model: Model<State, Input, Output>,
  history: readonly Attempt<Input, Output>[],
): boolean {
  type Some = readonly Attempt<Input, Output>[];
  type Replies = ReadonlyMap<string, StoredReply<Output>>;

  function isExplained(left: Some, state: State, replies: Replies): boolean {
    const known = left.filter(({ outcome }) => outcome.kind !== 'unknown');
    if (known.length === 0) return true;
    return left.some((attempt) => {
      if (known.some(({ endMs }) => endMs < attempt.startMs)) return false;
      const { input, key, outcome } = attempt;
      const rest = left.filter((other) => other !== attempt);
      const stored = key === undefined ? undefined : replies.get(key);
      const inputText = JSON.stringify(input);
      if (stored !== undefined) {
        const isSame = stored.inputText === inputText;
        if (outcome.kind === 'reused' && isSame) return false;
        if (outcome.kind === 'answered' && (!isSame || outcome.output !== stored.output))
          return false;
        return isExplained(rest, state, replies);
      }
      const output = model.answer(state, input);
      if (outcome.kind === 'reused') return false;
      if (outcome.kind === 'answered' && outcome.output !== output) return false;
      const next = new Map(replies);
      if (key !== undefined) next.set(key, { inputText, output });
      return isExplained(rest, model.after(state, input), next);
    });
  }

  const possible = history.filter(({ outcome }) => outcome.kind !== 'not-done');
  return isExplained(possible, model.initial, new Map());
}
