// Until: waits until a condition is met, and fails if it never is.
import { setTimeout as pause } from 'node:timers/promises';

const TIME_MS = 60_000;

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + TIME_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition is not met after a minute');
    await pause(5);
  }
}
