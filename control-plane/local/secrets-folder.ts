// SecretsFolder: the folder in which the operator puts the secrets of modules, `<project>/<name of the secret>`. The control plane reads
// none of them: the runtime of a module reads those that the module declares, of its own project.
import { mkdirSync, statSync } from 'node:fs';
import type { Log } from '@svc/kit/log';

/** Bits of a folder's rights by which others than its owner use it. */
const USED_BY_OTHERS = 0o077;

/** Makes the folder if it is not there. What is wrong with it is logged; services without secrets run nevertheless. */
export function makeSecretsFolder(folder: string, log: Log): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if ((statSync(folder).mode & USED_BY_OTHERS) === 0) return;
    log({
      level: 'warn',
      message: `The folder of secrets ${folder} can be used by other users of the machine: give it the rights 0700 (svc.local.secrets-folder)`,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log({
      level: 'warn',
      message: `The folder of secrets ${folder} cannot be made (${code}): modules get no secrets from it (svc.local.secrets-folder)`,
    });
  }
}
