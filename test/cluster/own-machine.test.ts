// A process on a machine of its own sees the clocks that the test sets, and reaches others by the route that the test gives it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { OwnMachine, ownMachineProblem } from '../support/cluster-faults/own-machine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOUR_MS = 3_600_000;
const problem = ownMachineProblem();
if (problem !== undefined) console.log(`not tested with clocks that are set: ${problem}`);

/** Answers each line of its input with its clocks, in milliseconds, after a pause by its own timer. */
const CLOCKS = `
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('line', () => setTimeout(() => console.log(Date.now() + ' ' + performance.now()), 10));
`;

/** Connects to the port that it is given, and prints what it gets. */
const CONNECTION = `require('node:net').connect(Number(process.argv[1]), '127.0.0.2').pipe(process.stdout);`;

function started(machine: OwnMachine) {
  const child = spawn(process.execPath, ['-e', CLOCKS], {
    env: { ...process.env, ...machine.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  const clocks = async () => {
    child.stdin.write('\n');
    const [line] = (await once(lines, 'line')) as [string];
    const [wallMs, monotonicMs] = line.split(' ').map(Number);
    return { wallMs: wallMs!, monotonicMs: monotonicMs! };
  };
  return { child, clocks };
}

test.skipIf(problem !== undefined)('the wall clock is set, and set back', async () => {
  const machine = new OwnMachine(join(temporaryFolder(), 'clocks'));
  const { clocks } = started(machine);
  machine.setWallClock(HOUR_MS);
  const set = await clocks();
  expect(set.wallMs - Date.now()).toBeGreaterThan(HOUR_MS / 2);
  machine.setWallClock(0);
  const healed = await clocks();
  expect(healed.wallMs).toBeLessThanOrEqual(Date.now());
  expect(healed.monotonicMs).toBeGreaterThan(set.monotonicMs);
});

test.skipIf(problem !== undefined)(
  'the monotonic clock does not show the time for which the machine was suspended',
  async () => {
    const machine = new OwnMachine(join(temporaryFolder(), 'clocks'));
    const { child, clocks } = started(machine);
    const before = await clocks();
    child.kill('SIGSTOP');
    const stoppedMs = performance.now();
    await delay(200);
    const suspendedMs = performance.now() - stoppedMs;
    machine.wasSuspended(suspendedMs);
    child.kill('SIGCONT');
    const after = await clocks();
    const monotonicMs = after.monotonicMs - before.monotonicMs;
    expect(monotonicMs).toBeGreaterThan(0);
    // Both clocks are read one after the other.
    expect(after.wallMs - before.wallMs - monotonicMs).toBeGreaterThan(suspendedMs / 2);
  },
);

test.skipIf(problem !== undefined)('connections to other machines take the route', async () => {
  const server = createServer((socket) => socket.end('by the route'));
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.1.1');
  await once(server, 'listening');
  const route = { peers: '127.0.0.2', to: '127.0.1.1' };
  const machine = new OwnMachine(join(temporaryFolder(), 'clocks'), route);
  const { port } = server.address() as AddressInfo;
  const child = spawn(process.execPath, ['-e', CONNECTION, String(port)], {
    env: { ...process.env, ...machine.env },
  });
  const chunks: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  await once(child, 'close');
  expect(chunks.join('')).toBe('by the route');
});
