// The process in which `svc dev` has the service run. It ends with whoever started it: when the channel to that process
// closes, however it has ended.
import type { FromDevHost, ToDevHost } from './dev/dev-messages.ts';
import { stopRequest } from '@svc/kit/stop-request';

const toldToStop = Promise.withResolvers<string>();
void stopRequest(undefined, ['SIGINT', 'SIGTERM']).then(toldToStop.resolve);
// A terminal that is closed sends it to both processes; of this one the other decides.
process.on('SIGHUP', () => {});
process.on('disconnect', () => toldToStop.resolve('the process that started it has ended'));
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const tell = (message: FromDevHost): void => {
  if (process.connected) process.send?.(message);
};

const { DevLoop } = await import('./dev/dev-loop.ts');
const dev = new DevLoop(tell);
process.on('message', (message: ToDevHost) => dev.hear(message));
const { runDevService } = await import('./service/run-service.ts');
process.exitCode = await runDevService(
  { args: process.argv.slice(2), env: process.env, stderrIsTerminal: false },
  { dev, tell, toldToStop: toldToStop.promise },
);
// What nobody waits for any more must not keep the process.
if (process.connected) process.disconnect?.();
