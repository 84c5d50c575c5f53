// The entry point of the login provider's process: it listens for stop requests, and only then loads and runs the provider.
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = stopRequest(process.env['SVC_PARENT_PID']);
// Writing to a pipe that its reader has closed emits an error. Without a listener the error would end the provider.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const { runLoginProvider } = await import('./run-login-provider.ts');
process.exitCode = await runLoginProvider(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: process.stderr.isTTY },
  stopRequested,
);
