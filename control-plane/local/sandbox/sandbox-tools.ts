// SandboxTools: the programs of this machine by which a process is kept apart from it, and whether they work here.
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Folders of the system's programs. Others are not looked at: what is found there decides what a member's program may do. */
const SYSTEM_FOLDERS = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
];
/** Time for the trial of a sandbox, in milliseconds. */
const TRIAL_MS = 10_000;
/** Programs that every sandbox needs, and the package that has each in Debian. */
const NEEDED = {
  bwrap: 'bubblewrap',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  prlimit: 'util-linux',
  ip: 'iproute2',
} as const;

/** Absolute paths of programs. */
export interface SandboxTools {
  readonly bwrap: string;
  readonly unshare: string;
  readonly prlimit: string;
  /** Passes connections on to other machines; undefined: they are not passed on. */
  readonly pasta: string | undefined;
}

export type SandboxSupport =
  | { readonly kind: 'available'; readonly tools: SandboxTools }
  /** `reason`: what is missing, worded to follow a colon. */
  | { readonly kind: 'missing'; readonly reason: string };

/** Finds the tools, and makes an empty sandbox as a trial. `isOutbound`: whether processes may reach other machines. Never rejects. */
export async function findSandboxTools(isOutbound: boolean): Promise<SandboxSupport> {
  if (process.platform !== 'linux') return missing('it is not Linux');
  const found = Object.fromEntries(
    Object.keys(NEEDED).map((name) => [name, programNamed(name)]),
  ) as Record<keyof typeof NEEDED, string | undefined>;
  for (const [name, path] of Object.entries(found))
    if (path === undefined)
      return missing(
        `it has no program ${name} (Debian's package ${NEEDED[name as keyof typeof NEEDED]})`,
      );
  const pasta = isOutbound ? programNamed('pasta') : undefined;
  if (isOutbound && pasta === undefined)
    return missing(
      "it has no program pasta (Debian's package passt), which passes connections on to other machines; or set svc.local.outbound to false",
    );
  const tools: SandboxTools = {
    bwrap: found.bwrap!,
    unshare: found.unshare!,
    prlimit: found.prlimit!,
    pasta,
  };
  const refusal = await trial(tools);
  return refusal === undefined
    ? { kind: 'available', tools }
    : missing(
        `it lets nobody make a sandbox (${refusal}): allow user namespaces, and give bubblewrap the right to use them`,
      );
}

function missing(reason: string): SandboxSupport {
  return { kind: 'missing', reason };
}

function programNamed(name: string): string | undefined {
  return SYSTEM_FOLDERS.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns why no sandbox can be made; undefined if one was. */
async function trial({ bwrap, unshare }: SandboxTools): Promise<string | undefined> {
  const inner = [bwrap, '--unshare-user', '--disable-userns', '--unshare-pid', '--cap-drop', 'ALL'];
  const args = ['--user', '--map-root-user', '--net', ...inner, '--ro-bind', '/', '/', 'true'];
  try {
    await promisify(execFile)(unshare, args, { timeout: TRIAL_MS });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    return (stderr?.trim() || message).split('\n')[0];
  }
}
