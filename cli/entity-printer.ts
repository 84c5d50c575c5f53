// EntityPrinter: the output of `svc entity`: a state, the steps that led to it, the timers of the entity, and the effect that a
// command would have. Ids, events and states are untrusted, so they are escaped for the terminal. The functions return text and
// print nothing.
import type {
  HistoryStep,
  PastState,
  StateChanges,
  StoredTimer,
  WhatIfOutcome,
} from '@svc/host/tools';
import { authorOf } from '@svc/contract/author';
import { printable, printableJson } from '@svc/kit/printable';
import { authorWords, jsonLine, storedJson, timeText } from './printed-value.ts';
import { shellWord } from './shell-word.ts';
import { outputStyle } from './terminal.ts';
import { ownerText } from './timer-owner.ts';
import { timerPrinter } from './timer-printer.ts';

export interface Asked {
  readonly dir: string;
  readonly component: string;
  readonly id: string;
}

export interface SupposedCall {
  readonly name: string;
  readonly input: string;
  readonly nowMs: number;
  readonly seed: bigint;
}

/** The timers of the entity that are shown. */
export interface ShownTimers {
  readonly timers: readonly StoredTimer[];
  /** Whether the entity has others. */
  readonly isMore: boolean;
}

/**
 * Functions that return the parts of the output, called in this order. The steps, `timers` and `whatIf` may be left out.
 * `first` is true for the first step.
 */
export interface EntityPrinter {
  head(asked: Asked): string;
  stepsHead(): string;
  step(step: HistoryStep, first: boolean): string;
  stepsTail(): string;
  state(past: PastState, asked: Asked): string;
  timers(shown: ShownTimers, asked: Asked): string;
  whatIf(call: SupposedCall, supposed: WhatIfOutcome): string;
  tail(): string;
}

/** Maximum length of a value in a line of text, in UTF-16 code units before the value is escaped. */
const VALUE_SHOWN_MAX = 200;

export function entityPrinter(format: string): EntityPrinter {
  return format === 'json' ? JSON_PRINTER : TEXT_PRINTER;
}

/** Formats one document with a line for each step, so that the steps can be written while the history is read. */
const JSON_PRINTER: EntityPrinter = {
  head: ({ dir, component, id }) => jsonLine({ dir, component, id }).slice(0, -1),
  stepsHead: () => ',"steps":[',
  step: ({ record, ...changes }, first) => {
    const { seq, kind, timeMs } = record;
    const by = authorOf(record.by);
    const head = jsonLine({ seq, kind, time: timeText(timeMs) ?? null, by }).slice(0, -1);
    const event =
      record.kind === 'event'
        ? `,"manifest":${jsonLine(record.event.manifest)},"event":${storedJson(record.event.json)}`
        : '';
    return `${first ? '' : ','}\n${head}${event},${changesJson(changes)}}`;
  },
  stepsTail: () => '\n]',
  state: ({ seq, timeMs, isDeleted, state }) => {
    const at = { seq, time: timeText(timeMs) ?? null, deleted: isDeleted };
    return `,${jsonLine(at).slice(1, -1)},"state":${storedJson(state)}`;
  },
  timers: ({ timers, isMore }) =>
    `,"timers":[${timerPrinter('json').page(timers, true)}],"moreTimers":${isMore}`,
  whatIf: ({ name, input, nowMs, seed }, { outcome, log }) => {
    const call = jsonLine({ command: name, now: timeText(nowMs) ?? null, seed: seed.toString() });
    const parts = [call.slice(1, -1), `"input":${storedJson(input)}`, `"log":${jsonLine(log)}`];
    if (outcome.kind !== 'effect')
      return `,"whatIf":{${[...parts, jsonLine(outcome).slice(1, -1)].join(',')}}`;
    const events = outcome.events.map(
      ({ manifest, json }) => `{"manifest":${jsonLine(manifest)},"event":${storedJson(json)}}`,
    );
    parts.push(
      '"kind":"effect"',
      `"events":[${events.join(',')}]`,
      `"deletesEntity":${outcome.deletesEntity}`,
      `"reply":${storedJson(outcome.reply)}`,
      changesJson(outcome),
    );
    return `,"whatIf":{${parts.join(',')}}`;
  },
  tail: () => '}\n',
};

function changesJson({ changes, moreCount }: StateChanges): string {
  const items = changes.map(({ path, before, after }) => {
    const values = [
      ...(before === undefined ? [] : [`"before":${storedJson(before)}`]),
      ...(after === undefined ? [] : [`"after":${storedJson(after)}`]),
    ];
    return `{${[`"path":${jsonLine(path)}`, ...values].join(',')}}`;
  });
  return `"changes":[${items.join(',')}],"moreChanges":${moreCount}`;
}

