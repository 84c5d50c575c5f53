// ModuleToRun: loads the module of a command, admitted with the given settings.
import { CommandFailure } from './command.ts';
import { UsageError } from './usage-error.ts';

/**
 * Loads a module. Throws UsageError for an unknown setting, as svc run does. Any other failure names the file,
 * because a command may take two.
 */
export async function moduleToRun(
  { SvcError, admitFileToRun }: typeof import('@svc/host/tools'),
  file: string,
  settings: readonly string[],
) {
  try {
    return await admitFileToRun(file, settings, {});
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { code, message } = error;
    if (code === 'SVC_USAGE') throw new UsageError(message);
    if (message.includes(file)) throw error;
    throw new CommandFailure(code, `${file}: ${message}`, { cause: error });
  }
}
