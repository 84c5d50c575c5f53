// The entry point of the gateway's process: it listens for stop requests, and only then loads and runs the gateway.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the gateway.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runGateway } = await import('./run-gateway.ts');
process.exitCode = await runGateway(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
