// ClaimProgress: up to which invitation of their addresses persons have claimed what they can, so that a request does not try
// again what an earlier one could not claim. It is kept in memory: without it, more is looked at, and nothing else is done.
//
// Invariants: at most PERSONS_MAX are kept; the one that was kept first gives way. All invitations are looked at again a minute
// after the first were.
import type { Clock } from '@svc/kit/clock';

const KEPT_MS = 60_000;
const PERSONS_MAX = 10_000;

interface Progress {
  readonly after: number;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

export class ClaimProgress {
  readonly #clock: Clock;
  readonly #byPerson = new Map<string, Progress>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the version of a pointer, up to which all are claimed; 0: none is known. */
  of(person: string): number {
    return this.#current(person)?.after ?? 0;
  }

  set(person: string, after: number): void {
    const current = this.#current(person);
    if (after === (current?.after ?? 0)) return;
    const untilMs = current?.untilMs ?? this.#clock.monotonicMs() + KEPT_MS;
    const [first] = this.#byPerson.keys();
    if (current === undefined && first !== undefined && this.#byPerson.size >= PERSONS_MAX)
      this.#byPerson.delete(first);
    this.#byPerson.set(person, { after, untilMs });
  }

  #current(person: string): Progress | undefined {
    const found = this.#byPerson.get(person);
    if (found === undefined || this.#clock.monotonicMs() < found.untilMs) return found;
    this.#byPerson.delete(person);
    return undefined;
  }
}
