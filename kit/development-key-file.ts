// DevelopmentKeyFile: where the key lies with which a developer makes access tokens for services of the own machine.
import { join } from 'node:path';

/** `home`: the home folder of the user. */
export function developmentKeyFile(home: string): string {
  return join(home, '.svc', 'development-tokens.json');
}
