// InstanceCommands: the command of each instance, by the hosting of its service.
import {
  hostingKind,
  type ServiceDescriptor,
  WEB_PROTOCOL,
  type WebServiceDescriptor,
} from '@svc/client';
import type { InstanceFolder } from './instance-folder.ts';
import { type LaunchCommand, type LaunchDependencies, moduleCommand } from './launch-command.ts';
import { embeddedCommand } from './sandbox/embedded-command.ts';
import type { SandboxSupport } from './sandbox/sandbox-support.ts';
import { processCommand } from './sandbox/process-command.ts';
import { proxyProgram, webCommand } from './sandbox/web-command.ts';

export class InstanceCommands {
  readonly #dependencies: LaunchDependencies;
  readonly #sandbox: SandboxSupport;
  readonly #proxy = proxyProgram();

  constructor(dependencies: LaunchDependencies, sandbox: SandboxSupport) {
    this.#dependencies = dependencies;
    this.#sandbox = sandbox;
  }

  /** Why services whose image is a program cannot be run, worded to follow a colon; undefined if they can. */
  get noPrograms(): string | undefined {
    if (this.#sandbox.kind === 'missing') return this.#sandbox.reason;
    if (this.#proxy === undefined) return 'svc proxy is not installed beside the control plane';
    if (this.#dependencies.socketsFolder === undefined)
      return 'the path of its folder is too long for the sockets of services (svc.local.folder)';
    return this.#dependencies.callers === undefined
      ? 'its instances have no identity (svc.local.plain-instances), which svc proxy needs'
      : undefined;
  }

  /** Throws if the instance cannot be run on this machine any more. */
  of(folder: InstanceFolder): LaunchCommand {
    const { descriptor, moduleFile, imageFolder } = folder.spec;
    if (moduleFile !== undefined) return moduleCommand(folder, moduleFile, this.#dependencies);
    const { callers } = this.#dependencies;
    if (
      imageFolder === undefined ||
      callers === undefined ||
      this.#proxy === undefined ||
      this.#sandbox.kind === 'missing'
    )
      throw new Error(`this machine runs no programs of images: ${this.noPrograms}`);
    const dependencies = { ...this.#dependencies, callers, tools: this.#sandbox.tools };
    if (isWebHosted(descriptor))
      return webCommand(folder, imageFolder, descriptor, { ...dependencies, proxy: this.#proxy });
    return isProcessHosted(descriptor)
      ? processCommand(folder, imageFolder, dependencies)
      : embeddedCommand(folder, imageFolder, dependencies);
  }
}

export function isWebHosted(descriptor: ServiceDescriptor): descriptor is WebServiceDescriptor {
  return descriptor.hosting === 'process' && descriptor.protocol === WEB_PROTOCOL;
}

/** Whether the components of the service are in a process beside the runtime. */
export function isProcessHosted(descriptor: ServiceDescriptor): boolean {
  return hostingKind({ ...descriptor }) === 'process';
}
