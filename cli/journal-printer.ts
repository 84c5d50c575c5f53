// JournalPrinter: the output formats of `svc journal`. Ids and JSON are untrusted, so they are escaped for the
// terminal. The functions return text; only `printEnd` prints.
import type {
  ComponentSummary,
  EntitySummary,
  InspectedRecord,
  ScannedDamage,
  ScannedRecord,
} from '@svc/host/tools';
import { authorOf } from '@svc/contract/author';
import { printable } from '@svc/kit/printable';
import { authorWords, jsonLine, storedJson, timeText } from './printed-value.ts';
import { shellWord } from './shell-word.ts';
import { outputStyle, printData } from './terminal.ts';

export interface JournalPrinter {
  components(components: readonly ComponentSummary[]): string;
  entitiesHead(component: string): string;
  /** `first`: true for the first page. */
  entities(entities: readonly EntitySummary[], first: boolean): string;
  recordsHead(entity: { readonly component: string; readonly id: string }): string;
  records(records: readonly InspectedRecord[], first: boolean): string;
  /** Returns the beginning of a list of records of all entities, in commit order. */
  eventsHead(): string;
  events(entries: readonly (ScannedRecord | ScannedDamage)[], first: boolean): string;
  /** Returns the end of a list. `last`: value of `--after` for the next page; undefined if the list is complete. */
  tail(last: string | number | undefined): string;
}

/**
 * Returns the printer of a format. `endless`: true if the list has no end; JSON output is then one document per record.
 */
export function journalPrinter(format: string, dir: string, endless: boolean): JournalPrinter {
  if (format === 'json') return endless ? linesPrinter(dir) : jsonPrinter(dir);
  return format === 'names' ? namesPrinter() : textPrinter();
}

/**
 * Prints the end of a list. `last`: as for `JournalPrinter.tail`. A JSON document contains the value; for the other
 * formats it is printed to stderr.
 */
export async function printEnd(
  printer: JournalPrinter,
  last: string | number | undefined,
): Promise<void> {
  const tail = printer.tail(last);
  if (tail === '' && last !== undefined)
    process.stderr.write(`There is more: --after=${shellWord(printable(String(last)))}\n`);
  else await printData(tail);
}

/**
 * Returns the printer of one JSON document. Each item has a line of its own, so that the document can be written while
 * the journal is read.
 */
function jsonPrinter(dir: string): JournalPrinter {
  return {
    components: (components) =>
      `${opening({ dir }, 'components')}${items(components.map(jsonLine), true)}\n]}\n`,
    entitiesHead: (component) => opening({ dir, component }, 'entities'),
    entities: (entities, first) => items(entities.map(entityJson), first),
    recordsHead: ({ component, id }) => opening({ dir, component, id }, 'records'),
    records: (records, first) =>
      items(
        records.map((record) => recordJson(record)),
        first,
      ),
    eventsHead: () => opening({ dir }, 'records'),
    events: (entries, first) => items(entries.map(eventJson), first),
    tail: (last) => `\n],"next":${last === undefined ? 'null' : jsonLine([last]).slice(1, -1)}}\n`,
  };
}

function linesPrinter(dir: string): JournalPrinter {
  return {
    ...jsonPrinter(dir),
    eventsHead: () => '',
    events: (entries) => entries.map((entry) => `${eventJson(entry)}\n`).join(''),
    tail: () => '',
  };
}

function opening(fields: object, list: string): string {
  return `${jsonLine(fields).slice(0, -1)},"${list}":[`;
}

/** Joins items. `first`: these are the first items of the list. */
function items(texts: readonly string[], first: boolean): string {
  return texts.map((text, index) => `${first && index === 0 ? '' : ','}\n${text}`).join('');
}

function entityJson({ id, events, lastTimeMs, deleted }: EntitySummary): string {
  return jsonLine({ id, events, lastTime: timeText(lastTimeMs) ?? null, deleted });
}

/**
 * Returns a record as JSON. `where`: its entity and position in the journal, which become the first members. The event
 * is copied as text, because parsing could change its numbers.
 */
