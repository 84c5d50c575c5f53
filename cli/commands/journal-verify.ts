// svc journal verify: checks that a journal contains everything as it was written, and reports each difference.
import type { JournalFinding, VerificationResult } from '@svc/host/tools';
import { setImmediate } from 'node:timers/promises';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { findingLine } from '../finding-line.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { printableJson } from '@svc/kit/printable';
import { ProgressLine } from '../progress-line.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

export const journalVerify = command(
  {
    name: 'journal verify',
    summary: 'hold a whole journal against its checksums, numbers and indexes',
    about: `Reads a whole journal: every record against its checksum, the one order and each entity's for
holes, each index against its table, the answers to idempotency keys. Names all that it finds.
It reads only, in short steps, and may do so while a service runs.
It judges a journal; svc verify judges a module.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }],
    options: {
      structure: {
        type: 'boolean',
        help: "have SQLite check the file's structure too, although a service may run:\none long read, for which the log has to grow",
        otherwise: 'where no log is',
      },
      output: { ...OUTPUT_OPTION },
    },
    notes: `${journalNote()}
Exits with 0 when all is as it was written, with 1 when something is not.`,
    examples: [
      'svc journal verify .svc/shopping-cart',
      'svc journal verify backups/monday -o json',
    ],
  },
  async ([dir], { structure, output }) => {
    const tools = await import('@svc/host/tools');
    const location = journalOf(tools, dir!);
    if (structure && location.kind !== 'folder')
      throw new UsageError(
        "journal verify takes --structure for a data folder: it is SQLite's check of the file.",
      );
    const isJson = output === 'json';
    const progress = new ProgressLine();
    let result: VerificationResult | undefined;
    let isFirst = true;
    try {
      for await (const step of tools.verifyJournal(location, { structure })) {
        if (step.kind === 'progress') {
          progress.show(step.done, step.total, step.what);
          // Lets the process handle signals between the steps.
          await setImmediate();
        } else if (step.kind === 'result') result = step;
        else {
          progress.clear();
          const head = isFirst && isJson ? `{"dir":${json(dir)},"findings":[` : '';
          await printData(
            head + (isJson ? `${isFirst ? '' : ','}\n${findingJson(step)}` : findingLine(step)),
          );
          isFirst = false;
        }
      }
    } finally {
      progress.clear();
    }
    const { records, entities, answers, findings, structureChecked } = result!;
    const counts = {
      records,
      entities,
      answers,
      structureChecked: structureChecked ?? null,
    };
    if (isJson)
      await printData(
        `${isFirst ? `{"dir":${json(dir)},"findings":[` : '\n'}],${json(counts).slice(1)}\n`,
      );
    else {
      const checked = `${counted(records, 'record')} of ${counted(entities, 'entity', 'entities')}`;
      const checkedAnswers = answers === 0 ? '' : `, ${counted(answers, 'answer')}`;
      const verdict = findings === 0 ? ': all as it was written' : '';
      await printData(`${checked}${checkedAnswers}${verdict}\n`);
      if (structureChecked === false)
        process.stderr.write(
          "SQLite's own check was left out, since a service may be running; --structure makes it.\n",
        );
    }
    if (findings === 0) return EXIT_CODE.ok;
    throw new CommandFailure(
      'SVC_JOURNAL_CORRUPT',
      `The journal in ${dir} is damaged: ${counted(findings, 'finding')}, named above. ` +
        'Keep a copy of it as it is, and restore it from a backup.',
    );
  },
);

function json(value: unknown): string {
  return printableJson(JSON.stringify(value));
}

function findingJson({ component, id, seq, pos, problem }: JournalFinding): string {
  return json({ component, id, seq, pos, problem });
}
