// svc journal backup: makes a complete copy of a journal, even while a service runs on it.
import { setImmediate } from 'node:timers/promises';
import { command, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { ProgressLine } from '../progress-line.ts';

export const journalBackup = command(
  {
    name: 'journal backup',
    summary: 'copy a journal whole, also while a service runs on it',
    about: `Copies a journal into a new folder: what was stored at one moment, every record held against its
checksum on the way. The service goes on meanwhile and is not held up. The copy has its name once
all of it is on disk; a service can be started on it.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'TO', completes: { kind: 'folder' } },
    ],
    options: {},
    notes: 'Exits with 1 when something is damaged, which it names; then there is no copy.',
    examples: ['svc journal backup .svc/shopping-cart backups/monday'],
  },
  async ([dir, to]) => {
    const { backUpJournal, journalIn } = await import('@svc/host/tools');
    const progress = new ProgressLine();
    try {
      const steps = backUpJournal(journalIn(dir!), journalIn(to!));
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
        `Copied ${counted(records, 'record')} of ${counted(entities, 'entity', 'entities')} to ${to}.\n`,
      );
      return EXIT_CODE.ok;
    } finally {
      progress.clear();
    }
  },
);
