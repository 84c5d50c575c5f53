// svc up: runs an installation on this machine: control plane, gateway and login provider.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stopRequest } from '@svc/kit/stop-request';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { layoutOf, type MachineLayout } from '../one-machine/machine-layout.ts';
import { readOwner } from '../one-machine/machine-owner.ts';
import { runMachine } from '../one-machine/running-machine.ts';
import { CONTEXT_NAME } from '../platform/contexts.ts';
import { readEnvironment } from '../platform/environment.ts';
import { portOption } from '../port-option.ts';
import { UsageError } from '../usage-error.ts';

/** Interval at which a start in the background is looked at, in milliseconds. */
const LOOK_MS = 100;
const READY_MS_MAX = 120_000;

export const MACHINE_FOLDER_OPTION = {
  type: 'string',
  value: 'DIR',
  help: 'folder of the installation',
  otherwise: '~/.local/state/svc/machine',
  completes: { kind: 'folder' },
} as const;

export const up = command(
  {
    name: 'up',
    summary: 'run an installation on this machine',
    about: `Runs control plane, gateway, registry and login provider on this machine, and starts them again
when they end. Ctrl-c stops them and all services. The login provider asks for no password, so use
it for development only.`,
    words: [],
    options: {
      detach: { type: 'boolean', short: 'd', help: 'continue in the background once all is ready' },
      folder: MACHINE_FOLDER_OPTION,
      'base-domain': {
        type: 'string',
        value: 'DOMAIN',
        help: 'domain of all hostnames',
        otherwise: 'as before; svc.localhost',
      },
      port: {
        type: 'string',
        value: 'PORT',
        help: 'port of the gateway',
        otherwise: 'as before; 443 if it is free, or 8443',
      },
      'http-port': {
        type: 'string',
        value: 'PORT',
        help: 'port that redirects to HTTPS; 0: none',
        otherwise: '80 if it is free',
      },
      host: {
        type: 'string',
        value: 'ADDRESS',
        help: 'address of the gateway',
        default: '127.0.0.1',
      },
      'api-port': {
        type: 'string',
        value: 'PORT',
        help: 'port of the control plane',
        default: '7640',
      },
      'login-port': {
        type: 'string',
        value: 'PORT',
        help: 'port of the login provider',
        default: '7641',
      },
      'registry-port': {
        type: 'string',
        value: 'PORT',
        help: 'port of the registry',
        default: '7642',
      },
      webhooks: { type: 'boolean', help: 'run the webhook service, too' },
      'webhooks-port': {
        type: 'string',
        value: 'PORT',
        help: 'port of the webhook service',
        default: '7643',
      },
      postgres: {
        type: 'boolean',
        help: 'run a PostgreSQL server for modules and webhooks, from now on',
      },
      people: {
        type: 'string',
        value: 'FILE',
        help: 'people and machines that can log in',
        otherwise: 'in the folder',
      },
      context: {
        type: 'string',
        value: 'NAME',
        help: 'context that commands find the installation by',
        default: 'local',
      },
      'new-authority': {
        type: 'boolean',
        help: 'make other authorities of certificates: the former ones are lost',
      },
      'log-files': {
        type: 'boolean',
        help: 'write the output of each program to files below log/',
      },
    },
    notes: `Services continue when it is stopped by SIGTERM, or killed: the next svc up finds them. svc down
stops everything. docs/how-to/one-machine.md explains the folder.`,
    examples: ['svc up', 'svc up -d', 'svc up --folder /srv/svc --port 8443'],
  },
  async (_words, options) => {
    const { folders } = readEnvironment();
    const layout = layoutOf(options.folder ?? join(folders.state, 'machine'));
    if (!CONTEXT_NAME.test(options.context))
      throw new UsageError(
        `--context takes letters, digits, '.', '_' and '-', and found '${options.context}'.`,
      );
    const { detach, port, 'http-port': httpPort, people, postgres } = options;
    const machine = {
      layout,
      domain: options['base-domain'],
      port: port === undefined ? undefined : portOption('up', '--port', port, 1),
      httpPort: httpPort === undefined ? undefined : portOption('up', '--http-port', httpPort),
      host: options.host,
      ports: {
        controlPlane: portOption('up', '--api-port', options['api-port'], 1),
        loginProvider: portOption('up', '--login-port', options['login-port'], 1),
        registry: portOption('up', '--registry-port', options['registry-port'], 1),
        webhooks: options.webhooks
          ? portOption('up', '--webhooks-port', options['webhooks-port'], 1)
          : undefined,
      },
      peopleFile: people === undefined ? undefined : resolve(people),
      postgres,
      isNewAuthority: options['new-authority'],
      hasLogFiles: options['log-files'],
      context: options.context,
      folders,
      env: process.env,
    };
    if (detach) await startInBackground(layout);
    else await runMachine(machine, stopRequest(npmParent()));
    return EXIT_CODE.ok;
  },
);

/** A command that npm has started ends with it. */
function npmParent(): string | undefined {
  return process.env['npm_lifecycle_event'] === undefined ? undefined : String(process.ppid);
}

/** Starts the same command as a process of its own. Resolves once everything is ready; rejects if that process ends before. */
async function startInBackground({ logs, ...layout }: MachineLayout): Promise<void> {
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const file = join(logs, 'up.log');
  const output = openSync(file, 'w', 0o600);
  const words = process.argv.slice(2).filter((word) => word !== '-d' && word !== '--detach');
  // The process in the background outlives this one, and with it what npm has started.
  const { npm_lifecycle_event: _event, ...env } = process.env;
  const child = spawn(process.execPath, [process.argv[1]!, ...words, '--log-files'], {
    detached: true,
    env,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let ended: string | undefined;
  child.on('error', ({ message }) => (ended = message));
  child.on('exit', (code, signal) => (ended = signal ?? `exit code ${code}`));
  const untilMs = performance.now() + READY_MS_MAX;
  for (;;) {
    const state = readOwner({ logs, ...layout });
    if (ended !== undefined || performance.now() > untilMs) break;
    if (state?.owner.pid === child.pid && state?.phase === 'ready') break;
    // oxlint-disable-next-line no-await-in-loop -- it waits for another process
    await pause(LOOK_MS);
  }
  const text = readFileSync(file, 'utf8').trim();
  process.stderr.write(`${text}\n`);
  if (ended !== undefined || performance.now() > untilMs)
    throw new CommandFailure(
      'SVC_MACHINE_NOT_STARTED',
      `svc up has not become ready in the background${ended === undefined ? '' : ` (${ended})`}. Its output is above, and in ${logs}.`,
    );
  child.unref();
  process.stderr.write(
    `It continues as the process ${child.pid}; svc down stops it. Its output is in ${logs}\n`,
  );
}
