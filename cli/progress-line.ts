// ProgressLine: the progress of a long command, as one line that is redrawn on standard error. If standard error is not
// a terminal, nothing is written.

/** Minimum time between two redraws, in milliseconds. */
const SHOWN_EVERY_MS = 250;
/** Time after which the remaining time is displayed, in milliseconds. An earlier estimate would be too inexact. */
const LEFT_SHOWN_FROM_MS = 1_000;

export class ProgressLine {
  readonly #begunMs = performance.now();
  readonly #isShown = process.stderr.isTTY;
  /** Time of the last redraw; -Infinity if no line is displayed. */
  #shownMs = -Infinity;

  /** Redraws the line. `what`: noun of the items, such as `events`. `total`: undefined if it is unknown. */
  show(done: number, total: number | undefined, what: string): void {
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#shownMs < SHOWN_EVERY_MS) return;
    this.#shownMs = nowMs;
    process.stderr.write(`\r\u001b[K${progressText(done, total, what, nowMs - this.#begunMs)}`);
  }

  /** Erases the line; the next output begins at its start. */
  clear(): void {
    if (this.#isShown && this.#shownMs > -Infinity) process.stderr.write('\r\u001b[K');
    this.#shownMs = -Infinity;
  }
}

/**
 * Returns a text such as `12,000 of 50,000 events (24 %), 3 s left`; without the remaining time in the first second,
 * and only `12,000 events` if the total is unknown.
 */
export function progressText(
  done: number,
  total: number | undefined,
  what: string,
  tookMs: number,
): string {
  if (total === undefined) return `${numberText(done)} ${what}`;
  const share = total === 0 ? 1 : done / total;
  const text = `${numberText(done)} of ${numberText(total)} ${what} (${Math.floor(share * 100)} %)`;
  if (done === 0 || tookMs < LEFT_SHOWN_FROM_MS) return text;
  return `${text}, ${timeText((tookMs / share) * (1 - share))} left`;
}

/** Returns a number with commas between the thousands. */
export function numberText(number: number): string {
  return number.toLocaleString('en-US');
}

function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6_000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
