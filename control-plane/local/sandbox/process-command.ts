// ProcessCommand: the command of a service whose components are in a process: the runtime in a network of its own, which runs the program of
// the image in a sandbox beside it. The runtime is the platform's own program, and has the journal, the identity and the secrets; the
// program reaches none of them, and is reached at the loopback of that network alone.
import { join } from 'node:path';
import { COMPONENT_PORT_VARIABLE, COMPONENT_PROCESS_PORT } from '@svc/client';
import type { InstanceFolder } from '../instance-folder.ts';
import {
  checkData,
  type LaunchCommand,
  type LaunchDependencies,
  runtimeCommand,
} from '../launch-command.ts';
import { imageProgram } from './image-program.ts';
import { podCommand, sandboxed } from './pod-files.ts';
import type { SandboxTools } from './sandbox-tools.ts';

/** Descriptor by which the runtime gives bubblewrap a pipe for the id of the program. */
const INFO_FD = 3;

/** Returns the command. Throws if the files of the image are gone, and if a program has had the data of the service. */
export function processCommand(
  folder: InstanceFolder,
  imageFolder: string,
  { tools, ...dependencies }: LaunchDependencies & { readonly tools: SandboxTools },
): LaunchCommand {
  const { name, descriptor, key } = folder.spec;
  checkData(dependencies.dataFolder, key);
  const image = imageProgram(imageFolder);
  const env = {
    ...image.env,
    ...descriptor.env,
    [COMPONENT_PORT_VARIABLE]: String(COMPONENT_PROCESS_PORT),
  };
  const own = { ...image, env, hostname: name, readable: {}, writable: {} };
  const program = sandboxed(tools, folder, own, { kind: 'sidecar', infoFd: INFO_FD });
  const processFile = join(folder.path, 'process.json');
  const runtime = runtimeCommand(folder, dependencies, {
    code: ['--process', `127.0.0.1:${COMPONENT_PROCESS_PORT}`],
    network: 'own',
  });
  const [file = '', ...args] = podCommand(tools, [runtime.file, ...runtime.args]);
  return {
    file,
    args,
    env: { ...runtime.env, SVC_PROCESS_FILE: processFile },
    files: [
      ...runtime.files,
      ...program.files,
      { path: processFile, content: JSON.stringify({ command: program.command, env: {} }) },
    ],
    sockets: { http: 'http', management: 'management', calls: 'calls' },
  };
}
