// MachineLayout: where everything of an installation on one machine lies: one folder, which only its user may enter.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { certificatePaths } from '@svc/control-plane/certificate-paths';
import { CommandFailure } from '../command.ts';
import { readPrivateFile, writePrivateFile } from '../platform/private-file.ts';

export interface MachineLayout {
  readonly folder: string;
  /** Lock of the command that runs the programs. */
  readonly lock: string;
  /** The process that has the lock, and its programs. */
  readonly ownerFile: string;
  /** Choices of the first start. */
  readonly choicesFile: string;
  /** People and machines that can log in. */
  readonly peopleFile: string;
  /** Folder of images, which descriptors name as `oci:images/NAME`. */
  readonly images: string;
  /** Folders of the data of the programs. */
  readonly controlPlane: string;
  readonly loginProvider: string;
  readonly registry: string;
  readonly webhooks: string;
  /** Folder of the PostgreSQL server, its data, and its socket. */
  readonly postgres: string;
  /** File with the URL by which the control plane makes databases on that server. */
  readonly postgresUrlFile: string;
  /** Token by which the control plane pulls images. */
  readonly pullTokenFile: string;
  /** Folder of the services: svc.local.folder. */
  readonly machine: string;
  readonly routesSocket: string;
  readonly routesFile: string;
  readonly logs: string;
}

/** Values that stay as they were at the first start, since every hostname of the installation has them. */
export interface MachineChoices {
  /** Domain of all hostnames, without a port. */
  readonly domain: string;
  /** Port of the gateway. */
  readonly port: number;
}

export function layoutOf(path: string): MachineLayout {
  const folder = resolve(path);
  const machine = join(folder, 'machine');
  return {
    folder,
    lock: join(folder, 'lock'),
    ownerFile: join(folder, 'owner.json'),
    choicesFile: join(folder, 'choices.json'),
    peopleFile: join(folder, 'people.yaml'),
    images: join(folder, 'images'),
    controlPlane: join(folder, 'control-plane'),
    loginProvider: join(folder, 'login-provider'),
    registry: join(folder, 'registry'),
    webhooks: join(folder, 'webhook-service'),
    postgres: join(folder, 'postgres'),
    postgresUrlFile: join(folder, 'postgres', 'administrator.url'),
    pullTokenFile: join(folder, 'registry', 'pull-token'),
    machine,
    routesSocket: join(machine, 'routes.sock'),
    routesFile: join(machine, 'routes.json'),
    logs: join(folder, 'log'),
  };
}

/** Paths of certificates (docs/reference/machine-certificates.md). */
export const certificatesOf = ({ machine }: MachineLayout) => certificatePaths(machine);

/** Makes what is missing. Throws CommandFailure. */
export function makeLayout(layout: MachineLayout): void {
  try {
    mkdirSync(layout.folder, { recursive: true, mode: 0o700 });
    chmodSync(layout.folder, 0o700);
    mkdirSync(layout.images, { recursive: true, mode: 0o700 });
    if (!existsSync(layout.peopleFile))
      writeFileSync(layout.peopleFile, peopleText(userInfo().username), { mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFailure(
      'SVC_DATA_UNUSABLE',
      `The folder ${layout.folder} cannot be used (${code ?? message}). Give another one with --folder.`,
      { cause: error },
    );
  }
}

/** Returns the subjects of the people who can log in at first. */
export function peopleIn(layout: MachineLayout): readonly string[] {
  const text = readFileSync(layout.peopleFile, 'utf8');
  return [...text.matchAll(/^\s*- subject: "?([^"\s]+)"?$/gm)].map(([, subject]) => subject!);
}

export function readChoices({ choicesFile }: MachineLayout): MachineChoices | undefined {
  const value = readPrivateFile(choicesFile)?.value;
  const { domain, port } = (value ?? {}) as Partial<Record<keyof MachineChoices, unknown>>;
  return typeof domain === 'string' && typeof port === 'number' ? { domain, port } : undefined;
}

export function writeChoices({ choicesFile }: MachineLayout, choices: MachineChoices): void {
  writePrivateFile(choicesFile, choices);
}

/** Tenant of the webhook service whose administrator the first person is. */
export const FIRST_TENANT = 'local';

/** Two people, so that one can invite the other. The first one is also the platform that reports datasets to the webhook service. */
function peopleText(user: string): string {
  const name = user.toLowerCase().replaceAll(/[^a-z0-9._-]/g, '') || 'me';
  return `# People who can log in to this installation, without a password. Start it again after a change.
people:
  - subject: ${JSON.stringify(name)}
    name: ${JSON.stringify(name)}
    email: ${JSON.stringify(`${name}@example.com`)}
    emailVerified: true
    roles: [platform-admin, tenant-admin, platform]
    tenants: [${FIRST_TENANT}]
  - subject: "guest"
    name: "Guest"
    email: "guest@example.com"
    emailVerified: true
`;
}