function recordJson(record: InspectedRecord, where: object = {}): string {
  if (record.kind === 'damaged') return jsonLine({ ...where, ...record });
  const { kind, seq, timeMs, trace = null, key = null } = record;
  const by = authorOf(record.by) ?? null;
  // The seed is text, because it has more digits than a JSON number can have in JavaScript.
  const seed = record.seed?.toString() ?? null;
  const head = { ...where, seq, kind, time: timeText(timeMs) ?? null, seed, trace, key, by };
  if (record.kind === 'deleted') return jsonLine(head);
  const { manifest, json } = record.event;
  if (!isJson(json)) return jsonLine({ ...head, manifest, text: json });
  return `${jsonLine({ ...head, manifest }).slice(0, -1)},"event":${storedJson(json)}}`;
}

function eventJson(entry: ScannedRecord | ScannedDamage): string {
  const { pos, component, id } = entry;
  if (entry.kind === 'record') return recordJson(entry.record, { pos, component, id });
  return jsonLine({ pos, component, id, seq: entry.seq, kind: 'damaged', problem: entry.problem });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function namesPrinter(): JournalPrinter {
  return {
    components: (components) =>
      components.map(({ component }) => `${printable(component)}\n`).join(''),
    entitiesHead: () => '',
    entities: (entities) => entities.map(({ id }) => `${printable(id)}\n`).join(''),
    recordsHead: () => '',
    records: () => '',
    eventsHead: () => '',
    events: () => '',
    tail: () => '',
  };
}

function textPrinter(): JournalPrinter {
  return {
    components: (components) =>
      components.length === 0
        ? 'The journal is empty.\n'
        : table(
            ['component', 'entities', 'events'],
            components.map(({ component, entities, events }) => [
              printable(component),
              String(entities),
              String(events),
            ]),
          ),
    entitiesHead: () => '',
    entities: (entities) =>
      entities
        .map(({ id, events, lastTimeMs, deleted }) => {
          const count = `${events} ${events === 1 ? 'event' : 'events'}`;
          const state = deleted ? outputStyle('dim', '  deleted') : '';
          return `${timeText(lastTimeMs) ?? '-'}  ${count.padStart(12)}  ${printable(id)}${state}\n`;
        })
        .join(''),
    recordsHead: () => '',
    records: (records) => records.map(recordText).join(''),
    eventsHead: () => '',
    events: (entries) => entries.map(eventText).join(''),
    tail: () => '',
  };
}

function recordText(record: InspectedRecord): string {
  const seq = String(record.seq).padStart(6);
  return `${seq}  ${contentText(record, '')}`;
}

function eventText(entry: ScannedRecord | ScannedDamage): string {
  const { component, id } = entry;
  const seq = entry.kind === 'record' ? entry.record.seq : entry.seq;
  const names = [component, id].map((name) =>
    name === undefined ? '?' : shellWord(printable(name)),
  );
  const entity = `${outputStyle('cyan', names.join(' '))} ${seq ?? '?'}  `;
  const record = entry.kind === 'record' ? entry.record : { ...entry, seq: seq ?? 0 };
  return `${String(entry.pos).padStart(8)}  ${contentText(record, entity)}`;
}

/** Returns a record's contents as text. `entity`: text of its entity; empty if all records are of the same entity. */
function contentText(record: InspectedRecord, entity: string): string {
  if (record.kind === 'damaged')
    return `${entity}${outputStyle('red', 'damaged')}: ${printable(record.problem)}\n`;
  const head = `${outputStyle('dim', timeText(record.timeMs) ?? '-')}  ${entity}`;
  const by = authorWords(record.by);
  if (record.kind === 'deleted') return `${head}${outputStyle('yellow', '(deleted)')}${by}\n`;
  const { manifest, json } = record.event;
  return `${head}${outputStyle('bold', shellWord(printable(manifest)))}${by}  ${printable(json)}\n`;
}

/** Returns a table with a bold head. The first column is aligned to the left, the others to the right. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]!.length)),
  );
  return [heads, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        )
        .join('  '),
    )
    .map((text, index) => `${index === 0 ? outputStyle('bold', text) : text}\n`)
    .join('');
}
