// WebCommand: the command of a web-hosted service: `svc proxy` in a network of its own, which runs the program of the image in a sandbox
// beside it. The proxy is the platform's own program, and reads the platform's files; the program reaches none of them.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CALLING_PORT, PROCESS_PORT, type WebServiceDescriptor } from '@svc/client';
import type { CallerRules } from '@svc/identity/caller';
import { proxyDeclarations } from '../../orchestration/proxy-declarations.ts';
import { servicesFileIn } from '../services-files.ts';
import type { InstanceFolder } from '../instance-folder.ts';
import type { LaunchCommand, LaunchDependencies } from '../launch-command.ts';
import { imageProgram } from './image-program.ts';
import { podCommand, sandboxed } from './pod-files.ts';
import type { SandboxTools } from './sandbox-tools.ts';

/** Descriptor by which the proxy gives bubblewrap a pipe for the id of the program. */
const INFO_FD = 3;

/** Returns the path of the program `svc proxy`; undefined if it is not installed beside the control plane. */
export function proxyProgram(): string | undefined {
  try {
    return fileURLToPath(import.meta.resolve('@svc/proxy/main'));
  } catch {
    return undefined;
  }
}

export interface WebDependencies extends LaunchDependencies {
  readonly tools: SandboxTools;
  readonly callers: CallerRules;
  /** Program of the proxy. */
  readonly proxy: string;
}

/** Returns the command. Throws if the files of the image are gone. */
export function webCommand(
  folder: InstanceFolder,
  imageFolder: string,
  descriptor: WebServiceDescriptor,
  dependencies: WebDependencies,
): LaunchCommand {
  const { tools, proxy } = dependencies;
  const { processPort = PROCESS_PORT } = descriptor;
  const image = imageProgram(imageFolder);
  const env = {
    ...image.env,
    ...descriptor.env,
    PORT: String(processPort),
    SVC_SERVICES_URL: `http://127.0.0.1:${CALLING_PORT}`,
  };
  const own = { ...image, env, hostname: folder.spec.name, readable: {}, writable: {} };
  const program = sandboxed(tools, folder, own, { kind: 'sidecar', infoFd: INFO_FD });
  const processFile = join(folder.path, 'process.json');
  const [file = '', ...args] = podCommand(tools, [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    proxy,
  ]);
  return {
    file,
    args,
    env: {
      ...proxySettings(folder, descriptor, dependencies),
      SVC_PROXY_PROCESS_PORT: String(processPort),
      SVC_PROXY_PROCESS_FILE: processFile,
    },
    files: [
      ...program.files,
      { path: processFile, content: JSON.stringify({ command: program.command, env: {} }) },
    ],
    sockets: { http: 'service', management: 'readiness', calls: 'calls' },
  };
}

function proxySettings(
  folder: InstanceFolder,
  descriptor: WebServiceDescriptor,
  { callers, servicesFolder, socketsFolder, baseDomain, drainMs }: WebDependencies,
): Readonly<Record<string, string>> {
  const { key, ports, address } = folder.spec;
  return {
    SVC_NAME: key.service,
    SVC_PROJECT: key.project,
    SVC_IDENTITY_FOLDER: folder.identityFolder,
    SVC_IDENTITY_TRUST_DOMAIN: callers.trustDomain,
    SVC_IDENTITY_GATEWAY: callers.gatewayId,
    SVC_PROXY_HOST: address,
    SVC_PROXY_PORT: String(ports.http),
    SVC_PROXY_READINESS_PORT: String(ports.management),
    SVC_PROXY_STOP_TIMEOUT_MS: String(drainMs),
    SVC_PROXY_SERVICES_FILE: servicesFileIn(servicesFolder),
    ...(socketsFolder === undefined ? {} : { SVC_PROXY_SOCKETS_FOLDER: socketsFolder }),
    SVC_STATE_FILE: folder.stateFile,
    SVC_LOG_FILES_DIR: folder.logFolder,
    ...proxyDeclarations(descriptor),
    ...(baseDomain === undefined ? {} : { SVC_PROXY_BASE_DOMAIN: baseDomain }),
  };
}