const TEXT_PRINTER: EntityPrinter = {
  head: () => '',
  stepsHead: () => '',
  step: ({ record, ...changes }) => {
    const head = `${String(record.seq).padStart(6)}  ${outputStyle('dim', timeText(record.timeMs) ?? '-')}`;
    const by = authorWords(record.by);
    if (record.kind === 'deleted') return `${head}  ${outputStyle('yellow', '(deleted)')}${by}\n`;
    const type = outputStyle(
      'bold',
      shellWord(printable(typeOf(record.event.json) ?? record.event.manifest)),
    );
    return `${head}  ${type}${by}\n${changesText(changes, '        ')}`;
  },
  stepsTail: () => '',
  state: ({ seq, timeMs, isDeleted, state }, { component, id }) => {
    const where = seq === 0 ? 'before its first record' : `after record ${seq}`;
    const at = timeMs === undefined ? '' : ` (${timeText(timeMs) ?? '-'})`;
    const deleted = isDeleted ? ', which deleted it' : '';
    const name = `${printable(component)} ${printable(id)}`;
    return `${outputStyle('bold', `${name} ${where}${at}${deleted}`)}\n${indentedJson(state)}\n`;
  },
  timers: ({ timers, isMore }, { dir, component, id }) => {
    if (timers.length === 0) return '';
    const words = [dir, '--owner', ownerText({ component, id })].map(shellWord);
    const more = isMore ? `There are more: ${printable(`svc timers ${words.join(' ')}`)}\n` : '';
    return `\n${timerPrinter('text').page(timers, true)}${more}`;
  },
  whatIf: ({ name, input, nowMs, seed }, { outcome, log }) => {
    const head = `what if ${printable(name)} ${cut(input)}`;
    const lines = [
      outputStyle('bold', head),
      `  at ${timeText(nowMs) ?? '-'}, with the seed ${seed}`,
      ...log.map(({ level, message }) => `  it logs ${level}: ${cut(message)}`),
    ];
    if (outcome.kind === 'refusal') {
      const code = outcome.code === 'OTHER' ? (outcome.otherCode ?? 'OTHER') : outcome.code;
      lines.push(`  it is refused: ${printable(code)} ${printable(outcome.message)}`);
      if (outcome.details !== undefined) lines.push(`  details ${cut(outcome.details)}`);
    } else if (outcome.kind === 'fault') {
      lines.push(`  ${outputStyle('red', 'it fails')}: ${printable(outcome.message)}`);
    } else {
      const { events, deletesEntity, reply } = outcome;
      if (events.length === 0) lines.push('  it persists nothing');
      lines.push(...events.map(({ json }) => `  it persists ${cut(json)}`));
      if (deletesEntity) lines.push('  it deletes the entity');
      const changes = changesText(outcome, '    ');
      if (changes !== '') lines.push('  the state changes', changes.trimEnd());
      lines.push(`  it replies ${cut(reply)}`);
    }
    return `${lines.join('\n')}\nNothing of it was stored.\n`;
  },
  tail: () => '',
};

function changesText({ changes, moreCount }: StateChanges, indent: string): string {
  const lines = changes.map(({ path, before, after }) => {
    const shownPath = printable(path === '' ? 'the state' : path);
    if (before === undefined)
      return `${indent}${shownPath}: ${outputStyle('green', `+ ${cut(after!)}`)}\n`;
    if (after === undefined)
      return `${indent}${shownPath}: ${outputStyle('red', `- ${cut(before)}`)}\n`;
    return `${indent}${shownPath}: ${cut(before)} → ${cut(after)}\n`;
  });
  if (moreCount > 0) lines.push(`${indent}and ${moreCount} more\n`);
  return lines.join('');
}

/** Escapes a text. Only its first VALUE_SHOWN_MAX code units are kept; an ellipsis replaces the others. */
function cut(text: string): string {
  const short = text.length > VALUE_SHOWN_MAX ? `${text.slice(0, VALUE_SHOWN_MAX)}…` : text;
  return printable(short);
}

/** Returns the member `type` of an event; undefined if the event has no such string. */
function typeOf(json: string): string | undefined {
  try {
    const event = JSON.parse(json) as { readonly type?: unknown } | null;
    return typeof event?.type === 'string' ? event.type : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns JSON with indentation, escaped for the terminal. Text that `JSON.stringify` would write differently is not
 * indented: parsing could change its numbers.
 */
function indentedJson(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (JSON.stringify(value) === json) return printableJson(JSON.stringify(value, null, 2));
  } catch {
    // The text is not JSON, or is nested too deeply.
  }
  return printable(json);
}
