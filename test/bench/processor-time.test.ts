// The processor time of a process, as the measurements of proxies read it.
import { expect, test } from 'vitest';
import { processorUs } from '../../bench/processor-time.ts';

const TICK_US = 10_000;
const LEAST_US = 5 * TICK_US;

function usedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

test('is what the process itself counts, to a tick for each of user and system', () => {
  while (usedUs() < LEAST_US);
  const beforeUs = usedUs();
  const readUs = processorUs(process.pid);
  expect(readUs).toBeGreaterThanOrEqual(beforeUs - 2 * TICK_US);
  expect(readUs).toBeLessThanOrEqual(usedUs() + 2 * TICK_US);
});
