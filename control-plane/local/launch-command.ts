// LaunchCommand: the command of an instance: the program, its arguments, and its environment, which has nothing of this
// process's own. Everything that a member of the project has written in the descriptor is a value in it, never a name, unless
// @svc/client lists the name as one of the runtime's limits. The variables of other names reach the runtime in a file.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { moduleVariables, type ServiceKey } from '@svc/client';
import { fileURLToPath } from 'node:url';
import type { CallerRules } from '@svc/identity/caller';
import { servicesFileIn } from './services-files.ts';
import type { InstanceFolder } from './instance-folder.ts';
import { runtimeLimits } from './resource-limits.ts';
import type { ServiceDatabases } from './service-databases.ts';
import { type ServiceTokens, takesTokens } from '../orchestration/service-tokens.ts';

export interface LaunchCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files in the folder of the instance that the program reads at its start. */
  readonly files?: readonly LaunchFile[];
  /** Folders that exist before the program starts. */
  readonly folders?: readonly string[];
  /** Names by which the program takes the sockets that it is given (kit/listening-sockets.ts). */
  readonly sockets: SocketNames;
}

export interface LaunchFile {
  readonly path: string;
  readonly content: string;
}

/** Undefined: the program opens the port itself. */
export interface SocketNames {
  readonly http?: string;
  readonly management?: string;
  /** At which services in a network of their own reach this one. */
  readonly calls: string;
}

/** The choices that all instances of the installation share. */
export interface LaunchDependencies {
  /** Folder below which each service has its data: `<project>/<service>`. */
  readonly dataFolder: string;
  readonly databases: Pick<ServiceDatabases, 'urlFileOf'>;
  /** Time that requests in flight have when an instance ends, in milliseconds. */
  readonly drainMs: number;
  /** Identities that every service admits; undefined: instances have none, and listen without TLS. */
  readonly callers: CallerRules | undefined;
  /** Folder of the files in which services find one another (services-files.ts). */
  readonly servicesFolder: string;
  /** Folder of the sockets at which services in a network of their own reach others; undefined: there are none. */
  readonly socketsFolder: string | undefined;
  /** Folder of the operator with the secrets of each project: `<project>/<name of the secret>`. */
  readonly secretsFolder: string;
  /** Settings of a service with `auth: platform`; undefined: there are no such services. */
  readonly serviceTokens: ServiceTokens | undefined;
  /** Socket at which a runtime in a network of its own reads the keys of access tokens; undefined: there is none. */
  readonly keysSocket: string | undefined;
  /** Domain of the derived hostnames; undefined: there are none. */
  readonly baseDomain: string | undefined;
}

/** A runtime in the network of the machine reaches all by addresses. */
const NO_SOCKETS = { socketsFolder: undefined, keysSocket: undefined };

/** Where a runtime finds its files, which may have other paths in a sandbox. */
export interface RuntimePaths {
  readonly data: string;
  readonly stateFile: string;
  /** Undefined: the log goes to stderr. */
  readonly logFolder: string | undefined;
  readonly identityFolder: string;
  readonly servicesFile: string;
  /** Undefined: services are reached at their addresses. */
  readonly socketsFolder?: string;
}

/**
 * Returns a file that is there once a program of a member has had the data folder of the service. It lies beside the data, where no
 * program writes.
 */
export function programMark(dataFolder: string, { project, service }: ServiceKey): string {
  return join(dirname(dataFolder), 'program-data', project, service);
}

/** Throws if a program has had the data of the service. Outside of a sandbox, its links and files would lead the runtime anywhere. */
export function checkData(dataFolder: string, key: ServiceKey): void {
  if (existsSync(programMark(dataFolder, key)))
    throw new Error(
      'its data were written by a program that embeds the runtime, and are opened by such a program alone: apply the service under another name',
    );
}

/** Returns the command of a service whose module the runtime loads. Throws if a program has had its data. */
export function moduleCommand(
  folder: InstanceFolder,
  moduleFile: string,
  dependencies: LaunchDependencies,
): LaunchCommand {
  const { key, descriptor } = folder.spec;
  const code = [moduleFile];
  const urlFile = dependencies.databases.urlFileOf(key, descriptor);
  if (urlFile === undefined) {
    checkData(dependencies.dataFolder, key);
    const runtime = runtimeCommand(folder, dependencies, { code, network: 'machine' });
    return { ...runtime, sockets: { calls: 'calls' } };
  }
  const runtime = runtimeCommand(folder, dependencies, { code, network: 'machine', urlFile });
  return { ...runtime, sockets: { calls: 'calls' } };
}

