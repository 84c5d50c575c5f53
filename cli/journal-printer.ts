// JournalPrinter: how `svc journal` shows what it read. Ids and JSON come from outsiders: none of it
// reaches a terminal unescaped. It makes text, and prints none.
import type { ComponentSummary, EntitySummary, InspectedRecord } from '@svc/host/tools';
import { printable, printableJson } from '@svc/host/printable';
import { outputStyle } from './terminal.ts';

export interface JournalPrinter {
  components(components: readonly ComponentSummary[]): string;
  entitiesHead(component: string): string;
  /** `first`: these are the first ones. */
  entities(entities: readonly EntitySummary[], first: boolean): string;
  recordsHead(entity: { readonly component: string; readonly id: string }): string;
  records(records: readonly InspectedRecord[], first: boolean): string;
  /** `last`: what `--after` has to be for what follows; undefined when nothing does. */
  tail(last: string | number | undefined): string;
}

export function journalPrinter(format: string, dir: string): JournalPrinter {
  if (format === 'json') return jsonPrinter(dir);
  return format === 'names' ? namesPrinter() : textPrinter();
}

/** One document, with a line for each of what it lists, so that it can be written as it is read. */
function jsonPrinter(dir: string): JournalPrinter {
  return {
    components: (components) =>
      `${opening({ dir }, 'components')}${items(components.map(line), true)}\n]}\n`,
    entitiesHead: (component) => opening({ dir, component }, 'entities'),
    entities: (entities, first) => items(entities.map(entityJson), first),
    recordsHead: ({ component, id }) => opening({ dir, component, id }, 'records'),
    records: (records, first) => items(records.map(recordJson), first),
    tail: (last) => `\n],"next":${last === undefined ? 'null' : line([last]).slice(1, -1)}}\n`,
  };
}

function opening(fields: object, list: string): string {
  return `${line(fields).slice(0, -1)},"${list}":[`;
}

/** `first`: nothing of the list stands before them. */
function items(texts: readonly string[], first: boolean): string {
  return texts.map((text, index) => `${first && index === 0 ? '' : ','}\n${text}`).join('');
}

function line(value: object): string {
  return printableJson(JSON.stringify(value));
}

function entityJson({ id, events, lastTimeMs, deleted }: EntitySummary): string {
  return line({ id, events, lastTime: timeText(lastTimeMs) ?? null, deleted });
}

/** The event stands in it as it is stored: reading numbers could change them. */
function recordJson(record: InspectedRecord): string {
  if (record.kind === 'damaged') return line(record);
  const { kind, seq, timeMs } = record;
  // As text: it has more digits than a number of JSON is read with.
  const seed = record.seed?.toString() ?? null;
  const head = { seq, kind, time: timeText(timeMs) ?? null, seed };
  if (record.kind === 'deleted') return line(head);
  const { manifest, json } = record.event;
  if (!isJson(json)) return line({ ...head, manifest, text: json });
  // A line break can only be white space between the tokens.
  const event = printableJson(json.replaceAll(/[\t\n\r]/g, ' '));
  return `${line({ ...head, manifest }).slice(0, -1)},"event":${event}}`;
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
    tail: () => '',
  };
}

function recordText(record: InspectedRecord): string {
  const seq = String(record.seq).padStart(6);
  if (record.kind === 'damaged')
    return `${seq}  ${outputStyle('red', 'damaged')}: ${printable(record.problem)}\n`;
  const head = `${seq}  ${outputStyle('dim', timeText(record.timeMs) ?? '-')}`;
  if (record.kind === 'deleted') return `${head}  ${outputStyle('yellow', '(deleted)')}\n`;
  const { manifest, json } = record.event;
  return `${head}  ${outputStyle('bold', printable(manifest))}  ${printable(json)}\n`;
}

/** Names to the left, numbers to the right. */
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

/** ISO 8601; undefined when it is no time that has such a form. */
function timeText(timeMs: number | undefined): string | undefined {
  if (timeMs === undefined) return undefined;
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
