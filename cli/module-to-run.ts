// ModuleToRun: the module that a command was given, admitted with the settings that stand beside it.
import { CommandFailure } from './command.ts';
import { UsageError } from './usage-error.ts';

/**
 * A setting that does not exist is a word that makes no sense, here as for svc run. What else is wrong is told
 * with the file: a command may take two.
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
