// JournalWord: the word that names a journal on the command line. It is a data folder, or says where the URL of a database is, by the
// names that the settings svc.database.url-file and svc.database.url-variable have, and, after a #, which schema has the journal.
//
// Invariant: a URL itself is not taken, because other users of the machine see the words of a command.
import { resolve } from 'node:path';
import type { JournalInDatabase, JournalLocation } from '@svc/host/tools';
import { UsageError } from './usage-error.ts';

const URL_FILE = 'url-file:';
const URL_VARIABLE = 'url-variable:';
/** The name of a schema at the end of a word. */
const SCHEMA = /#([a-z][a-z0-9_]{0,39})$/;

/** Returns lines for the help of a command that takes such words. `words`: those words, as the subject of a sentence. */
export function journalNote(words = 'DIR'): string {
  return `${words} may also be ${URL_FILE}FILE or ${URL_VARIABLE}NAME: the journal in the database
whose URL is in this file, or in this variable of the environment.`;
}

/** Returns the location of the database that a word names. Throws UsageError for a folder. `command`: the one that takes the word. */
export function databaseOf(command: string, tools: Tools, word: string): JournalInDatabase {
  const location = journalOf(tools, word);
  if (location.kind === 'postgres') return location;
  throw new UsageError(
    `${command} takes the journal of a database as ${URL_FILE}FILE or ${URL_VARIABLE}NAME, not a folder, which one process uses alone.`,
  );
}

type Tools = Pick<typeof import('@svc/host/tools'), 'journalIn' | 'journalInDatabase'>;

/** Returns the location that a word names. Throws UsageError for a URL. */
export function journalOf({ journalIn, journalInDatabase }: Tools, word: string): JournalLocation {
  const schema = SCHEMA.exec(word)?.[1];
  const named = word.replace(SCHEMA, '');
  if (named.startsWith(URL_FILE))
    return journalInDatabase({ kind: 'file', path: resolve(named.slice(URL_FILE.length)), schema });
  if (named.startsWith(URL_VARIABLE)) {
    const variable = named.slice(URL_VARIABLE.length);
    return journalInDatabase({ kind: 'environment', variable, schema });
  }
  if (/^postgres(ql)?:/i.test(word))
    throw new UsageError(
      'the URL of a database does not stand on the command line, where other users of this machine see it. Put it into a file that ' +
        `you alone can read, and name that: ${URL_FILE}FILE; or a variable of the environment: ${URL_VARIABLE}NAME.`,
    );
  return journalIn(word);
}
