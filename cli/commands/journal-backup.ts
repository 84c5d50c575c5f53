// svc journal backup: makes a complete copy of a journal in a folder, even while a service runs on it.
import { command } from '../command.ts';
import { copied } from '../journal-copying.ts';
import { journalNote, journalOf } from '../journal-word.ts';

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
    notes: `${journalNote()}
Exits with 1 when something is damaged, which it names; then there is no copy.`,
    examples: ['svc journal backup .svc/shopping-cart backups/monday'],
  },
  async ([dir, to]) => {
    const tools = await import('@svc/host/tools');
    return copied(tools, journalOf(tools, dir!), tools.journalIn(to!), to!);
  },
);
