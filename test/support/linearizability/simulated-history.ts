// Simulated histories come from callers of entities that are linearizable: each operation is executed at a moment that is drawn between its
// start and its end, or up to some time after its start if its outcome is unknown. Some operations fail with 503 or 504, and some
// repeat a key, or use one with another input.
import type { Random } from '../random.ts';
import type { Attempt, Outcome } from './history.ts';
import type { Model } from './model.ts';

export interface Simulation<Input> {
  readonly callers: number;
  readonly operations: number;
  readonly entities: number;
  /** Makes an operation; `number` differs for each. */
  readonly input: (random: Random, number: number) => Input;
  /** In percent. */
  readonly keyed: number;
  readonly repeated: number;
  readonly reused: number;
  readonly notDone: number;
  readonly unknown: number;
}

interface Planned<Input> {
  readonly attempt: Omit<Attempt<Input, number>, 'outcome'>;
  /** Undefined: the attempt is answered. */
  readonly failure: 'not-done' | 'unknown' | undefined;
  /** Infinity: never. */
  readonly executedMs: number;
}

interface Executed<Input> {
  readonly input: Input;
  readonly output: number;
}

/** Bound of the time between start and end, and of the pause after it. */
const DURATION_MS = 10;
/** Bound of the time until an operation is executed whose outcome is unknown. */
const LATE_MS = 200;

export function simulatedHistory<Input>(
  model: Model<number, Input, number>,
  random: Random,
  simulation: Simulation<Input>,
): readonly Attempt<Input, number>[] {
  const planned = planOf(random, simulation);
  const outcomes = new Map<Planned<Input>, Outcome<number>>();
  const states = new Map<string, number>();
  const replies = new Map<string, Executed<Input>>();
  for (const plan of planned.toSorted((a, b) => a.executedMs - b.executedMs)) {
    const { entity, input, key } = plan.attempt;
    if (plan.failure !== undefined) outcomes.set(plan, { kind: plan.failure });
    if (plan.executedMs === Infinity) continue;
    const stored = key === undefined ? undefined : replies.get(`${entity} ${key}`);
    const state = states.get(entity) ?? model.initial;
    const executed = stored ?? { input, output: model.answer(state, input) };
    if (stored === undefined) states.set(entity, model.after(state, input));
    if (key !== undefined) replies.set(`${entity} ${key}`, executed);
    if (plan.failure !== undefined) continue;
    const isSame = JSON.stringify(executed.input) === JSON.stringify(input);
    const { output } = executed;
    outcomes.set(plan, isSame ? { kind: 'answered', output } : { kind: 'reused' });
  }
  return planned.map((plan) => ({ ...plan.attempt, outcome: outcomes.get(plan)! }));
}

/** Draws the requests of all callers and their times, without the answers. */
function planOf<Input>(random: Random, simulation: Simulation<Input>): readonly Planned<Input>[] {
  const planned: Planned<Input>[] = [];
  const firsts = new Map<string, Input>();
  const freeMs = Array.from({ length: simulation.callers }, () => random.below(DURATION_MS));
  while (planned.length < simulation.operations) {
    const caller = random.below(simulation.callers);
    const startMs = freeMs[caller]!;
    const endMs = startMs + random.below(DURATION_MS);
    freeMs[caller] = endMs + random.below(DURATION_MS);
    const before = planned.at(-1 - random.below(simulation.callers * 3))?.attempt;
    const request = requestOf(random, simulation, planned.length + 1, before);
    // If a key has several inputs of which none was answered, nobody can say which one was executed.
    const unknown = isFirst(firsts, request) ? simulation.unknown : 0;
    const attempt = { ...request, node: 'node', startMs, endMs };
    planned.push({ attempt, ...fateOf(random, { ...simulation, unknown }, attempt) });
  }
  return planned;
}

/** Returns true if the key has no other input before. */
function isFirst<Input>(
  firsts: Map<string, Input>,
  { key, input }: { readonly key?: string; readonly input: Input },
): boolean {
  if (key === undefined) return true;
  if (!firsts.has(key)) firsts.set(key, input);
  return firsts.get(key) === input;
}

/** Returns a new operation, or one with the key of an operation before. */
function requestOf<Input>(
  random: Random,
  simulation: Simulation<Input>,
  number: number,
  before: Planned<Input>['attempt'] | undefined,
) {
  const input = simulation.input(random, number);
  if (before?.key !== undefined) {
    const { entity, key } = before;
    if (random.chance(simulation.repeated)) return { entity, key, input: before.input };
    if (random.chance(simulation.reused)) return { entity, key, input };
  }
  const entity = `entity-${random.below(simulation.entities)}`;
  return random.chance(simulation.keyed)
    ? { entity, input, key: `key-${number}` }
    : { entity, input };
}

function fateOf<Input>(
  random: Random,
  { notDone, unknown }: Simulation<Input>,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Omit<Planned<Input>, 'attempt'> {
  if (random.chance(notDone)) return { failure: 'not-done', executedMs: Infinity };
  if (!random.chance(unknown))
    return { failure: undefined, executedMs: startMs + random.below(endMs - startMs + 1) };
  const executedMs = random.chance(50) ? startMs + random.below(LATE_MS) : Infinity;
  return { failure: 'unknown', executedMs };
}
