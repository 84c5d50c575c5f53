// RetryPause: how long a failed firing waits until it is tried again. The pause is drawn between nothing and a limit that
// doubles with each failure ("full jitter"), so that firings which have failed together are not tried again together.
import type { RandomSource } from './needs/clock.ts';
import type { TimerSettings } from './timer-settings.ts';

/**
 * Returns the pause before the next attempt, in whole milliseconds: at least 0, and less than `retryPauseMs` after one
 * failure, than twice as much after two, and so on up to `retryPauseMaxMs`. `failures`: at least 1.
 */
export function retryPauseMs(
  failures: number,
  settings: Pick<TimerSettings, 'retryPauseMs' | 'retryPauseMaxMs'>,
  random: RandomSource,
): number {
  const limitMs = Math.min(settings.retryPauseMs * 2 ** (failures - 1), settings.retryPauseMaxMs);
  return Number(random.next64() % BigInt(limitMs));
}
