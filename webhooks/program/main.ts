// The entry point of the webhook service's process: it listens for stop requests, and only then loads and runs the service.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runWebhooks } = await import('./run-webhooks.ts');
process.exitCode = await runWebhooks(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
