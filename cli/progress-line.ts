// ProgressLine: how far a long command has come, in one line of a terminal's standard error that is written
// anew. On anything but a terminal it writes nothing.

const SHOWN_EVERY_MS = 250;
/** Before, what is left is a guess. */
const LEFT_SHOWN_FROM_MS = 1_000;

export class ProgressLine {
  readonly #begunMs = performance.now();
  readonly #isShown = process.stderr.isTTY;
  #shownMs = -Infinity;

  /** `what`: `events`. `total`: undefined where nobody knows it. */
  show(done: number, total: number | undefined, what: string): void {
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#shownMs < SHOWN_EVERY_MS) return;
    this.#shownMs = nowMs;
    process.stderr.write(`\r\u001b[K${progressText(done, total, what, nowMs - this.#begunMs)}`);
  }

  /** The next line begins where it stood. */
  clear(): void {
    if (this.#isShown && this.#shownMs > -Infinity) process.stderr.write('\r\u001b[K');
    this.#shownMs = -Infinity;
  }
}

/** `12,000 of 50,000 events (24 %), 3 s left` */
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

export function numberText(number: number): string {
  return number.toLocaleString('en-US');
}

function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6_000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
