// svc journal import: creates a journal from the output of svc journal export.
import { createReadStream } from 'node:fs';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { ProgressLine } from '../progress-line.ts';

export const journalImport = command(
  {
    name: 'journal import',
    summary: 'make a journal of what svc journal export wrote',
    about: `Makes a journal in a new folder, or in an empty database, of the lines that svc journal export
wrote: the same records in the same positions, with their numbers, times, seeds, traces and keys.
A line that was changed, or one that is missing, is named, and no journal is made.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'FILE', completes: { kind: 'file', ending: '.ndjson' } },
    ],
    options: {},
    notes: `FILE may be '-': the lines come from stdin.
${journalNote()}
The lines go to a database by way of a temporary folder.`,
    examples: [
      'svc journal import .svc/copy cart.ndjson',
      'svc journal import url-file:database.url cart.ndjson',
      'zcat cart.ndjson.gz | svc journal import .svc/copy -',
    ],
  },
  async ([dir, file]) => {
    const tools = await import('@svc/host/tools');
    const location = journalOf(tools, dir!);
    const progress = new ProgressLine();
    try {
      const text = file === '-' ? process.stdin : createReadStream(file!);
      const { records, entities } = await tools.importJournal(text, location, (lines) =>
        progress.show(lines, undefined, 'lines'),
      );
      progress.clear();
      process.stderr.write(
        `Imported ${counted(records, 'record')} of ${counted(entities, 'entity', 'entities')} into ${dir}.\n`,
      );
      return EXIT_CODE.ok;
    } catch (error) {
      progress.clear();
      const { code, path } = error as NodeJS.ErrnoException;
      if (path === undefined || path !== file) throw error;
      throw new CommandFailure(
        'SVC_IMPORT_INVALID',
        `The file ${file} cannot be read (${code}). Give a file that svc journal export has written.`,
        { cause: error },
      );
    }
  },
);
