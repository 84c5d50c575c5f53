// The checker of histories finds every violation of a corpus, accepts what is linearizable, and agrees with a checker that tries all
// orders. A failing random test names its seed, which `SVC_TEST_SEED` repeats.
import { expect, test } from 'vitest';
import { BAD_HISTORIES, type WrittenHistory } from '../support/linearizability/bad-histories.ts';
import { checkHistory, type Verdict } from '../support/linearizability/check-history.ts';
import { COUNTER, type CounterInput } from '../support/linearizability/counter-model.ts';
import { GOOD_HISTORIES } from '../support/linearizability/good-histories.ts';
import { attemptText, type Attempt } from '../support/linearizability/history.ts';
import { historyOf } from '../support/linearizability/history-text.ts';
import type { Model } from '../support/linearizability/model.ts';
import { plainCheck } from '../support/linearizability/plain-check.ts';
import {
  COUNTER_VIOLATIONS,
  REGISTER_VIOLATIONS,
} from '../support/linearizability/planted-violations.ts';
import { REGISTER, type RegisterInput } from '../support/linearizability/register-model.ts';
import { simulatedHistory, type Simulation } from '../support/linearizability/simulated-history.ts';
import { Random } from '../support/random.ts';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const HISTORIES = 2_000;
const PLANTED = 20;
const LINEARIZABLE = { kind: 'linearizable', problems: [] };

function registerInput(random: Random, number: number): RegisterInput {
  if (random.chance(45)) return { kind: 'get' };
  return random.chance(15) ? { kind: 'delete' } : { kind: 'set', value: number };
}

function counterInput(random: Random): CounterInput {
  return random.chance(40) ? { kind: 'get' } : { kind: 'add', amount: 1 + random.below(1_000_000) };
}

const FAULTS = { keyed: 50, repeated: 20, reused: 3, notDone: 5, unknown: 5 };
const SMALL = { callers: 3, operations: 8, entities: 1, ...FAULTS, unknown: 20, reused: 10 };
const LARGE = { callers: 16, operations: 1_000, entities: 5, ...FAULTS };

function check({ model, text }: WrittenHistory) {
  const history = historyOf(text);
  return model === 'register'
    ? verdicts(REGISTER, history as readonly Attempt<RegisterInput, number>[])
    : verdicts(COUNTER, history as readonly Attempt<CounterInput, number>[]);
}

function verdicts<Input>(
  model: Model<number, Input, number>,
  history: readonly Attempt<Input, number>[],
) {
  return { checked: checkHistory(model, history), plain: plainCheck(model, history) };
}

test.each(BAD_HISTORIES)('$model: $name is found', (written) => {
  const { checked, plain } = check(written);
  expect(plain).toBe(false);
  expect(checked.kind).toBe('violated');
  expect(checked.problems).toHaveLength(1);
});

test.each(GOOD_HISTORIES)('$model: $name is accepted', (written) => {
  expect(check(written)).toEqual({ checked: LINEARIZABLE, plain: true });
});

/** A kind of entity: its model, and how its operations are drawn. */
interface Kind<Input> {
  readonly model: Model<number, Input, number>;
  readonly input: Simulation<Input>['input'];
}
const REGISTERS: Kind<RegisterInput> = { model: REGISTER, input: registerInput };
const COUNTERS: Kind<CounterInput> = { model: COUNTER, input: counterInput };

/** Returns the problems of simulated histories. */
function problemsOfSimulated<Input>({ model, input }: Kind<Input>): readonly string[] {
  const random = new Random(SEED);
  return Array.from({ length: HISTORIES }, () => {
    const shape = { callers: 1 + random.below(12), operations: 40, entities: 1 + random.below(3) };
    const history = simulatedHistory(model, random, { ...FAULTS, ...shape, input });
    return checkHistory(model, history).problems;
  }).flat();
}

test('simulated histories are accepted', () => {
  expect(problemsOfSimulated(REGISTERS), `seed ${SEED}`).toEqual([]);
  expect(problemsOfSimulated(COUNTERS), `seed ${SEED}`).toEqual([]);
});

/** Changes an attempt in one way of several, after which the history may be linearizable or not. */
function mutated<Input>(history: readonly Attempt<Input, number>[], random: Random) {
  const index = random.below(history.length);
  const attempt = history[index]!;
  const { startMs, endMs } = attempt;
  const outputs = history.flatMap(({ outcome }) =>
    outcome.kind === 'answered' ? [outcome.output] : [],
  );
  const output = outputs.length === 0 ? 1 : random.pick(outputs);
  const changes: readonly Partial<Attempt<Input, number>>[] = [
    { outcome: { kind: 'answered', output } },
    { outcome: { kind: 'unknown' } },
    { outcome: { kind: 'not-done' } },
    { outcome: { kind: 'reused' } },
    { startMs: startMs + random.below(endMs - startMs + 1) },
    { endMs: endMs - random.below(endMs - startMs + 1) },
    { startMs: startMs + 10, endMs: endMs + 10 },
    { input: random.pick(history).input },
  ];
  return history.with(index, { ...attempt, ...random.pick(changes) });
}

interface Comparison {
  /** How often each verdict was given. */
  readonly counts: Readonly<Record<Verdict['kind'], number>>;
  readonly disagreements: readonly string[];
}

