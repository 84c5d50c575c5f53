// Bubblewrap: the arguments by which bubblewrap runs a program of an image: with the image's files and nothing else of this machine, as a
// user without rights, in namespaces of its own. Its network is that of the process that runs bubblewrap.
//
// Invariants
// B1  No variable of the program is a variable of bubblewrap itself: one such as LD_PRELOAD would run the image's code outside.
// B2  The kernel's own settings are read-only also for a control plane that runs as root, whose programs the kernel takes for root's.
// B3  What the program can write is what `writable` names, and folders in memory that are bounded.
import { existsSync } from 'node:fs';

/** Settings and switches of the whole machine, as container runtimes keep them from programs. */
const KERNEL_PATHS = [
  'acpi',
  'asound',
  'bus',
  'driver',
  'fs',
  'irq',
  'mtrr',
  'scsi',
  'sys',
  'sysrq-trigger',
].map((name) => `/proc/${name}`);
const HIDDEN_PATHS = [
  'kcore',
  'keys',
  'latency_stats',
  'sched_debug',
  'timer_list',
  'timer_stats',
].map((name) => `/proc/${name}`);

/** Size of each of the program's folders in memory, in bytes: /tmp, /run, and /dev/shm. */
const TEMPORARY_BYTES = 64 * 1024 * 1024;

export interface SandboxedProgram {
  /** Folder with the files of the image. */
  readonly root: string;
  /** Hostname of the program. */
  readonly hostname: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Absolute path, in the sandbox. */
  readonly workingDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders and files of this machine by their path in the sandbox, which exists in the image or is below /run. */
  readonly readable: Readonly<Record<string, string>>;
  readonly writable: Readonly<Record<string, string>>;
}

/** Returns the arguments up to the program's own. Each is a text without NUL. */
export function sandboxArguments(program: SandboxedProgram): readonly string[] {
  const { root, hostname, user, workingDir, env, readable, writable } = program;
  return [
    '--unshare-user',
    '--disable-userns',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--die-with-parent',
    '--new-session',
    // The program gets signals itself, as in any container.
    '--as-pid-1',
    '--uid',
    String(user.uid),
    '--gid',
    String(user.gid),
    '--cap-drop',
    'ALL',
    '--hostname',
    hostname,
    '--ro-bind',
    root,
    '/',
    '--proc',
    '/proc',
    ...KERNEL_PATHS.flatMap((path) => ['--ro-bind-try', path, path]),
    ...HIDDEN_PATHS.flatMap((path) => (existsSync(path) ? ['--ro-bind', '/dev/null', path] : [])),
    '--dev',
    '/dev',
    ...inMemory('/dev/shm'),
    '--remount-ro',
    '/dev',
    ...inMemory('/tmp'),
    // What the platform mounts lies there, and not in the image.
    ...inMemory('/run'),
    ...Object.entries(readable).flatMap(([path, source]) => ['--ro-bind', source, path]),
    ...Object.entries(writable).flatMap(([path, source]) => ['--bind', source, path]),
    '--chdir',
    workingDir,
    '--clearenv',
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

function inMemory(path: string): readonly string[] {
  return ['--size', String(TEMPORARY_BYTES), '--perms', '1777', '--tmpfs', path];
}

/** Returns the content of a file of arguments (`--args`). */
export function argumentsFile(args: readonly string[]): string {
  return args.map((arg) => `${arg}\0`).join('');
}
