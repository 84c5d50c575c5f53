// The entry point of the control plane's process: it listens for stop requests, and only then loads and runs the control plane.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the control plane.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runControlPlane } = await import('./run-control-plane.ts');
process.exitCode = await runControlPlane(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
