// svc journal copy: copies a journal between a folder and a database, in either direction.
import { command } from '../command.ts';
import { copied } from '../journal-copying.ts';
import { journalNote, journalOf } from '../journal-word.ts';

export const journalCopy = command(
  {
    name: 'journal copy',
    summary: 'copy a journal between a folder and a database',
    about: `Copies a journal into a new folder or an empty database: what was stored at one moment, every record
held against its checksum on the way. What svc journal export writes of both is the same, byte for
byte. A service may run on the journal meanwhile; what it stores later is not in the copy.
Until the copy is complete, no service starts on it. A copy into a database that was interrupted
goes on when the same command runs again.`,
    words: [
      { name: 'FROM', completes: { kind: 'folder' } },
      { name: 'TO', completes: { kind: 'folder' } },
    ],
    options: {},
    notes: `${journalNote('FROM and TO')}
Exits with 1 when something is damaged, which it names.`,
    examples: [
      'svc journal copy .svc/shopping-cart url-file:database.url',
      'svc journal copy url-file:database.url copies/monday',
    ],
  },
  async ([from, to]) => {
    const tools = await import('@svc/host/tools');
    return copied(tools, journalOf(tools, from!), journalOf(tools, to!), to!);
  },
);
