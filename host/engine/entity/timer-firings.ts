// TimerFirings executes the firings of an engine: it sends the command of each timer to its entity, and puts a timer off, or
// makes it dead, after its command has failed.
//
// Invariants
// T1  A failure of the module costs an attempt, which is on disk before `fire` resolves. A failure of the runtime costs
//     none, and stores nothing. Where it is unknown whether the effect or the attempt is stored, the timer is fired again, and
//     the journal stores it once. A timer that has died by such an attempt is not logged.
// T2  `settled` waits for all that a firing still stores.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '@svc/kit/printable';
import type { EntityRef } from '@svc/model/entity';
import { FAULTS_OF_MODULES } from '@svc/model/failure-cause';
import { faultReason } from '@svc/model/fault-reason';
import { type Firing, type FiringOutcome, isWaitingFor } from '../firing.ts';
import type { RandomSource, WallClock } from '../needs/clock.ts';
import type { DeadTimerLog } from '../needs/dead-timer-log.ts';
import type { Journal } from '../needs/journal.ts';
import type { FiringEnd } from '../needs/timers.ts';
import { retryPauseMs } from '../retry-pause.ts';
import type { TimerSettings } from '../timer-settings.ts';
import type { DetachedAppends } from './detached-appends.ts';
import type { EntityCall, Outcome } from './entity-call.ts';
import type { EntitySelection } from './entity-drain.ts';

/** Most UTF-16 units of a failure that are stored with its timer. */
const FAULT_UNITS_MAX = 1_000;

export interface FiringsNeeds {
  readonly journal: Pick<Journal, 'timer'>;
  readonly clock: WallClock;
  readonly random: RandomSource;
  readonly settings: TimerSettings;
  readonly detached: DetachedAppends;
  /** Returns why the module has no such command, as the end of a sentence about the timer; undefined if it has it. */
  readonly commandProblem: (target: EntityRef, command: string) => string | undefined;
  /** Submits the command of a firing to its entity. Throws SvcError. */
  readonly submit: (firing: Firing) => EntityCall;
  readonly deadTimerLog?: DeadTimerLog;
  /** Returns a failure as it may be stored and printed. Absent: as it is. */
  readonly shown?: (text: string) => string;
}

export class TimerFirings {
  readonly #needs: FiringsNeeds;
  /** The firings under way, each with its target. */
  readonly #underWay = new Map<Promise<FiringOutcome>, EntityRef>();

  constructor(needs: FiringsNeeds) {
    this.#needs = needs;
  }

  /** Does what `EntityEngine.fire` does. */
  fire(firing: Firing): Promise<FiringOutcome> {
    const outcome = this.#fired(firing);
    this.#underWay.set(outcome, firing.target);
    const ended = (): unknown => this.#underWay.delete(outcome);
    void outcome.then(ended, ended);
    return outcome;
  }

  /** Waits until the firings that are under way, or those whose target is selected, have ended. */
  async settled(selects: EntitySelection = () => true): Promise<void> {
    const underWay = [...this.#underWay].filter(([, target]) => selects(target));
    await Promise.all(underWay.map(([outcome]) => outcome));
  }

  async #fired(firing: Firing): Promise<FiringOutcome> {
    try {
      const { target, command, scheduleProblem } = firing;
      if (scheduleProblem !== undefined) return await this.#failed(firing, scheduleProblem, true);
      const problem = this.#needs.commandProblem(target, command);
      // Another module may have the command, such as the next one of svc dev, or the former one after a rollback.
      if (problem !== undefined) return await this.#failed(firing, `the timer ${problem}`);
      return await this.#settled(firing, await this.#needs.submit(firing).result());
    } catch (failure) {
      return this.#unanswered(firing, failure);
    }
  }

  async #settled(firing: Firing, outcome: Outcome): Promise<FiringOutcome> {
    if (outcome.kind === 'reply') return { kind: 'replied' };
    const { code, message } = outcome;
    if (code !== 'TOO_MANY_REQUESTS') return { kind: 'refused', code };
    return this.#failed(firing, `it was refused with TOO_MANY_REQUESTS: ${message}`);
  }

  async #unanswered(firing: Firing, failure: unknown): Promise<FiringOutcome> {
    if (failure instanceof SvcError) {
      if (failure.code === 'SVC_TIMER_GONE') return { kind: 'gone' };
      if (!FAULTS_OF_MODULES.has(failure.code)) return { kind: 'unavailable', failure };
    }
    try {
      return await this.#failed(firing, faultReason(failure));
    } catch (error) {
      if (error instanceof SvcError) return { kind: 'unavailable', failure: error };
      throw error;
    }
  }

  /**
   * Stores that the firing has failed. `isFinal`: another attempt would fail as well. Rejects with the failure of the
   * journal.
   */
  async #failed(firing: Firing, reason: string, isFinal = false): Promise<FiringOutcome> {
    const { journal, settings, clock, random, detached, shown = String } = this.#needs;
    const { number, dueMs, target } = firing;
    const timer = await journal.timer(number);
    if (!isWaitingFor(timer, firing)) return { kind: 'gone' };
    const attempts = timer.attempts + 1;
    const isDead = isFinal || attempts >= (timer.attemptsMax ?? settings.attemptsMax);
    // Before it is cut: a part of a secret is not recognized any more.
    const fault = printable(shown(reason).slice(0, FAULT_UNITS_MAX).toWellFormed());
    const end: FiringEnd = isDead
      ? { kind: 'dead', fault }
      : { kind: 'retry', nextMs: clock.nowMs() + retryPauseMs(attempts, settings, random), fault };
    const occurrence = { number, dueMs, attempts: timer.attempts };
    const failure = await detached.append(target, { firing: { occurrence, end }, changes: [] });
    if (failure?.code === 'SVC_TIMER_GONE') return { kind: 'gone' };
    if (failure !== undefined) throw failure;
    if (end.kind === 'retry') return { kind: 'retried', nextMs: end.nextMs };
    this.#needs.deadTimerLog?.(timer, attempts, fault);
    return { kind: 'dead' };
  }
}
