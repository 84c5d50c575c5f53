// Explanation: searches the orders of requests that were sent at the same time for those in which the reference gives the
// answers that were received. All states to which such orders lead are kept, since later answers decide between them.
//
// A request whose outcome is unknown may have been done in part or not at all. An answer 503 says that nothing was done; it is
// accepted where the reference would have gone on to do it, and where a request may meet another one that is not finished.
import { ROUTES, successOf, type Route } from '../../../client/index.ts';
import type { Request } from './requests.ts';
import { stepsOf, type Answer, type State, type Step } from './reference.ts';

export interface Observed {
  readonly request: Request;
  /** Undefined: it is not known. */
  readonly answer: Answer | undefined;
}

export interface ObservedRound {
  readonly observed: readonly Observed[];
  /** Whether a request that was cut off may have left something that is not settled: counts may be wrong. */
  readonly isUnsettled: boolean;
  /** Whether the request is one that was done before, sent again with its key. */
  readonly isRepeated?: boolean;
}

/**
 * Returns whether a request may be answered 503 because of another one: it depends on a name that the other one has claimed and
 * may not get.
 */
function waitsFor({ route, input }: Request, other: Request): boolean {
  switch (route as string) {
    case 'deleteOrganization':
      return (
        other.route === 'createProject' &&
        other.input.body!['organizationId'] === input.organizationId
      );
    case 'deleteProject':
      return other.route === 'applyService' && other.input.projectId === input.projectId;
    case 'applyService':
    case 'exposeService':
      return other.route === 'applyService' || other.route === 'exposeService';
    default:
      return false;
  }
}

/**
 * Returns whether a change of a service may be answered 404 because of another request: the answer to a change is the status
 * that is read after it, and the other request may have deleted the service by then.
 */
function isGoneBy({ route, input }: Request, other: Request): boolean {
  return (
    route.endsWith('Service') &&
    other.route === 'deleteService' &&
    other.input.projectId === input.projectId &&
    other.input.name === input.name
  );
}

const MAY_WAIT: ReadonlySet<string> = new Set([
  'deleteOrganization',
  'deleteProject',
  'applyService',
  'exposeService',
]);
/** Routes whose answers show one entity at one moment, also while others change it. */
const AT_ONCE: ReadonlySet<string> = new Set(['getService', 'listMembers']);
/** Routes whose answers count children. */
const COUNTING: ReadonlySet<string> = new Set(['getOrganization', 'getProject']);

/**
 * `whole`: each request is done in one step. This is fast, and explains nearly everything; what it does not explain may still be
 * right if others came between the steps of a request.
 */
export function explainedStates(
  states: readonly State[],
  round: ObservedRound,
  whole: boolean,
): readonly State[] {
  const runs = round.observed.map((each) => new Run(each, round, whole));
  const ends = new Map<string, State>();
  const seen = new Set<string>();
  const open: { readonly state: State; readonly progress: readonly number[] }[] = states.map(
    (state) => ({ state, progress: runs.map(() => 0) }),
  );
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { state, progress } = node;
    const key = `${progress.join()} ${keyOf(state)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (runs.every((run, index) => run.mayEndAt(progress[index]!))) ends.set(keyOf(state), state);
    for (const [index, run] of runs.entries()) {
      const next = run.step(progress[index]!, state);
      if (next === undefined) continue;
      open.push({ state: next.state, progress: progress.with(index, next.progress) });
    }
  }
  return [...ends.values()];
}

/** Fails unless some order explains every answer of every round so far. */
export class Explanation {
  readonly #rounds: ObservedRound[] = [];
  readonly #first: State;
  #states: readonly State[];
  #isWhole = true;

  constructor(first: State) {
    this.#first = first;
    this.#states = [first];
  }

  add(round: ObservedRound): void {
    this.#rounds.push(round);
    this.#states = explainedStates(this.#states, round, this.#isWhole);
    if (this.#states.length > 0) return;
    if (this.#isWhole) {
      // Once more, in small steps from the beginning: another state may have been possible all the time.
      this.#isWhole = false;
      this.#states = [this.#first];
      for (const each of this.#rounds) this.#states = explainedStates(this.#states, each, false);
    }
    if (this.#states.length === 0)
      throw new Error(`no order explains the answers:\n${this.#text()}`);
  }

  /** Adds a request that is sent again with its key. */
  addRepeated(observed: Observed): void {
    this.add({ observed: [observed], isUnsettled: true, isRepeated: true });
  }

  #text(): string {
    return this.#rounds
      .map(({ observed, isUnsettled }) =>
        [
          isUnsettled ? 'at the same time, with something unsettled:' : 'at the same time:',
          ...observed.map(({ request: { as, route, input }, answer }) => {
            const received = answer === undefined ? 'unknown' : JSON.stringify(answer);
            return `  ${as} ${route} ${JSON.stringify(input)} -> ${received}`;
          }),
        ].join('\n'),
      )
      .join('\n');
  }
}

