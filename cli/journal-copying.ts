// JournalCopying: the part that commands share which copy a whole journal: the progress, and what was copied.
import { setImmediate } from 'node:timers/promises';
import type { JournalLocation } from '@svc/host/tools';
import { EXIT_CODE, type ExitCode } from './command.ts';
import { counted } from './counted.ts';
import { ProgressLine } from './progress-line.ts';

type Tools = Pick<typeof import('@svc/host/tools'), 'copyJournal'>;

/** Copies a journal. `toWord`: the word of the command that names `to`. */
export async function copied(
  { copyJournal }: Tools,
  from: JournalLocation,
  to: JournalLocation,
  toWord: string,
): Promise<ExitCode> {
  const progress = new ProgressLine();
  try {
    const steps = copyJournal(from, to);
    let step = await steps.next();
    for (; step.done !== true; step = await steps.next()) {
      const { what, done, total } = step.value;
      progress.show(done, total, what);
      // Lets the process handle signals between the steps.
      await setImmediate();
    }
    progress.clear();
    const { records, entities } = step.value;
    process.stderr.write(
      `Copied ${counted(records, 'record')} of ${counted(entities, 'entity', 'entities')} to ${toWord}.\n`,
    );
    return EXIT_CODE.ok;
  } finally {
    progress.clear();
  }
}
