// HandlerTimers changes timers of entities for callers outside of them: handlers, consumers and the program that embeds
// the runtime. The entity is neither loaded nor asked.
import { SvcError } from '@svc/kit/svc-error';
import { traceParentTextOf } from '@svc/kit/trace-context';
import type { Metadata } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { TimerChange } from '@svc/model/timer';
import type { WallClock } from '../needs/clock.ts';
import type { DetachedAppends } from './detached-appends.ts';
import { type TimerRules, timerWrite } from './timer-rules.ts';

interface HandlerTimersNeeds {
  readonly rules: TimerRules;
  readonly detached: DetachedAppends;
  readonly clock: WallClock;
}

export class HandlerTimers {
  readonly #needs: HandlerTimersNeeds;

  constructor(needs: HandlerTimersNeeds) {
    this.#needs = needs;
  }

  /** Does what `EntityEngine.changeTimers` does. */
  async change(
    owner: EntityRef,
    changes: readonly TimerChange[],
    metadata: Metadata,
    nowMs = this.#needs.clock.nowMs(),
  ): Promise<void> {
    const { rules, detached } = this.#needs;
    const ownerProblem = rules.ownerProblem(owner);
    const problem =
      ownerProblem === undefined
        ? rules.problemOf(changes, nowMs)?.text
        : `a timer ${ownerProblem}`;
    if (problem !== undefined) throw invalid(problem);
    const traceParent = traceParentTextOf(metadata);
    const writes = changes.map((change) => timerWrite(change, { nowMs, traceParent }));
    const failure = await detached.append(owner, { changes: writes });
    if (failure !== undefined) throw failure;
  }
}

function invalid(problem: string): SvcError {
  return new SvcError(
    'SVC_TIMER_INVALID',
    `No timer was set or cancelled: ${problem}. Correct the code that sets or cancels the timer.`,
  );
}
