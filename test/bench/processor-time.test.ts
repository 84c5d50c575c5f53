// The processor time of a process, as the measurements of proxies read it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { familyUs, processorUs } from '../../bench/processor-time.ts';

const TICK_US = 10_000;
const LEAST_US = 5 * TICK_US;
/** A program that uses LEAST_US at least. */
const BUSY = `while (process.cpuUsage().user < ${LEAST_US + 2 * TICK_US});`;

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

test('of a process and its children counts children that run and, on Linux, those that have ended', async () => {
  // The shell starts another one, waits until that has ended, and then starts one that runs until it is killed.
  const script = `node -e '${BUSY}'; echo ended; node -e '${BUSY}; console.log("busy"); setInterval(() => {}, 1e6)' & wait`;
  const shell = spawn('sh', ['-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    let printed = '';
    for await (const text of shell.stdout.setEncoding('utf8')) {
      printed += text as string;
      if (printed.includes('busy')) break;
    }
    expect(familyUs(shell.pid!)).toBeGreaterThanOrEqual(
      (process.platform === 'linux' ? 2 : 1) * LEAST_US,
    );
    expect(processorUs(shell.pid!)).toBeLessThan(LEAST_US);
  } finally {
    process.kill(-shell.pid!, 'SIGKILL');
    await once(shell, 'close');
  }
});