function compared<Input>({ model, input }: Kind<Input>): Comparison {
  const random = new Random(SEED);
  const counts = { linearizable: 0, violated: 0, undecided: 0 };
  const disagreements: string[] = [];
  for (let count = 0; count < HISTORIES; count++) {
    let history = simulatedHistory(model, random, { ...SMALL, input });
    for (let change = random.below(4); change > 0; change--) history = mutated(history, random);
    const { kind } = checkHistory(model, history);
    counts[kind]++;
    const isAgreed = plainCheck(model, history) === (kind === 'linearizable');
    if (!isAgreed && kind !== 'undecided')
      disagreements.push(`${kind}\n${history.map(attemptText).join('\n')}`);
  }
  return { counts, disagreements };
}

test.each([
  ['registers', () => compared(REGISTERS)],
  ['counters', () => compared(COUNTERS)],
])('changed histories of %s get the verdict of a checker that tries all orders', (_, run) => {
  const { counts, disagreements } = run();
  expect(disagreements, `seed ${SEED}`).toEqual([]);
  expect(counts.linearizable).toBeGreaterThan(HISTORIES / 5);
  expect(counts.violated).toBeGreaterThan(HISTORIES / 5);
  expect(counts.undecided).toBeLessThan(HISTORIES / 100);
});

/** Plants a violation in long histories, and returns how many of them had an attempt for it. */
function planted<Input>(
  { model, input }: Kind<Input>,
  plant: (
    history: readonly Attempt<Input, number>[],
    random: Random,
  ) => readonly Attempt<Input, number>[] | undefined,
): number {
  const random = new Random(SEED);
  let count = 0;
  for (let round = 0; round < PLANTED; round++) {
    const history = simulatedHistory(model, random, { ...LARGE, input });
    const changed = plant(history, random);
    if (changed === undefined) continue;
    count++;
    expect(checkHistory(model, changed).kind, `seed ${SEED} round ${round}`).toBe('violated');
  }
  return count;
}

test.each([
  ...Object.entries(REGISTER_VIOLATIONS).map(
    ([name, plant]) => [name, () => planted(REGISTERS, plant)] as const,
  ),
  ...Object.entries(COUNTER_VIOLATIONS).map(
    ([name, plant]) => [name, () => planted(COUNTERS, plant)] as const,
  ),
])('%s is found in long histories', (_, run) => {
  expect(run()).toBeGreaterThan(PLANTED / 2);
});

const MANY = { callers: 64, operations: 10_000, entities: 50, ...FAULTS };

test('a long history of many entities is accepted, and one wrong answer in it is found', () => {
  const history = simulatedHistory(REGISTER, new Random(SEED), { ...MANY, input: registerInput });
  expect(checkHistory(REGISTER, history), `seed ${SEED}`).toEqual(LINEARIZABLE);
  // With a key, it could be an answer of another attempt that is found to be wrong.
  const index = history.findIndex(
    ({ input, key, outcome }) =>
      input.kind === 'get' && key === undefined && outcome.kind === 'answered',
  );
  const wrong = history.with(index, {
    ...history[index]!,
    outcome: { kind: 'answered', output: MANY.operations + 1 },
  });
  const { kind, problems } = checkHistory(REGISTER, wrong);
  expect({ kind, count: problems.length }, `seed ${SEED}`).toEqual({ kind: 'violated', count: 1 });
  expect(problems[0]).toContain(history[index]!.entity);
  expect(problems[0]).toContain(`{"kind":"get"}: ${MANY.operations + 1}`);
});

// The totals are even, and no sum of these amounts is odd: every subset of them has to be tried.
const HARD = [...Array(24).keys()]
  .map((n) => `0-1 add ${2 ** n * 2} ?`)
  .concat('2-3 get = 12345677');

test.each([
  ['time', { timeMs: 0 }, 'no result within 0 ms'],
  ['memory', { memoBytes: 100_000 }, 'the memo needs more than 100000 bytes'],
])(
  'a check that needs more %s than it may is undecided, and names the entity',
  (_, limits, text) => {
    const history = historyOf(HARD.join('\n')) as readonly Attempt<CounterInput, number>[];
    const { kind, problems } = checkHistory(COUNTER, history, limits);
    expect(kind).toBe('undecided');
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^a: ${text}`))]);
  },
);

test('a violation counts more than an entity that is undecided', () => {
  const hard = historyOf(HARD.join('\n'));
  const bad = historyOf('0-1 add 1 = 2').map((attempt) => ({ ...attempt, entity: 'b' }));
  const history = [...hard, ...bad] as readonly Attempt<CounterInput, number>[];
  const { kind, problems } = checkHistory(COUNTER, history, { memoBytes: 100_000 });
  expect(kind).toBe('violated');
  expect(problems.map((problem) => problem.slice(0, 2))).toEqual(['b:', 'a:']);
});

test('a key with several inputs and no answer is undecided', () => {
  const history = historyOf(`0-1 k: add 1 ?
    0-1 k: add 2 ?
    2-3 get = 2`) as readonly Attempt<CounterInput, number>[];
  expect(checkHistory(COUNTER, history)).toEqual({
    kind: 'undecided',
    problems: ['a: key k: several inputs and no answer'],
  });
});
