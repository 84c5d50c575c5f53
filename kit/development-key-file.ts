// DevelopmentKeyFile: where the key lies with which a developer makes access tokens for services of the own machine.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { SvcError } from './svc-error.ts';

/** Throws SVC_SETTING_INVALID if the user has no home folder: in the working folder the key could be published with the project. */
export function developmentKeyFile(home: () => string = homedir): string {
  const folder = folderOf(home);
  if (folder !== undefined && isAbsolute(folder))
    return join(folder, '.svc', 'development-tokens.json');
  throw new SvcError(
    'SVC_SETTING_INVALID',
    'The key of development tokens lies in the home folder, and this user has none. Set HOME to the absolute path of one.',
  );
}

/** Returns undefined if the system knows no home folder of the user. */
function folderOf(home: () => string): string | undefined {
  try {
    return home();
  } catch {
    return undefined;
  }
}
