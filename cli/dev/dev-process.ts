// DevProcess: `svc dev` for code in a process of its own: the command continues as the host, which starts the process, and starts it again
// when a file of the folder changes.
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { continueAs } from '../program-process.ts';
import { UsageError } from '../usage-error.ts';

const HOST = fileURLToPath(import.meta.resolve('@svc/host/main'));

/**
 * Serves the process that the command starts in the folder. `args`: arguments of the service, as for `svc run`, with absolute paths. Does not
 * return. Throws UsageError if there is no such folder.
 */
export async function developProcess(
  folder: string,
  command: string,
  args: readonly string[],
): Promise<never> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(
      `dev takes the folder in which the process is started: ${folder} is none.`,
    );
  process.chdir(folder);
  // A shell may have the variable SVC_DEPLOYED, which would make the service a deployed instance.
  const own = ['--set=svc.deployed=false', '--set=svc.process.watch=.'];
  return continueAs(HOST, [...args, ...own, `--process-command=${command}`]);
}
