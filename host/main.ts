// The host's process: listens for what stops it, and only then loads and runs the service.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Who read what is written here may be gone (a closed pipe); the service is not theirs to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runService } = await import('./service/run-service.ts');
process.exitCode = await runService(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
