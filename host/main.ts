// The entry point of the host's process: it listens for stop requests, and only then loads and runs the service.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runService } = await import('./service/run-service.ts');
const { takeListeningSockets } = await import('@svc/kit/listening-sockets');
process.exitCode = await runService(
  {
    args: process.argv.slice(2),
    sockets: takeListeningSockets(process.env, [process.pid, process.ppid]),
    env: process.env,
    stderrIsTerminal: process.stderr.isTTY,
  },
  stopRequested,
);
