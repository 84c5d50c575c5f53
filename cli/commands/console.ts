// svc console: serves the page that shows the services of this machine, until the command is stopped.
import { resolve } from 'node:path';
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE, type Command } from '../command.ts';
import { buildStalePage } from '../console-page.ts';
import { checkoutFolder } from '../installation.ts';
import { npmEnds } from '../npm-end.ts';
import { portOption } from '../port-option.ts';
import { printableLines } from '../printable.ts';
import { runningFolderSetting } from '../running-folder.ts';

type ConsolePackage = typeof import('@svc/console');

export const consoleCommand: Command = command(
  {
    name: 'console',
    summary: 'serve a page that looks into the services that run on this machine',
    about: `Serves a page that shows what the services of this machine do: requests as they come, traces,
entities and their past, faults; and that sends requests to their routes. It ends with ctrl-c or
SIGTERM.`,
    words: [],
    options: {
      port: {
        type: 'string',
        value: 'PORT',
        help: 'port of 127.0.0.1; 0 takes a free one',
        default: '9889',
      },
      'running-dir': {
        type: 'string',
        value: 'DIR',
        help: `where services register that run on this machine
(the setting svc.running.dir, SVC_RUNNING_DIR)`,
        otherwise: '~/.svc/running',
        completes: { kind: 'folder' },
      },
    },
    notes: `The page's address goes to stdout. It is served on the loopback interface alone.`,
    examples: ['svc console', 'svc console --port 0'],
  },
  async (_words, options) => {
    const port = portOption('console', '--port', options.port);
    const runningFolder = resolve(
      options['running-dir'] ?? runningFolderSetting(process.env['SVC_RUNNING_DIR']),
    );
    const stop = stopRequest();
    const { startConsole } = await loadConsole();
    const served = await startConsole({ port, runningFolder, failed: report });
    process.stderr.write(
      `Looking into the services that register in ${printable(runningFolder)}. Ctrl-c ends it.\n`,
    );
    process.stdout.write(`${served.url}\n`);
    await stop;
    await served.close();
    return EXIT_CODE.ok;
  },
);

/**
 * Loads the package of the console. In a checkout, also builds its page if the page is stale. Throws CommandFailure if
 * the package is not installed or the page cannot be built.
 */
async function loadConsole(): Promise<ConsolePackage> {
  const checkout = checkoutFolder();
  try {
    const found = await import('@svc/console');
    if (checkout !== undefined) buildStalePage(checkout);
    return found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CommandFailure(
      'SVC_CONSOLE_UNAVAILABLE',
      'The console is not installed here. Install the package @svc/console of the version that svc has.',
      { cause: error },
    );
  }
}

/** Prints an unexpected error of the console, which continues to serve its page. */
function report(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${printableLines(text)}\n`);
}

/** Resolves at SIGINT or SIGTERM, or when npm has ended without passing a signal on. */
async function stopRequest(): Promise<void> {
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop());
  void npmEnds(process.env['npm_lifecycle_event']).then(stop);
  return promise;
}
