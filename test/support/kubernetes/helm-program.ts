// HelmProgram: the program helm that scripts/helm.sh has fetched into a folder of the user's cache. Nothing is fetched by the tests.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, '../../../scripts/helm.sh');

/** Returns the path of helm; undefined if there is none, the reason of which is printed. `file`: what is skipped. */
export function printedHelm(file: string): string | undefined {
  const folder = folderOfHelm();
  const program = join(folder, 'helm');
  if (existsSync(program)) return program;
  const failure = `${folder}.failure`;
  const reason = existsSync(failure)
    ? readFileSync(failure, 'utf8').trim()
    : 'there is no helm; scripts/helm.sh fetches it';
  console.log(`${file} is skipped: ${reason}`);
  return undefined;
}

/** Returns the folder in which scripts/helm.sh puts the program. */
export function folderOfHelm(): string {
  const key = createHash('sha256').update(readFileSync(SCRIPT)).digest('hex').slice(0, 16);
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'svc-test', `helm-${key}`);
}