/** The code that a runtime serves, as `svc run` takes it. */
interface ServedCode {
  readonly code: readonly string[];
  /** `own`: it reaches other services and the keys of access tokens by sockets, since no address of this machine is in its network. */
  readonly network: 'machine' | 'own';
  /** File with the URL of the database in which the journal is; undefined: it is in the data folder. */
  readonly urlFile?: string;
}

/** Returns how the runtime is run outside of a sandbox, as a process of this machine. */
export function runtimeCommand(
  folder: InstanceFolder,
  dependencies: LaunchDependencies,
  { code, network, urlFile }: ServedCode,
): Pick<LaunchCommand, 'file' | 'args' | 'env'> & { readonly files: readonly LaunchFile[] } {
  const { key, descriptor } = folder.spec;
  const host = fileURLToPath(import.meta.resolve('@svc/host/main'));
  const { options, variables } = runtimeLimits(descriptor);
  const { dataFolder, servicesFolder, secretsFolder, serviceTokens } = dependencies;
  const { socketsFolder, keysSocket } = network === 'own' ? dependencies : NO_SOCKETS;
  const declared = moduleVariables(descriptor.env);
  const hasValues = Object.keys(declared.configuration).length > 0;
  const valuesFile = join(folder.path, 'variables.json');
  const settings = runtimeSettings(folder, dependencies, {
    // Beside a database it has nothing that lasts.
    data:
      urlFile === undefined
        ? join(dataFolder, key.project, key.service)
        : join(folder.path, 'data'),
    stateFile: folder.stateFile,
    logFolder: folder.logFolder,
    identityFolder: folder.identityFolder,
    servicesFile: servicesFileIn(servicesFolder),
    ...(socketsFolder === undefined ? {} : { socketsFolder }),
  });
  const tokens = {
    ...serviceTokens,
    ...(keysSocket === undefined ? {} : { SVC_AUTH_KEYS_SOCKET: keysSocket }),
  };
  return {
    file: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      ...options,
      host,
      '--deployed',
      // Instances with a database share it, and none waits for another one.
      ...(urlFile === undefined ? ['--standby'] : []),
      ...code,
    ],
    // What the platform decides comes last: nothing of a descriptor replaces it.
    env: {
      ...declared.settings,
      ...variables,
      ...settings,
      ...(urlFile === undefined ? {} : databaseSettings(folder, urlFile)),
      ...(takesTokens(descriptor) ? tokens : {}),
      SVC_CONFIGURATION_SECRETS: join(secretsFolder, key.project),
      ...(hasValues ? { SVC_CONFIGURATION_VARIABLES: valuesFile } : {}),
    },
    files: hasValues ? [{ path: valuesFile, content: JSON.stringify(declared.configuration) }] : [],
  };
}

/** Returns the settings by which an instance shares a database with the others, which reach it at its address. */
function databaseSettings(
  { spec: { address, ports } }: InstanceFolder,
  urlFile: string,
): Readonly<Record<string, string>> {
  return {
    SVC_DATABASE_URL_FILE: urlFile,
    SVC_REMOTING_HOST: address,
    SVC_REMOTING_PORT: String(ports.remoting),
  };
}

/** Returns the settings of a runtime that are the platform's to decide. */
export function runtimeSettings(
  { spec }: InstanceFolder,
  { drainMs, callers }: LaunchDependencies,
  paths: RuntimePaths,
): Readonly<Record<string, string>> {
  const { key, descriptor, address, ports } = spec;
  const allowed = 'allow' in descriptor ? (descriptor.allow ?? []) : [];
  return {
    SVC_NAME: key.service,
    SVC_DATA: paths.data,
    SVC_HTTP_ENABLED: String(ports.http !== undefined),
    SVC_HTTP_HOST: address,
    ...(ports.http === undefined ? {} : { SVC_HTTP_PORT: String(ports.http) }),
    SVC_MANAGEMENT_HOST: address,
    SVC_MANAGEMENT_PORT: String(ports.management),
    SVC_STATE_FILE: paths.stateFile,
    ...(paths.logFolder === undefined ? {} : { SVC_LOG_FILES_DIR: paths.logFolder }),
    ...(allowed.length === 0 ? {} : { SVC_UPGRADE_ALLOW: allowed.join(',') }),
    SVC_SUPERVISOR_STOP_GRACE_MS: String(drainMs),
    ...(callers === undefined
      ? {}
      : {
          SVC_PROJECT: key.project,
          SVC_IDENTITY_FOLDER: paths.identityFolder,
          SVC_IDENTITY_TRUST_DOMAIN: callers.trustDomain,
          SVC_IDENTITY_GATEWAY: callers.gatewayId,
          SVC_CALLS_SERVICES_FILE: paths.servicesFile,
          ...(paths.socketsFolder === undefined
            ? {}
            : { SVC_CALLS_SOCKETS_FOLDER: paths.socketsFolder }),
        }),
  };
}
