// Supervision decides what happens to the programs of one machine: in which order they start and end, when one that has ended starts
// again, and when that is given up. It knows no process and no clock: events go in, effects come out.
//
// Invariants
// V1  A program starts only while none of its runs goes on, and never once a stop has begun.
// V2  Programs end in the reverse of their order, each once the one after it has ended.
// V3  A program that was ready once is started again for ever; the pauses double up to a bound while it fails.

export interface SupervisionLimits {
  /** Pause before a program that has ended is started again, in milliseconds. It doubles with each further failure. */
  readonly restartPauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly restartPauseMaxMs: number;
  /** Time that a program has to be ready until its former ends are forgotten, in milliseconds. */
  readonly stableMs: number;
  /** Starts in a row after which a program that was never ready counts as broken. */
  readonly startsMax: number;
  /** Time for a program to end after SIGTERM, in milliseconds; then it is killed. */
  readonly stopTimeoutMs: number;
}

export const SUPERVISION_LIMITS: SupervisionLimits = {
  restartPauseMs: 100,
  restartPauseMaxMs: 30_000,
  stableMs: 10_000,
  startsMax: 3,
  stopTimeoutMs: 15_000,
};

export interface SupervisedProgram {
  readonly name: string;
  /** Name of an earlier program that has to be ready before the first start of this one. */
  readonly after?: string;
}

export type SupervisionEffect =
  | { readonly kind: 'start'; readonly name: string }
  | { readonly kind: 'signal'; readonly name: string; readonly signal: 'SIGTERM' | 'SIGKILL' }
  /** Every program is ready for the first time. */
  | { readonly kind: 'all-ready' }
  /** The program cannot be started, and the stop of all has begun. */
  | { readonly kind: 'broken'; readonly name: string }
  /** No program runs any more, after a stop. */
  | { readonly kind: 'stopped' };

interface Program extends SupervisedProgram {
  phase: 'waiting' | 'running' | 'ready' | 'paused' | 'stopping' | 'ended';
  wasReady: boolean;
  /** Ends in a row that nobody asked for. */
  failures: number;
  readySinceMs: number;
  /** End of its pause, or time at which it is killed, in milliseconds. */
  dueMs: number | undefined;
}

export class Supervision {
  readonly #limits: SupervisionLimits;
  readonly #programs: readonly Program[];
  #wasAllReady = false;
  #isStopping = false;

  constructor(programs: readonly SupervisedProgram[], limits = SUPERVISION_LIMITS) {
    this.#limits = limits;
    this.#programs = programs.map((program) => ({
      ...program,
      phase: 'waiting',
      wasReady: false,
      failures: 0,
      readySinceMs: 0,
      dueMs: undefined,
    }));
  }

  /** Time at which `advance` has something to do; undefined: none. */
  get dueMs(): number | undefined {
    const times = this.#programs.flatMap(({ dueMs }) => dueMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  start(): readonly SupervisionEffect[] {
    return this.#startWaiting();
  }

  ready(name: string, nowMs: number): readonly SupervisionEffect[] {
    const program = this.#find(name);
    if (program.phase !== 'running') return [];
    Object.assign(program, { phase: 'ready', wasReady: true, readySinceMs: nowMs });
    const isFirst = !this.#wasAllReady && this.#programs.every(({ wasReady }) => wasReady);
    this.#wasAllReady ||= isFirst;
    return [...this.#startWaiting(), ...(isFirst ? [{ kind: 'all-ready' } as const] : [])];
  }

  /**
   * The run of the program has ended, or could not begin. `wasAsked`: it ended well, as it does on SIGTERM, so whoever sent that wants the next run
   * at once.
   */
  ended(name: string, nowMs: number, wasAsked = false): readonly SupervisionEffect[] {
    const program = this.#find(name);
    const { restartPauseMs, restartPauseMaxMs, stableMs, startsMax } = this.#limits;
    if (this.#isStopping) {
      Object.assign(program, { phase: 'ended', dueMs: undefined });
      return this.#stopNext(nowMs);
    }
    const isStable =
      program.phase === 'ready' && (wasAsked || nowMs - program.readySinceMs >= stableMs);
    program.failures = isStable ? 1 : program.failures + 1;
    if (!program.wasReady && program.failures >= startsMax) {
      program.phase = 'ended';
      return [{ kind: 'broken', name }, ...this.stop(nowMs)];
    }
    const pauseMs = Math.min(restartPauseMaxMs, restartPauseMs * 2 ** (program.failures - 1));
    Object.assign(program, { phase: 'paused', dueMs: nowMs + pauseMs });
    return [];
  }

  /** Begins to end all programs. Doing it again has no effect. */
  stop(nowMs: number): readonly SupervisionEffect[] {
    if (this.#isStopping) return [];
    this.#isStopping = true;
    for (const program of this.#programs)
      if (program.phase === 'waiting' || program.phase === 'paused')
        Object.assign(program, { phase: 'ended', dueMs: undefined });
    return this.#stopNext(nowMs);
  }

  /** Does what is due by now. */
  advance(nowMs: number): readonly SupervisionEffect[] {
    const effects: SupervisionEffect[] = [];
    for (const program of this.#programs) {
      if (program.dueMs === undefined || program.dueMs > nowMs) continue;
      program.dueMs = undefined;
      const { name } = program;
      if (program.phase === 'stopping') effects.push({ kind: 'signal', name, signal: 'SIGKILL' });
      else {
        program.phase = 'running';
        effects.push({ kind: 'start', name });
      }
    }
    return effects;
  }

  #startWaiting(): readonly SupervisionEffect[] {
    const effects: SupervisionEffect[] = [];
    for (const program of this.#programs) {
      const { name, after } = program;
      if (program.phase !== 'waiting') continue;
      if (after !== undefined && !this.#find(after).wasReady) continue;
      program.phase = 'running';
      effects.push({ kind: 'start', name });
    }
    return effects;
  }

  #stopNext(nowMs: number): readonly SupervisionEffect[] {
    const last = this.#programs.findLast(({ phase }) => phase !== 'ended');
    if (last === undefined) return [{ kind: 'stopped' }];
    if (last.phase === 'stopping') return [];
    Object.assign(last, { phase: 'stopping', dueMs: nowMs + this.#limits.stopTimeoutMs });
    return [{ kind: 'signal', name: last.name, signal: 'SIGTERM' }];
  }

  #find(name: string): Program {
    const program = this.#programs.find((one) => one.name === name);
    if (program === undefined) throw new TypeError(`no program is named ${name}`);
    return program;
  }
}
