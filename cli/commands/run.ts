// svc run: becomes the host. The host reads the flags itself (host/settings.ts), so that each exists once.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Command, ExitCode } from '../command.ts';

const host = fileURLToPath(import.meta.resolve('@svc/host/main'));

export const run: Command = {
  help: `Serves a module until it is told to stop (ctrl-c or SIGTERM).

Usage: svc run MODULE.wasm [--port 9000] [--host ADDRESS] [--data DIR] [--name NAME]
       svc run --deployed [MODULE.wasm]

  --port PORT       HTTP port; 0 takes a free one                 (default 9000)
  --host ADDRESS    address to listen on                          (default 127.0.0.1)
  --data DIR        folder of the journal, made when missing      (default .svc/NAME)
  --name NAME       name of the service            (default: the module file's name)
  --log FORMAT      'text' or 'json'      (default: text on a terminal, json elsewhere)
  --deployed        not a developer's machine: listens on every address, takes every caller for
                    the internet, logs json; the module is /service/module.wasm and the journal
                    lies in /data, unless said otherwise
  --set NAME=VALUE  any other setting, by its dotted name; may be repeated
                    (docs/reference/settings.md lists them)

Every setting can also be given by the environment: svc.http.port is SVC_HTTP_PORT.
The log goes to stderr; once the service listens, its address goes to stdout.

Examples:
  svc run shopping-cart.wasm
  svc run shopping-cart.wasm --port 0 --data /var/lib/carts --set svc.http.answer-timeout-ms=5000
`,
  async run(args): Promise<ExitCode> {
    const command = [process.execPath, '--disable-warning=ExperimentalWarning', host, ...args];
    if (process.platform !== 'win32' && process.execve !== undefined)
      process.execve(process.execPath, command, process.env);
    process.on('SIGINT', () => {});
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    const child = spawn(command[0]!, command.slice(1), { stdio: 'inherit' });
    const { promise, resolve } = Promise.withResolvers<number>();
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    process.exit(await promise);
  },
};
