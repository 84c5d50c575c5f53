// EmbeddedCommand: the command of a service of hosting `embedded`: the program of its image, with the runtime in it, in a sandbox. It
// reaches its data, its own state and log, its certificate, and the addresses of the services that it may call.
import { dirname, join } from 'node:path';
import { projectSocketsFolder } from '@svc/kit/call-sockets';
import { socketVariables } from '@svc/kit/listening-sockets';
import type { InstancePorts } from '../instance-addresses.ts';
import { projectServicesFolder, servicesFileIn } from '../services-files.ts';
import type { InstanceFolder } from '../instance-folder.ts';
import {
  type LaunchCommand,
  type LaunchDependencies,
  programMark,
  runtimeSettings,
} from '../launch-command.ts';
import { runtimeLimits } from '../resource-limits.ts';
import { imageProgram } from './image-program.ts';
import { podCommand, sandboxed } from './pod-files.ts';
import type { SandboxTools } from './sandbox-tools.ts';

/** Paths in the sandbox. */
const DATA = '/run/svc/data';
const STATE = '/run/svc/state';
const IDENTITY = '/run/svc/identity';
const SERVICES = '/run/svc/services';
const SOCKETS = '/run/svc/sockets';

/** Returns the command. Throws if the files of the image are gone. */
export function embeddedCommand(
  folder: InstanceFolder,
  imageFolder: string,
  { tools, ...dependencies }: LaunchDependencies & { readonly tools: SandboxTools },
): LaunchCommand {
  const { key, descriptor, name } = folder.spec;
  const { dataFolder, callers, servicesFolder, socketsFolder } = dependencies;
  const image = imageProgram(imageFolder);
  const settings = runtimeSettings(folder, dependencies, {
    data: DATA,
    stateFile: join(STATE, 'state.json'),
    // Its log goes to stderr: the platform reads no folder to which a program can write.
    logFolder: undefined,
    identityFolder: IDENTITY,
    servicesFile: servicesFileIn(SERVICES),
    socketsFolder: SOCKETS,
  });
  const { files, command } = sandboxed(
    tools,
    folder,
    {
      ...image,
      hostname: name,
      env: {
        ...image.env,
        ...descriptor.env,
        ...runtimeLimits(descriptor).variables,
        ...settings,
        SVC_STANDBY: 'true',
        SVC_LOG: 'json',
        // The program is process 1 of its sandbox.
        ...socketVariables(socketsOf(folder.spec.ports), 1),
      },
      readable: {
        ...(callers === undefined ? {} : { [IDENTITY]: folder.identityFolder }),
        [SERVICES]: projectServicesFolder(servicesFolder, key.project),
        ...(socketsFolder === undefined
          ? {}
          : {
              [projectSocketsFolder(SOCKETS, key.project)]: projectSocketsFolder(
                socketsFolder,
                key.project,
              ),
            }),
      },
      writable: {
        [DATA]: join(dataFolder, key.project, key.service),
        [STATE]: folder.stateFolder,
      },
    },
    { kind: 'none' },
  );
  const [file = '', ...args] = podCommand(tools, command);
  return {
    file,
    args,
    env: {},
    files: [...files, { path: programMark(dataFolder, key), content: '' }],
    folders: [
      dirname(programMark(dataFolder, key)),
      join(dataFolder, key.project, key.service),
      projectServicesFolder(servicesFolder, key.project),
      ...(socketsFolder === undefined ? [] : [projectSocketsFolder(socketsFolder, key.project)]),
    ],
    sockets: { http: 'http', management: 'management', calls: 'calls' },
  };
}

/** The names of the sockets in the order in which they are inherited (instance-sockets.ts). */
function socketsOf({ http }: InstancePorts): readonly string[] {
  return http === undefined ? ['management'] : ['http', 'management', 'calls'];
}
