// `npm run slow-bodies -- [--megabytes N] [--megabytes-per-second N]`: sends a body of N megabytes each way through the proxy and
// TLS, both at the same time, to readers that take so many megabytes per second, and prints the memory of the proxy. The
// defaults, 2,048 at 1, take 35 minutes. The exit code is 1 if the memory grew by 32 MiB or more, or if the bodies did not arrive.
// The proxy ends with the script, also after SIGINT and SIGTERM.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { slowBodies, type SlowBodiesMeasured } from '../test/support/web-pods/slow-bodies.ts';

const MIB = 1024 * 1024;
const GROWTH_BYTES_MAX = 32 * MIB;
const REPORT_MS = 60_000;

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '2048' },
    'megabytes-per-second': { type: 'string', default: '1' },
  },
});
const bytes = Math.round(Number(values.megabytes) * MIB);
const bytesPerSecond = Number(values['megabytes-per-second']) * MIB;
if (!(bytes > 0) || !(bytesPerSecond > 0)) {
  process.stderr.write(
    'Usage: npm run slow-bodies -- [--megabytes N] [--megabytes-per-second N]\n',
  );
  process.exit(2);
}

function mib(count: number): string {
  return (count / MIB).toFixed(1);
}

function lineOf(measured: SlowBodiesMeasured): string {
  const { sentBytes, receivedBytes, beginRssBytes, mostRssBytes } = measured;
  return `${mib(sentBytes)} MiB up, ${mib(receivedBytes)} MiB down; memory ${mib(beginRssBytes)} MiB at the beginning, at most ${mib(mostRssBytes)} MiB, growth ${mib(mostRssBytes - beginRssBytes)} MiB\n`;
}

const folder = mkdtempSync(join(tmpdir(), 'svc-slow-bodies-'));
let reportedMs = performance.now();
let signalled: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => (signalled = signal));
try {
  const measured = await slowBodies({
    folder,
    bytes,
    bytesPerSecond,
    onProgress: (soFar) => {
      if (signalled !== undefined) throw new Error(`ended by ${signalled}`);
      if (performance.now() < reportedMs + REPORT_MS) return;
      reportedMs = performance.now();
      process.stdout.write(lineOf(soFar));
    },
  });
  process.stdout.write(lineOf(measured));
  if (measured.mostRssBytes - measured.beginRssBytes >= GROWTH_BYTES_MAX) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`The bodies have not arrived: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
