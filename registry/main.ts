// The entry point of the registry's process: it listens for stop requests, and only then loads and runs the registry.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the registry.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runRegistry } = await import('./run-registry.ts');
process.exitCode = await runRegistry(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
