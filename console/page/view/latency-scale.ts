// LatencyScale: maps the last two minutes to coordinates of the plot: time to the right, latency upwards on a
// logarithmic scale from 0.1 ms to 10 s. The functions are pure.
import type { LiveSecond } from '@svc/contract';

export const SECONDS_SHOWN = 120;
/** Fraction of a second's width that the bar of its requests takes. */
const BAR_SHARE = 0.7;
const LEAST_MS = 0.1;
const MOST_MS = 10_000;
export const LATENCY_TICKS_MS = [0.1, 1, 10, 100, 1000, 10_000] as const;

/** Returns the height of a latency: 0 is the bottom, 1 the top. */
export function latencyHeight(ms: number): number {
  const bounded = Math.min(MOST_MS, Math.max(LEAST_MS, ms));
  return Math.log10(bounded / LEAST_MS) / Math.log10(MOST_MS / LEAST_MS);
}

/**
 * Returns the horizontal position of a second: 0 is the left, 1 the right. The newest second is at the right, even if
 * there are few.
 */
export function secondPosition(at: number, count: number): number {
  return (SECONDS_SHOWN - count + at + 0.5) / SECONDS_SHOWN;
}

/** Returns the index of the second at a position; undefined if there is none yet. */
export function secondAt(position: number, count: number): number | undefined {
  const at = Math.round(position * SECONDS_SHOWN - 0.5) - (SECONDS_SHOWN - count);
  return at >= 0 && at < count ? at : undefined;
}

/** Returns the latency as an SVG path; a second without requests is a gap in the line. */
export function latencyPath(
  seconds: readonly LiveSecond[],
  of: (second: LiveSecond) => number | null,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  let path = '';
  let isDrawing = false;
  const wide = (width / SECONDS_SHOWN) * BAR_SHARE;
  for (const [at, second] of seconds.entries()) {
    const ms = of(second);
    if (ms === null) {
      isDrawing = false;
      continue;
    }
    const x = round(secondPosition(at, seconds.length) * width);
    const y = round(height - latencyHeight(ms) * height);
    // A line begins with a stroke as wide as the bar of its second, so that a single point is visible.
    path += isDrawing ? `L${x} ${y}` : `M${round(x - wide / 2)} ${y}h${round(wide)}`;
    isDrawing = true;
  }
  return path;
}

/** Returns the bars of the requests of each second, as one SVG path. `slots`: number of seconds on the whole width. */
export function requestBars(
  requests: readonly number[],
  { width, height }: { readonly width: number; readonly height: number },
  slots = requests.length,
): string {
  const most = Math.max(1, ...requests);
  const step = width / Math.max(1, slots);
  return requests
    .map((count, at) => {
      if (count === 0) return '';
      const x = round((slots - requests.length + at) * step);
      const tall = Math.max(1, (count / most) * height);
      return `M${x} ${height}v${round(-tall)}h${round(step * BAR_SHARE)}v${round(tall)}z`;
    })
    .join('');
}

export interface RecentNumbers {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly timedOut: number;
}

/** Returns the sums over the last `count` seconds. */
export function recentNumbers(seconds: readonly LiveSecond[], count: number): RecentNumbers {
  const sum = { requests: 0, refused: 0, failed: 0, timedOut: 0 };
  for (const second of seconds.slice(-count)) {
    sum.requests += second.requests;
    sum.refused += second.refused;
    sum.failed += second.failed;
    sum.timedOut += second.timedOut;
  }
  return sum;
}

function round(amount: number): number {
  return Math.round(amount * 100) / 100;
}
