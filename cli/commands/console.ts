// svc console: serves the page that shows the services of this machine, and the webhooks of a tenant, until the command is
// stopped.
import { resolve } from 'node:path';
import type { ConsoleWebhooks } from '@svc/console';
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE, type Command } from '../command.ts';
import { buildStalePage } from '../console-page.ts';
import { checkoutFolder } from '../installation.ts';
import { npmEnds } from '../npm-end.ts';
import { readContexts } from '../platform/contexts.ts';
import { readEnvironment } from '../platform/environment.ts';
import { Platform } from '../platform/platform.ts';
import { findTarget, type Target } from '../platform/target.ts';
import { portOption } from '../port-option.ts';
import { printableLines } from '../printable.ts';
import { runningFolderSetting } from '../running-folder.ts';
import { UsageError } from '../usage-error.ts';
import { TENANT_OPTION } from '../webhooks/tenant-option.ts';

type ConsolePackage = typeof import('@svc/console');

export const consoleCommand: Command = command(
  {
    name: 'console',
    summary: 'serve a page that looks into the services that run on this machine',
    about: `Serves a page that shows what the services of this machine do: requests as they come, traces,
entities and their past, faults; and that sends requests to their routes. With a tenant of an
installation, the page has the webhooks of the tenant, too, with your login. It ends with ctrl-c or
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
      tenant: { ...TENANT_OPTION, help: 'tenant of the webhooks' },
    },
    notes: `The page's address goes to stdout. It is served on the loopback interface alone.`,
    examples: ['svc console', 'svc console --port 0', 'svc console --tenant acme'],
  },
  async (_words, options) => {
    const port = portOption('console', '--port', options.port);
    const runningFolder = resolve(
      options['running-dir'] ?? runningFolderSetting(process.env['SVC_RUNNING_DIR']),
    );
    const webhooks = chosenWebhooks(options.tenant);
    const stop = stopRequest();
    const { startConsole } = await loadConsole();
    const served = await startConsole({
      port,
      runningFolder,
      ...(webhooks !== undefined && { webhooks }),
      failed: report,
    });
    process.stderr.write(
      `Looking into the services that register in ${printable(runningFolder)}. Ctrl-c ends it.\n`,
    );
    if (webhooks !== undefined)
      process.stderr.write(
        `Its webhooks are those of the tenant ${printable(webhooks.tenant)} at ${printable(webhooks.url)}.\n`,
      );
    process.stdout.write(`${served.url}\n`);
    await stop;
    await served.close();
    return EXIT_CODE.ok;
  },
);

/**
 * Returns the webhooks of the tenant that is asked for, or of the one that is chosen for all commands; undefined if there is
 * none. Reads no login. Throws UsageError and SVC_CONTEXT_INVALID for a tenant that is asked for; a context that cannot be
 * used must not keep the user from looking into services.
 */
function chosenWebhooks(asked: string | undefined): ConsoleWebhooks | undefined {
  try {
    const target = asked === undefined ? chosenTarget() : findTarget(readEnvironment());
    const tenant = asked ?? target?.tenant;
    if (target === undefined || tenant === undefined) return undefined;
    return { url: target.url, tenant, client: new Platform(target).webhooks() };
  } catch (error) {
    const isKnown = error instanceof CommandFailure || error instanceof UsageError;
    if (asked !== undefined || !isKnown) throw error;
    process.stderr.write(`${printable(`The page has no webhooks: ${error.message}`)}\n`);
    return undefined;
  }
}

/** Returns the installation that the user has chosen; undefined if none is. */
function chosenTarget(): Target | undefined {
  const environment = readEnvironment();
  const { variables, folders } = environment;
  const isNamed = variables.SVC_URL !== undefined || variables.SVC_CONTEXT !== undefined;
  const isChosen = isNamed || readContexts(folders).current !== undefined;
  return isChosen ? findTarget(environment) : undefined;
}

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
