// The entry point of the proxy's process: it listens for stop requests, and only then loads and runs the proxy.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the proxy.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runProxy } = await import('./run-proxy.ts');
process.exitCode = await runProxy(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
