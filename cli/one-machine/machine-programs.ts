// MachinePrograms: the programs of an installation on one machine, with their settings. They find one another on loopback.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ListeningSocket } from '@svc/kit/listening-sockets';
import { CONTROL_PLANE_NODE_OPTIONS } from '../commands/control-plane.ts';
import { certificatesOf, type MachineLayout } from './machine-layout.ts';
import type { MachinePorts } from './machine-ports.ts';
import type { SupervisedProgram } from './supervision.ts';
import { webhookDatabase } from './webhook-database.ts';

export interface MachineProgram extends SupervisedProgram {
  readonly command: readonly string[];
  /** Words of the command until the program was ready once. */
  readonly firstWords?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The line with which the program says that it serves. */
  readonly readyLine: RegExp;
  /** Makes what the program needs before each of its processes is started. It rejects with the reason why that cannot be started. */
  readonly prepare?: () => Promise<void>;
  /** Asks it to end. Default: SIGTERM. */
  readonly stopSignal?: 'SIGINT';
  /** Sockets that each of its processes is given. */
  readonly sockets?: readonly ListeningSocket[];
}

export interface ProgramsOptions {
  readonly layout: MachineLayout;
  readonly ports: MachinePorts;
  /** Address of the gateway. */
  readonly host: string;
  /** Sockets of the gateway. */
  readonly sockets: readonly ListeningSocket[];
  /** Domain of hostnames, without a port. */
  readonly domain: string;
  readonly peopleFile: string;
  /** Undefined: the installation has none. */
  readonly postgres: MachineProgram | undefined;
  readonly isNewAuthority: boolean;
  readonly logFormat: 'text' | 'json';
  readonly env: NodeJS.ProcessEnv;
}

const URL_LINE = /^https?:\/\/\S+$/;
/** The client with which the command line logs in, at the login provider. */
const CLIENT_ID = 'svc-cli';

/** Returns the domain with the port of the gateway, as every URL of the installation has it. */
export function baseDomainOf(domain: string, port: number): string {
  return port === 443 ? domain : `${domain}:${port}`;
}

/** Returns the programs in the order in which they start. */
export function machinePrograms(options: ProgramsOptions): readonly MachineProgram[] {
  const addresses = addressesOf(options);
  return [
    ...(options.postgres === undefined ? [] : [options.postgres]),
    loginProvider(options, addresses),
    controlPlane(options, addresses),
    registry(options, addresses),
    ...(options.ports.webhooks === undefined ? [] : [webhooks(options, addresses)]),
    gateway(options, addresses),
  ];
}

/** How the programs find one another. */
interface Addresses {
  /** Domain with the port of the gateway. */
  readonly baseDomain: string;
  /** URLs on loopback. */
  readonly issuer: string;
  readonly api: string;
  readonly registry: string;
  /** Undefined: there is no webhook service. */
  readonly webhooks: string | undefined;
}

function addressesOf({ domain, ports }: ProgramsOptions): Addresses {
  return {
    baseDomain: baseDomainOf(domain, ports.gateway),
    issuer: loopback(ports.loginProvider),
    api: loopback(ports.controlPlane),
    registry: loopback(ports.registry),
    webhooks: ports.webhooks === undefined ? undefined : loopback(ports.webhooks),
  };
}

/** The audience that the control plane expects by default. */
function audienceOf(baseDomain: string): string {
  return `https://api.${baseDomain}`;
}