/** One request of a round. */
class Run {
  readonly #observed: Observed;
  readonly #steps: readonly Step[];
  /** Everything that comes before it is done. */
  readonly #before: readonly Step[];
  readonly #isAlone: boolean;
  readonly #isUnsettled: boolean;
  readonly #mayWait: boolean;
  readonly #mayBeGone: boolean;

  constructor(
    observed: Observed,
    { observed: all, isUnsettled, isRepeated = false }: ObservedRound,
    whole: boolean,
  ) {
    this.#observed = observed;
    this.#isAlone = all.length === 1;
    this.#isUnsettled = isUnsettled;
    const { request } = observed;
    this.#mayWait =
      (isUnsettled && MAY_WAIT.has(request.route)) ||
      all.some((other) => other !== observed && waitsFor(request, other.request));
    this.#mayBeGone = all.some((other) => other !== observed && isGoneBy(request, other.request));
    const known = stepsOf(observed.request);
    this.#before = known.slice(0, -1);
    const steps = isRepeated ? [...this.#before, answeredAsBefore(observed.request)] : known;
    this.#steps = whole ? [joinedSteps(steps)] : steps;
  }

  mayEndAt(progress: number): boolean {
    return progress === this.#steps.length || this.#observed.answer === undefined;
  }

  /** Returns undefined if the request is done, or the reference would answer something else. */
  step(progress: number, state: State): { state: State; progress: number } | undefined {
    if (progress >= this.#steps.length) return undefined;
    const { state: next = state, answer } = this.#steps[progress]!(state);
    if (answer === undefined) return { state: next, progress: progress + 1 };
    const { answer: received } = this.#observed;
    const end = this.#steps.length;
    if (received === undefined) return { state: next, progress: end };
    if (received.status === 503 && this.#mayBe503(answer))
      return { state: this.#notDone(state), progress: end };
    const isGone = this.#mayBeGone && received.status === 404 && answer.status === 200;
    return isGone || this.#isSame(received, answer) ? { state: next, progress: end } : undefined;
  }

  /** Invitations of the caller have become memberships; that nothing else was done is the meaning of a 503. */
  #notDone(state: State): State {
    return this.#before.reduce((current, step) => step(current).state ?? current, state);
  }

  #mayBe503({ status }: Answer): boolean {
    return this.#mayWait && (status < 300 || status === 409 || status === 404);
  }

  #isSame(received: Answer, expected: Answer): boolean {
    if (received.status !== expected.status) return false;
    if (received.body === undefined || expected.body === undefined) return true;
    const { route } = this.#observed.request;
    if (!this.#isAlone && !AT_ONCE.has(route)) return true;
    if (this.#isUnsettled && COUNTING.has(route)) return true;
    // Whether the organization is disabled is read before the service is.
    if (!this.#isAlone && route === 'getService')
      return startOf(received.body) === startOf(expected.body);
    return JSON.stringify(received.body) === JSON.stringify(expected.body);
  }
}

/** The request was done the first time, and does nothing now. */
function answeredAsBefore({ route }: Request): Step {
  return () => ({ answer: { status: successOf(ROUTES[route] as Route) } });
}

function startOf(status: unknown): string {
  return JSON.stringify((status as readonly unknown[]).slice(0, 3));
}

function joinedSteps(steps: readonly Step[]): Step {
  return (state) => {
    let current = state;
    for (const step of steps) {
      const { state: next = current, answer } = step(current);
      if (answer !== undefined) return { state: next, answer };
      current = next;
    }
    throw new Error('the last step gives an answer');
  };
}

/** Returns the same text for equal states, whatever the order in which their parts were made. */
function keyOf(state: State): string {
  return JSON.stringify(state, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
