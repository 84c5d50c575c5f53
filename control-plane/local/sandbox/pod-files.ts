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

/** Returns the command that runs a program in a network of its own: its file and arguments. */
export function podCommand(tools: SandboxTools, command: readonly string[]): readonly string[] {
  const { unshare, pasta = 'none' } = tools;
  return [unshare, '--user', '--map-root-user', '/bin/sh', NETWORK_SCRIPT, pasta, ...command];
}

/** Where bubblewrap writes the id of the program's process. */
export type ProgramIdSink =
  | { readonly kind: 'descriptor'; readonly fd: number }
  | { readonly kind: 'file'; readonly path: string };

export interface Sandboxed {
  readonly files: readonly PodFile[];
  /** Runs the program. */
  readonly command: readonly string[];
}

/** Returns how a program is run in bubblewrap. With a file as the sink, its output goes to stderr alone. */
export function sandboxed(
  { bwrap, prlimit }: SandboxTools,
  folder: InstanceFolder,
  program: SandboxedProgram & { readonly command: readonly string[] },
  sink: ProgramIdSink,
): Sandboxed {
  const argumentsPath = join(folder.path, 'sandbox.arguments');
  const namesPath = join(folder.path, 'resolv.conf');
  const hostsPath = join(folder.path, 'hosts');
  const { hostname, readable } = program;
  const args = sandboxArguments({
    ...program,
    readable: { ...readable, '/etc/resolv.conf': namesPath, '/etc/hosts': hostsPath },
  });
  const [fd, opening, path] =
    sink.kind === 'file' ? [9, ' 9>"$2" 1>&2', sink.path] : [sink.fd, '', ''];
  return {
    files: [
      { path: argumentsPath, content: argumentsFile(args) },
      { path: namesPath, content: `nameserver ${NAME_SERVER}\n` },
      { path: hostsPath, content: `127.0.0.1 localhost ${hostname}\n::1 localhost\n` },
    ],
    // The shell opens the files, so that no variable of the program is seen in a list of processes.
    command: [
      '/bin/sh',
      '-c',
      `exec 8<"$1"${opening}; shift 2; exec "$@"`,
      'sh',
      argumentsPath,
      path,
      prlimit,
      `--nproc=${PROCESSES_MAX}`,
      bwrap,
      '--args',
      '8',
      '--info-fd',
      String(fd),
      '--',
      ...program.command,
    ],
  };
}