function loopback(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function loginProvider(options: ProgramsOptions, { baseDomain }: Addresses): MachineProgram {
  return programOf(options, 'login-provider', {
    'svc.login-provider.people': options.peopleFile,
    'svc.login-provider.audience': audienceOf(baseDomain),
    'svc.login-provider.port': String(options.ports.loginProvider),
    'svc.data': options.layout.loginProvider,
  });
}

function controlPlane(options: ProgramsOptions, { baseDomain, issuer }: Addresses): MachineProgram {
  const { layout, ports, isNewAuthority, postgres } = options;
  const settings = {
    'svc.auth.issuer': issuer,
    'svc.auth.client-id': CLIENT_ID,
    'svc.control-plane.base-domain': baseDomain,
    'svc.control-plane.port': String(ports.controlPlane),
    'svc.data': layout.controlPlane,
    'svc.local.folder': layout.machine,
    'svc.local.image-folders': `images=${layout.images}`,
    // The only audience of the login provider, which is for development.
    'svc.local.service-audience': audienceOf(baseDomain),
    'svc.local.platform-registry': `registry.${baseDomain}`,
    'svc.local.platform-registry-token': layout.pullTokenFile,
    'svc.local.registry-authority': certificatesOf(layout).hostnamesAuthority,
    ...(postgres === undefined ? {} : { 'svc.local.postgres-url-file': layout.postgresUrlFile }),
  };
  const made = {
    ...programOf(options, 'control-plane', settings, CONTROL_PLANE_NODE_OPTIONS),
    // So that no service meets a server that is about to start.
    ...(postgres === undefined ? {} : { after: postgres.name }),
  };
  return isNewAuthority ? { ...made, firstWords: ['--set', 'svc.local.new-authority=true'] } : made;
}

function registry(options: ProgramsOptions, { api }: Addresses): MachineProgram {
  return programOf(options, 'registry', {
    'svc.registry.control-plane-url': api,
    'svc.registry.pull-token-file': options.layout.pullTokenFile,
    'svc.registry.port': String(options.ports.registry),
    'svc.data': options.layout.registry,
  });
}

/** Receivers on this machine are admitted: programs of its developer, and services that are exposed at the gateway. */
function webhooks(options: ProgramsOptions, { baseDomain, issuer }: Addresses): MachineProgram {
  const { layout, postgres } = options;
  const { hostnamesAuthority } = certificatesOf(layout);
  const database = postgres === undefined ? undefined : webhookDatabase(layout);
  const settings = {
    'svc.auth.issuer': issuer,
    'svc.auth.client-id': CLIENT_ID,
    'svc.auth.audience': audienceOf(baseDomain),
    'svc.webhooks.admitted-networks': '127.0.0.0/8,::1/128',
    'svc.webhooks.receiver-authorities': hostnamesAuthority,
    'svc.webhooks.port': String(options.ports.webhooks),
    'svc.data': layout.webhooks,
    ...(database === undefined ? {} : { 'svc.database.url-file': database.urlFile }),
  };
  const made = {
    ...programOf(options, 'webhook-service', settings, [], '@svc/webhooks/main'),
    ...(database === undefined ? {} : { prepare: () => database.make(), after: postgres!.name }),
  };
  // The control plane makes the authority at the first start, and starts after the server.
  return existsSync(hostnamesAuthority) && !options.isNewAuthority
    ? made
    : { ...made, after: 'control-plane' };
}

function gateway(options: ProgramsOptions, addresses: Addresses): MachineProgram {
  const { layout, ports, host, sockets, isNewAuthority } = options;
  const { gatewayIdentity, gatewayCertificates } = certificatesOf(layout);
  const settings = {
    'svc.gateway.base-domain': addresses.baseDomain,
    'svc.gateway.host': host,
    'svc.gateway.port': String(ports.gateway),
    'svc.gateway.plain-port': String(ports.http),
    'svc.gateway.certificates': gatewayCertificates,
    'svc.gateway.routes-socket': layout.routesSocket,
    'svc.gateway.routes-file': layout.routesFile,
    'svc.gateway.api-url': addresses.api,
    'svc.gateway.registry-url': addresses.registry,
    ...(addresses.webhooks === undefined ? {} : { 'svc.gateway.webhooks-url': addresses.webhooks }),
    'svc.identity.folder': gatewayIdentity,
  };
  const made = {
    ...programOf(options, 'gateway', settings),
    readyLine: /https listening/,
    sockets,
  };
  // The control plane makes the certificates at the first start.
  const areThere = existsSync(gatewayIdentity) && existsSync(gatewayCertificates);
  return areThere && !isNewAuthority ? made : { ...made, after: 'control-plane' };
}

function programOf(
  { logFormat, env }: ProgramsOptions,
  name: string,
  settings: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
  entry = `@svc/${name}/main`,
): MachineProgram {
  const main = fileURLToPath(import.meta.resolve(entry));
  const sets = Object.entries({ ...settings, 'svc.log': logFormat });
  const words = sets.flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...nodeOptions];
  return { name, command: [...node, main, ...words], env: environment(env), readyLine: URL_LINE };
}

/** Settings of this terminal are not those of the programs, which end by themselves once this process is gone. */
export function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('SVC_'));
  return { ...Object.fromEntries(others), SVC_PARENT_PID: String(process.pid) };
}

/** Folder of the log files of a program. */
export function logFolderOf({ logs }: MachineLayout, name: string): string {
  return join(logs, name);
}
