// EndpointTimers: fires the due timers of a module's entities on the clock of the test, with the runtime's engine.
import {
  type EntityEngine,
  type FiringOutcome,
  type MemoryJournal,
  Occurrences,
} from '@svc/host/tools';
import type { SentCall } from './fake-component.ts';
import {
  type DueFiring,
  answeredEnd,
  checkFiringCount,
  firingMetadata,
  firingOf,
  later,
} from './firings.ts';
import type { StackStart } from './test-failure.ts';
import type { SetClock } from './test-inputs.ts';

/** A firing of a timer, and how it ended. */
export interface FiredTimer {
  /** Name of the timer. */
  readonly name: string;
  /** The time at which the timer was due, as ISO text. */
  readonly dueAt: string;
  /** The entity that received the command. */
  readonly component: string;
  readonly id: string;
  readonly command: string;
  /** `retried`: the command has failed, and will be sent again. `dead`: it has failed for the last time. */
  readonly outcome: Exclude<FiringOutcome['kind'], 'unavailable'>;
  /** The reason of the failure of a command that is retried or dead. */
  readonly fault?: string;
}

interface EndpointTimersNeeds {
  readonly journal: MemoryJournal;
  readonly engine: Pick<EntityEngine, 'fire'>;
  readonly clock: SetClock;
  readonly occurrences: Occurrences;
  /** Calls the fake of a component; returns undefined if it has none. */
  readonly callFake: (component: string, call: SentCall) => Promise<unknown> | undefined;
}

export class EndpointTimers {
  readonly #needs: EndpointTimersNeeds;

  constructor(needs: EndpointTimersNeeds) {
    this.#needs = needs;
  }

  /** Lets `ms` milliseconds pass, and fires what becomes due, each timer at its time and one after the other. */
  async advance(ms: number, stackStart: StackStart): Promise<readonly FiredTimer[]> {
    const { journal, clock, occurrences } = this.#needs;
    const untilMs = later(clock.nowMs(), ms, stackStart);
    const fired: FiredTimer[] = [];
    for (;;) {
      const [timer] = journal.dueTimers(untilMs, 1);
      if (timer === undefined) break;
      checkFiringCount(fired.length + 1, timer, stackStart);
      clock.set(Math.max(clock.nowMs(), timer.nextMs));
      fired.push(await this.#fire(firingOf(timer, clock.nowMs(), occurrences)));
    }
    clock.set(untilMs);
    return fired;
  }

  async #fire(firing: DueFiring): Promise<FiredTimer> {
    const { timer, rearmMs, missed } = firing;
    const { name, dueMs, target, command } = timer;
    const outcome =
      (await this.#callFake(firing)) ??
      (await this.#needs.engine.fire({ ...timer, rearmMs, missed }));
    if (outcome.kind === 'unavailable') throw outcome.failure;
    const fault = this.#needs.journal.timer(timer.number)?.fault;
    return {
      name,
      dueAt: new Date(dueMs).toISOString(),
      ...target,
      command,
      outcome: outcome.kind,
      ...(fault === undefined ? {} : { fault }),
    };
  }

  /** Sends the command to the fake of its target, and settles the timer; undefined if there is no fake. */
  async #callFake(firing: DueFiring): Promise<FiringOutcome | undefined> {
    const { timer } = firing;
    const { target, command, input } = timer;
    const answer = this.#needs.callFake(target.component, {
      id: target.id,
      name: command,
      input,
      metadata: firingMetadata(firing),
      idempotencyKey: undefined,
    });
    if (answer === undefined) return undefined;
    await answer;
    const timers = { firing: { occurrence: timer, end: answeredEnd(firing) }, changes: [] };
    return new Promise((resolve, reject) => {
      this.#needs.journal.append(
        target,
        [],
        (failure) => (failure === undefined ? resolve({ kind: 'replied' }) : reject(failure)),
        { timers, isDetached: true },
      );
    });
  }
}
