// RunningMachine: the programs of an installation on this machine, from the checks before their start to their stop.
//
// Invariant: nothing is started unless this process owns the folder, and every port is free.
import { endInstances } from '@svc/control-plane/end-instances';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { counted } from '../counted.ts';
import type { UserFolders } from '../platform/user-folders.ts';
import { GatewaySockets } from './gateway-sockets.ts';
import { writeLocalContext } from './local-context.ts';
import {
  certificatesOf,
  FIRST_TENANT,
  type MachineChoices,
  type MachineLayout,
  makeLayout,
  peopleIn,
  readChoices,
  writeChoices,
} from './machine-layout.ts';
import { MachineOwner } from './machine-owner.ts';
import {
  chosenHttpPort,
  chosenPort,
  gatewayPorts,
  type MachinePorts,
  tryPorts,
} from './machine-ports.ts';
import { baseDomainOf, environment, machinePrograms } from './machine-programs.ts';
import { fileOutput, terminalOutput } from './program-output.ts';
import { hasPostgres, postgresServer } from './postgres-server.ts';
import { ProgramRunner } from './program-runner.ts';

export interface MachineOptions {
  readonly layout: MachineLayout;
  readonly domain: string | undefined;
  readonly port: number | undefined;
  /** Port that redirects to HTTPS; 0: none; undefined: that of HTTP, if it can be had. */
  readonly httpPort: number | undefined;
  readonly host: string;
  readonly ports: Omit<MachinePorts, 'gateway' | 'http'>;
  readonly peopleFile: string | undefined;
  /** Whether services get databases. An installation that has the server keeps it. */
  readonly postgres: boolean;
  readonly isNewAuthority: boolean;
  readonly hasLogFiles: boolean;
  /** Name of the context that is written. */
  readonly context: string;
  readonly folders: UserFolders;
  /** Environment of the programs; settings of svc in it do not count. */
  readonly env: NodeJS.ProcessEnv;
}

const DOMAIN_DEFAULT = 'svc.localhost';

/** Runs the programs until the stop is asked for. Rejects with a CommandFailure if they cannot be started. */
export async function runMachine(
  options: MachineOptions,
  stopRequested: Promise<string>,
): Promise<void> {
  const { layout, hasLogFiles } = options;
  makeLayout(layout);
  using owner = await MachineOwner.take(layout, (left) =>
    report(`Waiting for programs of an earlier svc up to end: ${left.join(', ')}`),
  );
  const choices = await chosen(options);
  const ports = await chosenPorts(options, choices);
  await tryPorts(options.host, ports);
  using sockets = await GatewaySockets.open(gatewayPorts(options.host, ports));
  writeChoices(layout, choices);
  const hasDatabases = options.postgres || hasPostgres(layout);
  const programs = machinePrograms({
    layout,
    ports,
    host: options.host,
    sockets: sockets.all,
    domain: choices.domain,
    peopleFile: options.peopleFile ?? layout.peopleFile,
    postgres: hasDatabases ? await postgresServer(layout, environment(options.env)) : undefined,
    isNewAuthority: options.isNewAuthority,
    logFormat: hasLogFiles ? 'json' : 'text',
    env: options.env,
  });
  const output = hasLogFiles
    ? fileOutput(layout)
    : terminalOutput(Math.max(...programs.map(({ name }) => name.length)));
  const runner = new ProgramRunner(programs, {
    onLine: (name, line) => output.write(name, line),
    onProcesses: (processes) => owner.write({ programs: processes }),
    onRestart: (name, end) => report(`${name} has ended (${end}), and is started again`),
    onAllReady: () => void announce(options, { ...choices, http: ports.http }, owner),
  });
  let reason = '';
  void stopRequested.then((request) => {
    reason = request;
    owner.write({ phase: 'stopping' });
    runner.stop();
    sockets.close();
  });
  const end = await runner.run();
  await output.close();
  if (end.kind === 'broken') {
    if (hasLogFiles) for (const line of end.lines) report(`${end.name}: ${printable(line)}`);
    throw new CommandFailure(
      'SVC_MACHINE_NOT_STARTED',
      `${end.name} cannot be started, and everything was stopped. Its last lines, above, say why.`,
    );
  }
  // A service manager that restarts the platform sends SIGTERM: services continue meanwhile.
  if (reason === 'SIGINT') {
    const ended = await endInstances(layout.machine);
    report(`Stopped, with ${counted(ended, 'instance')} of services.`);
  }
}

async function chosen({ layout, domain, port, host }: MachineOptions): Promise<MachineChoices> {
  const before = readChoices(layout);
  return {
    domain: domain ?? before?.domain ?? DOMAIN_DEFAULT,
    port: port ?? before?.port ?? (await chosenPort(host)),
  };
}

async function chosenPorts(
  { ports: others, httpPort, host }: MachineOptions,
  { port: gateway }: MachineChoices,
): Promise<MachinePorts> {
  const taken = { ...others, gateway };
  const used = Object.values(taken).filter((port) => port !== undefined);
  return { ...taken, http: httpPort ?? (await chosenHttpPort(host, used)) };
}

async function announce(
  options: MachineOptions,
  { domain, port, http }: MachineChoices & { readonly http: number },
  owner: MachineOwner,
): Promise<void> {
  const { layout, folders, context: name } = options;
  const url = `https://api.${baseDomainOf(domain, port)}`;
  const authority = certificatesOf(layout).hostnamesAuthority;
  try {
    const { isCurrent } = await writeLocalContext(folders, {
      name,
      url,
      authority,
      tenant: hasFirstTenant(options) ? FIRST_TENANT : undefined,
    });
    report(summary(options, { url, http, authority, isCurrent }));
  } catch (error) {
    report(`The context ${name} was not written: ${(error as Error).message}`);
  }
  owner.write({ phase: 'ready' });
}

/** Whether the webhook service runs, with the people of the first start. */
function hasFirstTenant({ ports, peopleFile }: MachineOptions): boolean {
  return ports.webhooks !== undefined && peopleFile === undefined;
}

function summary(
  { layout, context, ports, peopleFile }: MachineOptions,
  {
    url,
    http,
    authority,
    isCurrent,
  }: { url: string; http: number; authority: string; isCurrent: boolean },
): string {
  const people = peopleFile === undefined ? ` as ${peopleIn(layout).join(' or ')}` : '';
  const redirect = http === 0 ? '' : `\n  redirect   port ${http}, to the same URL with https`;
  const use = isCurrent ? '' : `svc context use ${context}, then `;
  return `
The installation runs.
  API        ${url}${redirect}
  login      http://127.0.0.1:${ports.loginProvider}${people}, without a password
  authority  ${authority}
  images     ${layout.images}
Next: ${use}svc login`;
}

function report(text: string): void {
  process.stderr.write(`${text}\n`);
}
