// PolitePace lets a building rest as long as it worked, while other threads of the process work. While nothing else does, the
// building does not rest.
import type { BuildingPace } from './shared-building.ts';

/** Share of a processor that other threads have to use to count as working. */
const BUSY_SHARE = 0.1;
const MICROSECONDS_PER_MS = 1_000;

export interface PaceClock {
  /** Milliseconds of a clock that never jumps. */
  nowMs(): number;
  /** Processor time that the other threads of the process have used, in milliseconds. */
  othersMs(): number;
  sleep(ms: number): Promise<void>;
}

export class PolitePace implements BuildingPace {
  readonly #clock: PaceClock;
  #sinceMs: number;
  #othersMs: number;

  constructor(clock: PaceClock) {
    this.#clock = clock;
    this.#sinceMs = clock.nowMs();
    this.#othersMs = clock.othersMs();
  }

  async rest(tookMs: number): Promise<void> {
    const clock = this.#clock;
    const passedMs = clock.nowMs() - this.#sinceMs;
    const areBusy = clock.othersMs() - this.#othersMs > passedMs * BUSY_SHARE;
    this.#sinceMs = clock.nowMs();
    this.#othersMs = clock.othersMs();
    // Without work of others, it still lets the thread's own messages through.
    await clock.sleep(areBusy ? tookMs : 0);
  }
}

/** The clock of this thread and process. */
export const threadPaceClock: PaceClock = {
  nowMs: () => performance.now(),
  othersMs() {
    const all = process.cpuUsage();
    const own = process.threadCpuUsage();
    return (all.user + all.system - own.user - own.system) / MICROSECONDS_PER_MS;
  },
  sleep: (ms) =>
    new Promise((resolve) => {
      if (ms <= 0) setImmediate(resolve);
      else setTimeout(resolve, ms);
    }),
};
