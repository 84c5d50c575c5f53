// WebCommandWords: words for the user of `svc web` about the command that it keeps running.
import type { CommandWords } from '@svc/kit/supervised-command';

export const WEB_COMMAND_WORDS: CommandWords = { portSetting: '--process-port', silence };

/** Says what to do about a process that does not listen. */
function silence(port: number, isChosen: boolean): string {
  const message = `the process does not listen yet: it has to listen on 127.0.0.1 and the port ${port}, `;
  if (isChosen) return `${message}which --process-port names`;
  return `${message}which the variable PORT names. If the program does not read PORT, name the port on which it listens, as in svc web --process-port 8000 -- COMMAND, or give it the port as an argument, as in svc web -- sh -c 'exec COMMAND "$PORT"'`;
}
