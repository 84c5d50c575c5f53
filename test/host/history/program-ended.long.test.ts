// Verifications of a program whose code ends its thread again and again: they end with an error, because nothing of the
// program can be folded any more.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyModule } from '../../../host/history/module-verification.ts';
import { verifyViews } from '../../../host/history/view-verification.ts';
import { readProgram } from '../../../host/hosting/program/program-source.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';
import { COUNTED, counted, counter, program } from '../hosting/program/support/programs.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const settings = { wasm: WASM_LIMITS_DEFAULT };
const ENDED = {
  code: 'SVC_PROGRAM_INVALID',
  message: expect.stringContaining('has ended the thread in which it runs 4 times') as string,
};

test('a verification of entities', async () => {
  const file = program(counter('process.exit(1);'));
  const eventsFile = join(dirname(file), 'events.ndjson');
  const lines = ['a', 'b', 'c', 'd', 'e'].map((id) =>
    JSON.stringify({ component: 'counter', id, event: { type: 'counted' } }),
  );
  writeFileSync(eventsFile, `${lines.join('\n')}\n`);
  const verified = verifyModule({ source: readProgram(file), settings, eventsFile });
  await expect(Array.fromAsync(verified)).rejects.toMatchObject(ENDED);
});

test('a verification of views', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    for (const id of ['a', 'b', 'c'])
      await append(
        journal,
        { component: 'counter', id },
        { ...recordOf(1), kind: 'event', event: COUNTED },
      );
  });
  // A batch ends a thread, and the event alone another one.
  const text = counted(['one', 'two', 'three'], "if (entityId === 'b') process.exit(1);");
  const verified = verifyViews({
    source: readProgram(program(text)),
    settings,
    location: journalIn(dir),
  });
  const first = await verified.next();
  expect(first.value).toMatchObject({ view: 'one', failure: { code: 'SVC_VIEW_STOPPED' } });
  await expect(Array.fromAsync(verified)).rejects.toMatchObject(ENDED);
});
