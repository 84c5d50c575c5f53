// DevHost is the entry point of the process in which `svc dev` runs the service. It ends with its parent process:
// when the channel to that process closes, whatever the reason.
import type { FromDevHost, ToDevHost } from './dev/dev-messages.ts';
import { stopRequest } from '@svc/kit/stop-request';

const stopRequested = Promise.withResolvers<string>();
void stopRequest(undefined, ['SIGINT', 'SIGTERM']).then(stopRequested.resolve);
// Closing a terminal sends SIGHUP to both processes; the parent decides when this one stops.
process.on('SIGHUP', () => {});
process.on('disconnect', () => stopRequested.resolve('the process that started it has ended'));
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const send = (message: FromDevHost): void => {
  if (process.connected) process.send?.(message);
};

const { DevLoop } = await import('./dev/dev-loop.ts');
const dev = new DevLoop(send);
process.on('message', (message: ToDevHost) => dev.onMessage(message));
const { runDevService } = await import('./service/run-service.ts');
process.exitCode = await runDevService(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: false },
  { dev, send, stopRequested: stopRequested.promise },
);
// The channel would keep the process alive.
if (process.connected) process.disconnect?.();
