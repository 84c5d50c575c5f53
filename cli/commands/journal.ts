// svc journal: prints the contents of a journal, which it only reads. It reads and prints page by page, so a
// journal may have any size.
import type { JournalInspection } from '@svc/host/tools';
import { command, CommandFailure, EXIT_CODE, type ExitCode } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { journalPrinter, type JournalPrinter, printEnd } from '../journal-printer.ts';
import { didYouMean } from '@svc/contract/suggestion';
import { FILTER_OPTIONS, readFilter } from '../record-filter.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { printEvents } from './journal-events.ts';

/** Maximum number of records per page. It is small, since each event may be a megabyte long. */
const PAGE_RECORDS = 32;
/** Maximum number of entities per page. */
const PAGE_ENTITIES = 500;
/** Maximum number of ids that are searched for one that is similar to an unknown id. */
const SEARCHED_IDS_MAX = 1_000;
/**
 * Maximum length of an unknown id, and of the ids with which it is compared, in UTF-16 code units. Nobody types longer
 * ids, and comparing them takes long.
 */
const SUGGESTED_CHARACTERS_MAX = 100;

export const journal = command(
  {
    name: 'journal',
    summary: 'show what a journal holds: components, entities, events',
    about: `Shows what a journal holds: its components; the entities of one; the events of one entity; with
--events those of all entities, in commit order, and with -f what is stored from then on.
It reads only, and may do so while a service runs.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'COMPONENT', optional: true, completes: { kind: 'component' } },
      { name: 'ID', optional: true },
    ],
    options: {
      after: {
        type: 'string',
        value: 'SEQ',
        help: "only events after this one; of entities: only ids after this one;\nof --events: only after this position, or 'last' for what is to come",
      },
      limit: {
        type: 'string',
        value: 'N',
        help: "at most so many, or 'all'",
        otherwise: '100; with -f all',
      },
      events: { type: 'boolean', help: 'the records of all entities, in commit order' },
      follow: {
        type: 'boolean',
        short: 'f',
        help: 'with --events: go on with what is stored, until ctrl-c',
      },
      ...FILTER_OPTIONS,
      output: {
        ...OUTPUT_OPTION,
        help: "'text', 'json' (one document; with -f one on a line), or 'names'\n(components or ids, one on a line)",
        completes: { kind: 'choices', choices: ['text', 'json', 'names'] },
      },
    },
    notes: `${journalNote()}
--component to --until say which records --events shows.
Exits with 1 when it met a damaged record, which it names; it shows the others all the same.`,
    examples: [
      'svc journal .svc/shopping-cart',
      'svc journal .svc/shopping-cart shopping-cart c1',
      'svc journal .svc/shopping-cart shopping-cart c1 --after 100 --limit all -o json',
      'svc journal .svc/shopping-cart --events -f --after last --type item-added',
      'svc journal url-file:database.url shopping-cart c1',
    ],
  },
  async ([dir, component, id], options) => {
    const { after, limit, events, follow, output } = options;
    const filter = readFilter('journal', options);
    const limitCount = readLimit(limit ?? (follow ? 'all' : '100'));
    const printer = journalPrinter(output, dir!, follow);
    if (events) {
      if (component !== undefined)
        throw new UsageError(
          `journal takes ${id === undefined ? '--component' : '--component and --id'} with --events, not words after DIR.`,
        );
      if (output === 'names') throw new UsageError("journal takes '-o names' without --events.");
      return printEvents(printer, { dir: dir!, filter, after, limitCount, follow });
    }
    if (follow || filter !== undefined)
      throw new UsageError(
        `journal takes ${follow ? '--follow' : 'what says which records are meant'} with --events.`,
      );
    if (component === undefined && after !== undefined)
      throw new UsageError('journal takes --after with a COMPONENT, and found none.');
    if (id !== undefined && output === 'names')
      throw new UsageError("journal takes '-o names' for components and entities, not for events.");
    const tools = await import('@svc/host/tools');
    const inspection = tools.inspectJournal(journalOf(tools, dir!));
    try {
      if (component === undefined) {
        await printData(printer.components(await inspection.components()));
        return EXIT_CODE.ok;
      }
      if (id === undefined)
        return await printEntities(inspection, printer, { component, after, limitCount });
      return await printRecords(inspection, printer, {
        entity: { component, id },
        after: readSeq(after),
        limitCount,
      });
    } finally {
      inspection.close();
    }
  },
);

async function printEntities(
  inspection: JournalInspection,
  printer: JournalPrinter,
  which: {
    readonly component: string;
    readonly after: string | undefined;
    readonly limitCount: number;
  },
): Promise<ExitCode> {
  const { component, limitCount } = which;
  await checkComponent(inspection, component);
  let last = which.after ?? '';
  let count = 0;
  let open = await printData(printer.entitiesHead(component));
  while (open && count < limitCount) {
    const asked = Math.min(PAGE_ENTITIES, limitCount - count);
    const page = await inspection.entities(component, last, asked);
    if (page.length > 0) open = await printData(printer.entities(page, count === 0));
    count += page.length;
    last = page.at(-1)?.id ?? last;
    if (page.length < asked) break;
  }
  const more = open && (await inspection.entities(component, last, 1)).length > 0;
  await printEnd(printer, more ? last : undefined);
  return EXIT_CODE.ok;
}

async function printRecords(
  inspection: JournalInspection,
  printer: JournalPrinter,
  which: {
    readonly entity: { readonly component: string; readonly id: string };
    readonly after: number;
    readonly limitCount: number;
  },
): Promise<ExitCode> {
  const { entity, limitCount } = which;
  await checkEntity(inspection, entity);
  let last = which.after;
  let count = 0;
  let damagedCount = 0;
  let open = await printData(printer.recordsHead(entity));
  while (open && count < limitCount) {
    const asked = Math.min(PAGE_RECORDS, limitCount - count);
    const { records, lastSeq, storedCount } = await inspection.records(entity, last, asked);
    if (records.length > 0) open = await printData(printer.records(records, count === 0));
    damagedCount += records.filter((record) => record.kind === 'damaged').length;
    count += storedCount;
    last = lastSeq;
    if (storedCount < asked) break;
  }
  const more = open && (await inspection.records(entity, last, 1)).storedCount > 0;
  await printEnd(printer, more ? last : undefined);
  if (damagedCount === 0) return EXIT_CODE.ok;
  throw new CommandFailure(
    'SVC_JOURNAL_CORRUPT',
    `The journal of entity '${entity.id}' of component '${entity.component}' is damaged in ` +
      `${damagedCount === 1 ? 'one place' : `${damagedCount} places`}, named above. ` +
      'Restore the journal from a backup; the other entities are not affected.',
  );
}

async function checkComponent(inspection: JournalInspection, component: string): Promise<void> {
  if (await inspection.hasComponent(component)) return;
  const known = (await inspection.components()).map((summary) => summary.component);
  throw new CommandFailure(
    'SVC_NOT_IN_JOURNAL',
    `The journal has no component '${component}'.${didYouMean(component, known)} ` +
      'svc journal DIR lists them.',
  );
}

async function checkEntity(
  inspection: JournalInspection,
  entity: { readonly component: string; readonly id: string },
): Promise<void> {
  if (await inspection.hasEntity(entity)) return;
  await checkComponent(inspection, entity.component);
  const searched = entity.id.length > SUGGESTED_CHARACTERS_MAX ? 0 : SEARCHED_IDS_MAX;
  const known = (await inspection.entities(entity.component, '', searched))
    .map(({ id }) => id)
    .filter((id) => id.length <= SUGGESTED_CHARACTERS_MAX);
  throw new CommandFailure(
    'SVC_NOT_IN_JOURNAL',
    `The journal has no entity '${entity.id}' of component '${entity.component}'.` +
      `${didYouMean(entity.id, known)} svc journal DIR ${entity.component} lists them.`,
  );
}

function readLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`journal takes a whole number from 1 or 'all' as --limit, not '${text}'.`);
}

function readSeq(text = '0'): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`journal takes an event's number as --after, not '${text}'.`);
}
