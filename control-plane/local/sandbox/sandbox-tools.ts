// SandboxTools: the programs of this machine by which a process is kept apart from it.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Folders of the system's programs. Others are not looked at: what is found there decides what a member's program may do. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];
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
  readonly setpriv: string;
  /** Passes connections on to other machines; undefined: they are not passed on. */
  readonly pasta: string | undefined;
}

/** Returns the tools, or what is missing, worded to follow a colon. `isOutbound`: whether processes may reach other machines. */
export function lookUpTools(isOutbound: boolean): SandboxTools | string {
  const paths = Object.keys(NEEDED).map((name): [string, string] => [name, pathOf(name) ?? '']);
  const missing = paths.find(([, path]) => path === '')?.[0] as keyof typeof NEEDED | undefined;
  if (missing !== undefined)
    return `it has no program ${missing} (Debian's package ${NEEDED[missing]})`;
  const pasta = isOutbound ? pathOf('pasta') : undefined;
  if (isOutbound && pasta === undefined)
    return "it has no program pasta (Debian's package passt), which passes connections on to other machines; without it, set svc.local.outbound to false";
  return { ...(Object.fromEntries(paths) as Record<keyof typeof NEEDED, string>), pasta };
}

function pathOf(name: string): string | undefined {
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
