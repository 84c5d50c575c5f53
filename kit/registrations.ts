// Registrations: the folder in which the services of this machine register, a file PID.json for each, and
// PID-INSTANCE.json for each further service of one process. Files are read and never written or deleted; a file
// that is half written or invalid is skipped.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { loopbackAddress, type LoopbackAddress } from './loopback-address.ts';

export interface Registration {
  readonly instanceId: string;
  readonly name: string;
  readonly pid: number;
  /** Start time in ISO 8601. */
  readonly startedAt: string;
  /** URL of the introspection endpoints, as in the file. */
  readonly observabilityAddress: string;
  /** Loopback address of `observabilityAddress`. */
  readonly address: LoopbackAddress;
}

export interface RegistrationList {
  readonly registrations: readonly Registration[];
  /** Reason why the folder, or a part of it, was not read, worded to follow a colon; null if all files were read. */
  readonly problem: string | null;
}

const FILES_MAX = 500;
const FILE_BYTES_MAX = 16 * 1024;
const TEXT_LENGTH_MAX = 256;
/** Grammar of an instance id, which becomes a part of the path of a request. */
export const INSTANCE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export async function readRegistrations(folder: string): Promise<RegistrationList> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // No service has registered yet.
    if (code === 'ENOENT') return { registrations: [], problem: null };
    return { registrations: [], problem: reasonOf(code) };
  }
  const files = names.filter((name) => /^[1-9]\d{0,9}(-[0-9a-f]{16})?\.json$/.test(name));
  const read = await Promise.all(
    files.slice(0, FILES_MAX).map(async (name) => readRegistration(join(folder, name), name)),
  );
  return {
    registrations: read.filter((registration) => registration !== undefined),
    problem:
      files.length > FILES_MAX
        ? `it holds ${files.length} files, of which ${FILES_MAX} were read: remove those of services that have ended`
        : null,
  };
}

/** Returns the names that the file of a registration may have. */
function namesOf({ pid, instanceId }: Registration): readonly string[] {
  return [`${pid}.json`, `${pid}-${instanceId}.json`];
}

function reasonOf(code: string | undefined): string {
  if (code === 'ENOTDIR') return 'it is no folder';
  return code === 'EACCES' || code === 'EPERM' ? 'permission denied' : `the system says ${code}`;
}

async function readRegistration(file: string, name: string): Promise<Registration | undefined> {
  try {
    const stats = await stat(file);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX) return undefined;
    const found = registrationOf(JSON.parse(await readFile(file, 'utf8')));
    return found !== undefined && namesOf(found).includes(name) ? found : undefined;
  } catch {
    // The file was removed, is not readable, or is not completely written.
    return undefined;
  }
}

function registrationOf(json: unknown): Registration | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { name, instanceId, pid, observabilityAddress, startedAt } = json as Readonly<
    Record<string, unknown>
  >;
  if (!isText(name) || !isText(instanceId) || !INSTANCE_ID.test(instanceId)) return undefined;
  if (!Number.isSafeInteger(pid) || (pid as number) < 1) return undefined;
  if (!isText(observabilityAddress)) return undefined;
  if (!isText(startedAt) || Number.isNaN(Date.parse(startedAt))) return undefined;
  const address = loopbackAddress(observabilityAddress);
  if (address === undefined) return undefined;
  return { name, instanceId, pid: pid as number, observabilityAddress, startedAt, address };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX;
}
