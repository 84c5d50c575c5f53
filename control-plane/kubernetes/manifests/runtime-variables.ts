// RuntimeVariables: the settings with which a runtime starts in a pod, in the platform's container or in a member's program. Everything that
// a member has written in the descriptor is a value in them, never a name, unless @svc/client lists the name as one of the runtime's limits.
import { MANAGEMENT_PORT, moduleVariables, REMOTING_PORT } from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import { limitsOfRuntime, type RuntimeLimits } from '../../orchestration/runtime-limits.ts';
import type { KubernetesInstallation, ResourceAmounts } from './installation.ts';
import { isInDatabase, type JournalStorage } from './journal-storage.ts';
import type { JsonObject } from './manifest.ts';
import {
  CONFIGURATION_FILE,
  DATA_FOLDER,
  DATABASE_AUTHORITIES_FILE,
  DATABASE_URL_FILE,
  IDENTITY_FOLDER,
  SECRETS_FOLDER,
} from './pod-files.ts';
import { variableList } from './pod-settings.ts';
import { httpPort } from './service-ports.ts';

/** All addresses of the pod. */
const EVERYWHERE = '0.0.0.0';
/** Most shards that a runtime has. */
const SHARDS_MAX = 256;

/** Returns the limits of a runtime whose container has no more memory than the defaults unless the descriptor declares more. */
export function serviceLimits(
  { descriptor: { resources, env } }: DesiredService,
  defaults: ResourceAmounts,
): RuntimeLimits {
  return limitsOfRuntime({ memory: defaults.memory, ...resources }, env, SHARDS_MAX);
}

/** Returns the limits of a runtime beside a process. */
export function sidecarLimits(
  { descriptor: { env } }: DesiredService,
  amounts: ResourceAmounts,
): RuntimeLimits {
  return limitsOfRuntime(amounts, env, SHARDS_MAX);
}

/** Returns the settings of a runtime that are the platform's to decide. */
export function runtimeVariables(
  desired: DesiredService,
  installation: KubernetesInstallation,
): Readonly<Record<string, string>> {
  const { descriptor } = desired;
  const allowed = 'allow' in descriptor ? (descriptor.allow ?? []) : [];
  const port = httpPort(descriptor);
  return {
    ...identityVariables(desired, installation),
    SVC_DATA: DATA_FOLDER,
    SVC_HTTP_ENABLED: String(port !== undefined),
    SVC_HTTP_HOST: EVERYWHERE,
    ...(port === undefined ? {} : { SVC_HTTP_PORT: String(port) }),
    SVC_MANAGEMENT_HOST: EVERYWHERE,
    SVC_MANAGEMENT_PORT: String(MANAGEMENT_PORT),
    SVC_SUPERVISOR_STOP_GRACE_MS: String(installation.drainMs),
    ...(allowed.length === 0 ? {} : { SVC_UPGRADE_ALLOW: allowed.join(',') }),
  };
}

/** Returns who the service is, and whom it admits. */
export function identityVariables(
  { key }: DesiredService,
  { trustDomain, gatewayId }: KubernetesInstallation,
): Readonly<Record<string, string>> {
  return {
    SVC_NAME: key.service,
    SVC_PROJECT: key.project,
    SVC_IDENTITY_FOLDER: IDENTITY_FOLDER,
    SVC_IDENTITY_TRUST_DOMAIN: trustDomain,
    SVC_IDENTITY_GATEWAY: gatewayId,
  };
}

/**
 * Returns the environment of the platform's own runtime, which serves a module, or components in a process. The variables of the descriptor that are no
 * limits of a runtime are not in it: one such as NODE_OPTIONS would run a member's code in the runtime.
 */
export function platformRuntimeEnvironment(
  desired: DesiredService,
  installation: KubernetesInstallation,
  { storage, limits }: { readonly storage: JournalStorage; readonly limits: RuntimeLimits },
): readonly JsonObject[] {
  const { descriptor } = desired;
  const takesTokens = 'auth' in descriptor && descriptor.auth !== undefined;
  const { settings } = moduleVariables(descriptor.env);
  const variables = variableList({
    ...settings,
    ...limits.variables,
    NODE_OPTIONS: limits.options.join(' '),
    ...runtimeVariables(desired, installation),
    ...(takesTokens ? installation.tokens : {}),
    SVC_CONFIGURATION_SECRETS: SECRETS_FOLDER,
    ...(hasConfiguration(desired) ? { SVC_CONFIGURATION_VARIABLES: CONFIGURATION_FILE } : {}),
    ...(isInDatabase(storage) ? databaseVariables(storage, installation) : {}),
  });
  return isInDatabase(storage) ? [...variables, ADVERTISED_HOST] : variables;
}

/** Whether variables of the descriptor are values of a configuration that the platform's runtime reads. */
export function hasConfiguration({ descriptor }: DesiredService): boolean {
  return Object.keys(moduleVariables(descriptor.env).configuration).length > 0;
}

/** The nodes of a service call each other at the addresses of their pods. */
const ADVERTISED_HOST: JsonObject = {
  name: 'SVC_REMOTING_ADVERTISED_HOST',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } },
};

/** URLs of a cluster's own databases name no authority; that of a database of the operator does, if it needs one. */
function databaseVariables(
  storage: JournalStorage,
  { databases }: KubernetesInstallation,
): Readonly<Record<string, string>> {
  const hasAuthority = storage === 'provisioned' && databases?.authority !== undefined;
  return {
    SVC_DATABASE_URL_FILE: DATABASE_URL_FILE,
    ...(hasAuthority ? { SVC_DATABASE_AUTHORITIES_FILE: DATABASE_AUTHORITIES_FILE } : {}),
    SVC_REMOTING_HOST: EVERYWHERE,
    SVC_REMOTING_PORT: String(REMOTING_PORT),
  };
}
