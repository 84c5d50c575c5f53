// A process that appends to the journal in the folder it is given, as fast as it goes, and writes a
// line for each append that was acknowledged, until it is killed.
// Usage: node append-load.ts FOLDER ENTITIES
import { writeSync } from 'node:fs';
import { attachSqliteJournal } from '../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';

const [folder, entities] = [process.argv[2]!, Number(process.argv[3])];
const opened = await openSqliteJournal(folder);
const journal = attachSqliteJournal(opened.connect());

async function load(id: string): Promise<void> {
  const entity = { component: 'Load', id };
  const stored = await journal.read(entity, 0, Number.MAX_SAFE_INTEGER);
  for (let seq = stored.length + 1; ; seq++) {
    await new Promise<void>((resolve) => {
      const event = { manifest: 'E', json: `{"type":"E","n":${seq}}` };
      journal.append(entity, [{ kind: 'event', seq, timeMs: seq, event }], (failure) => {
        if (failure !== undefined) throw failure;
        resolve();
      });
    });
    say(`${id} ${seq}\n`);
  }
}

/** At once, so that what was acknowledged is said before the process can be killed. */
function say(line: string): void {
  for (;;)
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      // The pipe is full: whoever reads it is slower than the journal.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
}

await Promise.all(Array.from({ length: entities }, (_, index) => load(`entity-${index}`)));
