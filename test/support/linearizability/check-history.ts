// checkHistory checks that a history is linearizable: that each entity behaves as if every operation took effect at one moment between
// its start and its end. Entities are checked one after the other, since a history is linearizable exactly if the history of each
// entity is. The check is bounded in time and memory, and says so when it has found no result.
import { attemptText, type Attempt, type Value } from './history.ts';
import { effectsOf, type Effect } from './effects.ts';
import type { Model } from './model.ts';
import { Search } from './search.ts';

export interface Verdict {
  /** `violated` if an entity is, else `undecided` if an entity is. */
  readonly kind: 'linearizable' | 'violated' | 'undecided';
  /** A text for each entity that is not linearizable, or undecided. */
  readonly problems: readonly string[];
}

export interface CheckLimits {
  /** Time of the whole check. */
  readonly timeMs?: number;
  /** Bytes of the memo, which one entity needs at a time. */
  readonly memoBytes?: number;
}

const DEFAULTS = { timeMs: 60_000, memoBytes: 512 * 1024 * 1024 };
/** Attempts that a problem shows before and after its moment. */
const SHOWN = 12;

interface Problem {
  readonly kind: 'violated' | 'undecided';
  readonly text: string;
}

export function checkHistory<State extends Value, Input, Output extends Value>(
  model: Model<State, Input, Output>,
  history: readonly Attempt<Input, Output>[],
  limits: CheckLimits = {},
): Verdict {
  const { timeMs, memoBytes } = { ...DEFAULTS, ...limits };
  const untilMs = performance.now() + timeMs;
  // The easy ones first: each may take an equal part of the time that is left.
  const entities = [...Map.groupBy(history, ({ entity }) => entity)].toSorted(
    ([, a], [, b]) => a.length - b.length,
  );
  const problems = entities.flatMap(([entity, attempts], index) => {
    const leftMs = Math.max(0, untilMs - performance.now());
    const share = { timeMs: leftMs / (entities.length - index), memoBytes };
    const problem = problemOf(model, attempts, share);
    return problem === undefined ? [] : [{ ...problem, text: `${entity}: ${problem.text}` }];
  });
  const isViolated = problems.some(({ kind }) => kind === 'violated');
  const kind = isViolated ? 'violated' : problems.length > 0 ? 'undecided' : 'linearizable';
  return { kind, problems: problems.map(({ text }) => text) };
}

function problemOf<State extends Value, Input, Output extends Value>(
  model: Model<State, Input, Output>,
  attempts: readonly Attempt<Input, Output>[],
  limits: Required<CheckLimits>,
): Problem | undefined {
  const effects = effectsOf(attempts);
  if ('kind' in effects) {
    const kind = effects.kind === 'contradiction' ? 'violated' : 'undecided';
    return { kind, text: effects.reason };
  }
  const found = new Search(model, effects, limits).run();
  if (found.kind === 'linearizable') return undefined;
  if (found.kind === 'undecided')
    return { kind: 'undecided', text: `${found.reason} (${attempts.length} attempts)` };
  return { kind: 'violated', text: violationText(found.state, found.stuck, attempts) };
}

function violationText(
  state: Value,
  stuck: readonly Effect<unknown, unknown>[],
  attempts: readonly Attempt<unknown, unknown>[],
): string {
  const possible = stuck.map(({ input, output }) => `${JSON.stringify(input)}: ${String(output)}`);
  const momentMs = Math.min(...stuck.map(({ endMs }) => endMs));
  const sorted = attempts.toSorted((a, b) => a.startMs - b.startMs);
  const moment = sorted.findIndex(({ startMs }) => startMs > momentMs);
  const middle = moment < 0 ? sorted.length : moment;
  const shown = sorted.slice(Math.max(0, middle - SHOWN), middle + SHOWN / 2);
  return [
    `none of these can follow the state ${String(state)} of the longest linearization: ${possible.join('; ')}`,
    ...shown.map((attempt) => `  ${attemptText(attempt)}`),
  ].join('\n');
}
