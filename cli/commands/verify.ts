// svc verify: checks whether a module, a program or a process computes the states of its entities from their events alone. It
// checks code; svc journal verify checks a journal.
import type { JournalInspection } from '@svc/host/tools';
import { setImmediate } from 'node:timers/promises';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { ProgressLine } from '../progress-line.ts';
import {
  checkSettings,
  givenSource,
  PROCESS_OPTIONS,
  PROGRAM_OPTION,
  SOURCE_WORDS,
  withSources,
} from '../source-to-run.ts';
import { UsageError } from '../usage-error.ts';
import { VerifyReport } from '../verify-report.ts';

export const verify = command(
  {
    name: 'verify',
    summary: 'check that folds depend on nothing but the events',
    about: `Folds the events of entities with a module in several ways that have to come to the same state: in
fresh and in used instances, in batches of other sizes, beside other entities, on from snapshots.
A fold that depends on anything else is named. A program is judged in the same ways with --program,
and a process with --process or --process-command.
With --data it also folds the views, with the entities in other orders, and compares the rows with
each other and with those that the service has.
It judges a module; svc journal verify judges a journal.`,
    words: [{ name: 'MODULE.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      program: PROGRAM_OPTION,
      ...PROCESS_OPTIONS,
      data: {
        type: 'string',
        value: 'DIR',
        help: `every entity of the journal in this folder, on which a service
may run`,
        completes: { kind: 'folder' },
      },
      events: {
        type: 'string',
        value: 'FILE.ndjson',
        help: `the entities of this file: {"component", "id", "event"} on each
line, as svc journal export writes them`,
        completes: { kind: 'file', ending: '.ndjson' },
      },
      output: OUTPUT_OPTION,
      set: {
        type: 'string',
        multiple: true,
        value: 'NAME=VALUE',
        help: 'a setting with which the module runs, as of svc run',
      },
    },
    notes: `${journalNote()}
Without --data and --events it folds made-up events of each kind. Exits with 1 when it found
something, or met an entity that cannot be folded.`,
    examples: [
      'svc verify shopping-cart.wasm --data .svc/shopping-cart',
      'svc verify shopping-cart.wasm --events carts.ndjson -o json',
      'svc verify --program src/components.ts --data .svc/flags',
      'svc verify --process 127.0.0.1:9010 --data .svc/cart',
    ],
  },
  async ([module], { data, events, output, set, ...options }) => {
    const given = givenSource('verify', { module, ...options });
    if (given === undefined)
      throw new UsageError(
        'verify takes what it judges: MODULE.wasm, --program FILE.ts, --process ADDRESS or --process-command COMMAND.',
      );
    checkSettings('verify', set, given);
    const tools = await import('@svc/host/tools');
    const word = SOURCE_WORDS[given.kind];
    const progress = new ProgressLine();
    const { name } = given;
    const report = new VerifyReport({ word, name, isJson: output === 'json', tools, progress });
    await withSources(tools, [given], set, async ([{ source, settings }]) => {
      const location = data === undefined ? undefined : journalOf(tools, data);
      const inspection = location && tools.inspectJournal(location);
      const total = events === undefined ? await entitiesOf(inspection) : undefined;
      try {
        const question = {
          source,
          settings,
          ...(inspection === undefined ? {} : { inspection }),
          ...(events === undefined ? {} : { eventsFile: events }),
        };
        for await (const verified of tools.verifyModule(question)) {
          if (!(await report.entity(verified))) break;
          progress.show(report.counts.entities, total, 'entities');
          // Lets the process handle signals between the entities.
          await setImmediate();
        }
        if (location !== undefined) {
          const onProgress = (count: number, all: number) => progress.show(count, all, 'records');
          const views = { source, settings, location, onProgress };
          for await (const verified of tools.verifyViews(views))
            if (!(await report.view(verified))) break;
        }
      } finally {
        progress.clear();
        inspection?.close();
      }
    });
    await report.end(data === undefined && events === undefined);
    const { findings, failures, views } = report.counts;
    if (findings > 0)
      throw new CommandFailure(
        'SVC_FOLD_IMPURE',
        `The folds of ${name} depend on more than the events: ${counted(findings, 'finding')}, named above. ` +
          `Let apply make the next state from the given state and the event alone${views === 0 ? '.' : VIEW_ADVICE}`,
      );
    if (failures === 0) return EXIT_CODE.ok;
    const [one, many] =
      views === 0 ? ['entity', 'entities'] : ['entity or view', 'entities and views'];
    throw new CommandFailure(
      'SVC_FOLD_FAULTED',
      `${counted(failures, one, many)} could not be judged, for the reasons above. ` +
        `Give the ${word} that wrote the events, or look for damage with svc journal verify.`,
    );
  },
);

const VIEW_ADVICE =
  ', let no row of a view depend on the order of events of different entities, and declare another version ' +
  'of a view whose code has changed.';

/**
 * Returns the number of entities in the journal, for the progress; undefined if no journal is given. Deleted entities
 * are counted but not verified, so fewer entities may be verified.
 */
async function entitiesOf(inspection: JournalInspection | undefined): Promise<number | undefined> {
  return (await inspection?.components())?.reduce((sum, { entities }) => sum + entities, 0);
}
