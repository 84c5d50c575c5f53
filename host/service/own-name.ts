// OwnName: the name of a service that this runtime serves. It may begin with a digit, which no name that others call by does.
import { isServiceName } from '@svc/client';
import type { Log } from '@svc/kit/log';

const OWN_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Grammar of the name, for messages. */
export const OWN_NAME_WORDS = 'lower-case letters, digits and hyphens, at most 63';

export function isOwnName(text: string): boolean {
  return OWN_NAME.test(text);
}

/** Warns if no other service can call one of this name. */
export function reportUncallable(name: string, log: Log): void {
  if (isServiceName(name)) return;
  log({
    level: 'warn',
    message: 'no other service can call this one',
    fields: {
      reason: `its name ${name} begins with a digit`,
      hint: 'give it a name that begins with a letter',
    },
  });
}
