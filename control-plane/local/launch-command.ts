// LaunchCommand: the command of an instance: the program, its arguments, and its environment, which has nothing of this
// process's own. Everything that a member of the project has written in the descriptor is a value in it, never a name, unless
// @svc/client lists the name as one of the runtime's limits.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallerRules } from '@svc/identity/caller';
import type { InstanceFolder } from './instance-folder.ts';
import { runtimeLimits } from './resource-limits.ts';

export interface LaunchCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names by which the program takes the sockets that it is given (kit/listening-sockets.ts). */
  readonly sockets: SocketNames;
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
  /** Time that requests in flight have when an instance ends, in milliseconds. */
  readonly drainMs: number;
  /** Identities that every service admits; undefined: instances have none, and listen without TLS. */
  readonly callers: CallerRules | undefined;
  /** File in which services find one another. */
  readonly servicesFile: string;
}

/** Returns the command of a service whose module the runtime loads. */
export function moduleCommand(
  folder: InstanceFolder,
  { dataFolder, drainMs, callers, servicesFile }: LaunchDependencies,
): LaunchCommand {
  const { key, descriptor, address, ports, moduleFile } = folder.spec;
  const allowed = descriptor.hosting === 'wasm' ? (descriptor.allow ?? []) : [];
  const host = fileURLToPath(import.meta.resolve('@svc/host/main'));
  const { options, variables } = runtimeLimits(descriptor);
  const settings = {
    SVC_NAME: key.service,
    SVC_DATA: join(dataFolder, key.project, key.service),
    SVC_HTTP_ENABLED: String(ports.http !== undefined),
    SVC_HTTP_HOST: address,
    ...(ports.http === undefined ? {} : { SVC_HTTP_PORT: String(ports.http) }),
    SVC_MANAGEMENT_HOST: address,
    SVC_MANAGEMENT_PORT: String(ports.management),
    SVC_STATE_FILE: folder.stateFile,
    SVC_LOG_FILES_DIR: folder.logFolder,
    ...(allowed.length === 0 ? {} : { SVC_UPGRADE_ALLOW: allowed.join(',') }),
    SVC_SUPERVISOR_STOP_GRACE_MS: String(drainMs),
    ...(callers === undefined
      ? {}
      : {
          SVC_PROJECT: key.project,
          SVC_IDENTITY_FOLDER: folder.identityFolder,
          SVC_IDENTITY_TRUST_DOMAIN: callers.trustDomain,
          SVC_IDENTITY_GATEWAY: callers.gatewayId,
          SVC_CALLS_SERVICES_FILE: servicesFile,
        }),
  };
  return {
    file: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      ...options,
      host,
      '--deployed',
      '--standby',
      moduleFile,
    ],
    // What the platform decides comes last: nothing of a descriptor replaces it.
    env: { ...descriptor.env, ...variables, ...settings },
    sockets: { calls: 'calls' },
  };
}
