// PodFiles: the files that a sandboxed instance is started with, in its folder: arguments, name servers, names of its own machine.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InstanceFolder } from '../instance-folder.ts';
import { argumentsFile, type SandboxedProgram, sandboxArguments } from './bubblewrap.ts';
import type { SandboxTools } from './sandbox-tools.ts';

/** Most processes and threads of a sandboxed program. A control plane that runs as root cannot limit them. */
const PROCESSES_MAX = 1024;
/** Address at which pasta passes questions on to the name server of this machine. */
const NAME_SERVER = '169.254.1.1';
const NETWORK_SCRIPT = fileURLToPath(new URL('pod-network.sh', import.meta.url));

export interface PodFile {
  readonly path: string;
  readonly content: string;
}

/** Returns the command that runs a program in a network of its own: its file and arguments (pod-network.sh). */
export function podCommand(tools: SandboxTools, command: readonly string[]): readonly string[] {
  const { unshare, bwrap, pasta = 'none' } = tools;
  const inNamespaces = [unshare, '--user', '--map-root-user'];
  return [...inNamespaces, '/bin/sh', NETWORK_SCRIPT, pasta, bwrap, ...command];
}

/**
 * The parent of a sandbox: the sidecar that starts it, with which it ends, a proxy or a runtime; or none, since the instance outlives the control
 * plane.
 */
export type SandboxParent =
  | { readonly kind: 'sidecar'; readonly infoFd: number }
  | { readonly kind: 'none' };

export interface Sandboxed {
  readonly files: readonly PodFile[];
  /** Runs the program. */
  readonly command: readonly string[];
}

/**
 * Returns how a program is run in a sandbox. Outside of bubblewrap is another namespace of processes, whose first one is bubblewrap: when
 * that is killed, the kernel ends all others, whatever the program has done about its parent and its session. Without a sidecar,
 * the output goes to stderr alone.
 */
export function sandboxed(
  { bwrap, prlimit, setpriv, unshare, pasta }: SandboxTools,
  folder: InstanceFolder,
  program: SandboxedProgram & { readonly command: readonly string[] },
  parent: SandboxParent,
): Sandboxed {
  const argumentsPath = join(folder.path, 'sandbox.arguments');
  const namesPath = join(folder.path, 'resolv.conf');
  const hostsPath = join(folder.path, 'hosts');
  const { hostname, readable } = program;
  const args = sandboxArguments({
    ...program,
    readable: { ...readable, '/etc/resolv.conf': namesPath, '/etc/hosts': hostsPath },
  });
  const isOfSidecar = parent.kind === 'sidecar';
  return {
    files: [
      { path: argumentsPath, content: argumentsFile(args) },
      { path: namesPath, content: pasta === undefined ? '' : `nameserver ${NAME_SERVER}\n` },
      { path: hostsPath, content: `127.0.0.1 localhost ${hostname}\n::1 localhost\n` },
    ],
    command: [
      // The shell opens the file, so that no variable of the program is seen in a list of processes.
      '/bin/sh',
      '-c',
      `exec 8<"$1"${isOfSidecar ? '' : ' 1>&2'}; shift; exec "$@"`,
      'sh',
      argumentsPath,
      prlimit,
      `--nproc=${PROCESSES_MAX}`,
      ...(isOfSidecar ? [setpriv, '--pdeathsig', 'KILL'] : []),
      unshare,
      '--pid',
      '--fork',
      '--kill-child',
      bwrap,
      '--args',
      '8',
      ...(isOfSidecar ? ['--info-fd', String(parent.infoFd)] : []),
      '--',
      ...program.command,
    ],
  };
}
