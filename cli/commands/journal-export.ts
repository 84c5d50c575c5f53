// svc journal export: writes a journal to stdout as lines of JSON.
import type { JournalFinding } from '@svc/host/tools';
import { setImmediate } from 'node:timers/promises';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { findingLine } from '../finding-line.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { printable, printableJson } from '@svc/kit/printable';
import { ProgressLine } from '../progress-line.ts';
import { FILTER_OPTIONS, readFilter } from '../record-filter.ts';
import { printData } from '../terminal.ts';

/** Length from which collected lines are written, in UTF-16 code units. */
const WRITTEN_FROM_UNITS = 64 * 1024;

export const journalExport = command(
  {
    name: 'journal export',
    summary: 'write a journal as lines of JSON',
    about: `Writes a journal to stdout, a line of JSON for each record, and for each answer that is kept to
an idempotency key. An event stands in its line byte for byte. It reads only, in short steps, and
may do so while a service runs: what it writes was stored at one moment.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }],
    options: FILTER_OPTIONS,
    notes: `${journalNote()}
Without a filter, svc journal import makes the same journal of it again.
Exits with 1 when it met a damaged record, which it names; it writes the others all the same.`,
    examples: [
      'svc journal export .svc/shopping-cart > cart.ndjson',
      'svc journal export .svc/shopping-cart --type item-added --since 1h | jq .event',
    ],
  },
  async ([dir], options) => {
    const filter = readFilter('journal export', options);
    const tools = await import('@svc/host/tools');
    const { exportJournal, TEXT_HEAD, textChecksum, textEnd } = tools;
    const location = journalOf(tools, dir!);
    const progress = new ProgressLine();
    // A file receives the text byte for byte; for a terminal, control characters are escaped.
    const shown = process.stdout.isTTY ? printableJson : (text: string) => text;
    const counts = { records: 0, answers: 0, modules: 0, timers: 0, consumers: 0, lanes: 0 };
    const findings: JournalFinding[] = [];
    let crc = textChecksum(TEXT_HEAD, 0);
    let text = `${TEXT_HEAD}\n`;
    try {
      for await (const entry of exportJournal(location, filter)) {
        if (entry.kind === 'progress') {
          progress.show(entry.done, entry.total, entry.what);
          // Signals are handled between the steps.
          await setImmediate();
        } else if (entry.kind === 'finding') {
          progress.clear();
          if (findings.push(entry) > 0) process.stderr.write(findingLine(entry));
        } else {
          counts[`${entry.kind}s`]++;
          const { line } = entry;
          crc = textChecksum(line, crc);
          text += `${shown(line)}\n`;
        }
        if (text.length < WRITTEN_FROM_UNITS) continue;
        if (!(await printData(text))) return EXIT_CODE.ok;
        text = '';
      }
    } finally {
      progress.clear();
    }
    await printData(`${text}${textEnd({ ...counts, crc })}\n`);
    if (findings.length === 0) return EXIT_CODE.ok;
    throw new CommandFailure(
      'SVC_JOURNAL_CORRUPT',
      `The journal in ${printable(dir!)} is damaged in ${findings.length === 1 ? 'one place' : `${findings.length} places`}, ` +
        'named above, and what was written cannot be imported. Restore the journal from a backup.',
    );
  },
);
