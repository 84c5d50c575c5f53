// ModuleToRun: the module that a command was given, admitted with the settings that stand beside it.
import { UsageError } from './usage-error.ts';

/** A setting that does not exist is a word that makes no sense, here as for svc run. */
export async function moduleToRun(
  { SvcError, admitFileToRun }: typeof import('@svc/host/tools'),
  file: string,
  settings: readonly string[],
) {
  try {
    return await admitFileToRun(file, settings, {});
  } catch (error) {
    if (error instanceof SvcError && error.code === 'SVC_USAGE')
      throw new UsageError(error.message);
    throw error;
  }
}
