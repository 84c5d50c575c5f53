// A tally that the test's own process serves: its journal, and the command line that reads the journal with the process.
import { onTestFinished } from 'vitest';
import type { JournalRecord } from '../../model/entity.ts';
import { serveProcess, type ServedProcess } from '../../process-sdk/typescript/index.ts';
import { append } from '../suites/journal-suite.ts';
import { runSvc } from './host-process.ts';
import { type TallyCode, tallyComponents } from './tally.ts';
import { withJournal } from './with-journal.ts';

/** Serves the components on a free port until the test is over. */
export async function servedTally(code: TallyCode = {}): Promise<ServedProcess> {
  const served = await serveProcess({ ...tallyComponents(code), port: 0 });
  onTestFinished(() => served.close());
  return served;
}

/** Writes a journal of two tallies. */
export async function fillTallies(dir: string): Promise<void> {
  await withJournal(dir, async (journal) => {
    for (const [id, amounts] of Object.entries({ a: [1, 2], b: [5] })) {
      const records = amounts.map((amount, index): JournalRecord => {
        const json = JSON.stringify({ type: 'added', amount });
        return {
          kind: 'event',
          seq: index + 1,
          timeMs: 1_000,
          event: { manifest: 'tally-event', json },
        };
      });
      const failure = await append(journal, { component: 'tally', id }, ...records);
      if (failure !== undefined) throw failure;
    }
  });
}

/** Runs the command line. */
export async function svc(...args: readonly string[]) {
  return runSvc(args, { env: { FORCE_COLOR: undefined, NO_COLOR: undefined } });
}
