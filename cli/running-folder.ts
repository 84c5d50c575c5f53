// RunningFolder: the folder in which the services of this machine register, as a command finds it.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommandFailure } from './command.ts';

/** Returns the folder that the variable SVC_RUNNING_DIR names, or the default. Throws CommandFailure for an empty name. */
export function runningFolderSetting(set: string | undefined): string {
  if (set === '')
    throw new CommandFailure(
      'SVC_SETTING_INVALID',
      "The setting svc.running.dir (environment: SVC_RUNNING_DIR) takes a value that is not empty, and found ''.",
    );
  return set ?? join(homedir(), '.svc', 'running');
}
