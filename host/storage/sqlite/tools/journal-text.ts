// JournalText is a journal as text: a line of JSON for each record, stored reply, module, timer, consumer and lane, between a head line and an
// end line that has the number of each. JSON inside a line (an event, say) is unchanged, byte for byte.
import { crc32 } from 'node:zlib';
import type { ModuleRow, SourceEntry } from './journal-source.ts';
import type { RecordKind } from '@svc/model/entity';
import type { RecordRow } from '../journal-schema.ts';
import type { StoredReplyRow } from '../stored-reply-row.ts';
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import {
  type ConsumerRow,
  type LaneRow,
  consumerChecksum,
  laneChecksum,
} from '../consumer-rows.ts';
import { timerChecksum } from '../stored-timer-row.ts';
import { kindNumberOf } from '../record-kind.ts';
import { lowerHalf, seedOf, upperHalf } from '../seed-halves.ts';

/** The first line. */
export const TEXT_HEAD = '{"svc-journal":1}';

export interface TextEnd {
  readonly records: number;
  readonly answers: number;
  readonly modules: number;
  readonly timers: number;
  readonly consumers: number;
  readonly lanes: number;
  /** CRC-32 of all lines before it, each with its line feed. */
  readonly crc: number;
}

export type TextLine =
  | { readonly kind: 'head' }
  | {
      readonly kind: 'record';
      readonly component: string;
      readonly id: string;
      readonly row: RecordRow;
    }
  | {
      readonly kind: 'answer';
      readonly component: string;
      readonly id: string;
      readonly row: StoredReplyRow;
    }
  | { readonly kind: 'module'; readonly row: ModuleRow }
  | { readonly kind: 'timer'; readonly row: StoredTimer; readonly crc: number }
  | { readonly kind: 'consumer'; readonly row: ConsumerRow; readonly crc: number }
  | { readonly kind: 'lane'; readonly row: LaneRow; readonly crc: number }
  | { readonly kind: 'end'; readonly end: TextEnd };

/** Returns the last line. */
export function textEnd(end: TextEnd): string {
  const { records, answers, modules, timers, consumers, lanes, crc } = end;
  return JSON.stringify({ kind: 'end', records, answers, modules, timers, consumers, lanes, crc });
}

/** Returns the checksum of this line and the lines before it. `before`: the checksum of the lines before it. */
export function textChecksum(line: string, before: number): number {
  return crc32('\n', crc32(line, before));
}

/** Returns the line of an entry, without the line feed. */
export function textOf(entry: Extract<SourceEntry, { readonly row: unknown }>): string {
  if (entry.kind === 'module') {
    const [fingerprint, fromPos, timeMs, descriptor] = entry.row;
    const head = { kind: 'module', fingerprint, fromPos, time: timeText(timeMs) };
    return withJson(head, 'descriptor', descriptor);
  }
  if (entry.kind === 'timer')
    return JSON.stringify({ kind: 'timer', ...entry.row, crc: timerChecksum(entry.row) });
  if (entry.kind === 'consumer')
    return JSON.stringify({ kind: 'consumer', ...entry.row, crc: consumerChecksum(entry.row) });
  if (entry.kind === 'lane')
    return JSON.stringify({ kind: 'lane', ...entry.row, crc: laneChecksum(entry.row) });
  const { component, id } = entry;
  if (entry.kind === 'answer') {
    const [key, digest, timeMs, outcome, crc] = entry.row;
    const head = { kind: 'answer', component, id, key, digest, time: timeText(timeMs), crc };
    return withJson(head, 'outcome', outcome);
  }
  const [pos, seq, , timeMs, manifest, json, crc, upper, lower, trace, key, by] = entry.row;
  const { kind } = entry.record;
  const head = {
    pos,
    component,
    id,
    seq,
    kind,
    time: timeText(timeMs),
    // The seed is a text, because JSON parsers round numbers of so many digits.
    seed: seedOf(upper, lower)?.toString(),
    trace: trace ?? undefined,
    key: key ?? undefined,
    by: by ?? undefined,
    crc,
    manifest: manifest ?? undefined,
  };
  return kind === 'event' ? withJson(head, 'event', json!) : JSON.stringify(head);
}

/** Members whose JSON is in the line unchanged. */
const RAW_NAMES = ['event', 'outcome', 'descriptor'] as const;
type RawName = (typeof RAW_NAMES)[number];

/**
 * Appends the stored JSON as the last member, unchanged; or as a string in `text`, where it is not JSON, or has control
 * characters. No string of the head can contain the quoted name of the member, because quotes are escaped there.
 */
function withJson(head: object, name: RawName, json: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (!isJson(json) || /[\u0000-\u001f\u007f-\u009f]/.test(json))
    return JSON.stringify({ ...head, text: json });
  return `${JSON.stringify(head).slice(0, -1)},"${name}":${json}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a time in ISO 8601; returns the number itself where ISO 8601 cannot express it. */
function timeText(timeMs: number): string | number {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? timeMs : date.toISOString();
}

/** Parses a line. If it is not a line of an export, returns the reason, to be read after "it". */
export function parseText(line: string): TextLine | string {
  const read = membersOf(line);
  if (read === undefined) return 'is no JSON object';
  const members = new Members(read);
  const { kind } = read;
  const parsed = lineOf(kind, members);
  return members.problem ?? parsed ?? 'is no line of an export of svc';
}

function lineOf(kind: unknown, members: Members): TextLine | undefined {
  switch (kind) {
    case undefined:
      return members.has('svc-journal', 1) ? { kind: 'head' } : undefined;
    case 'event':
    case 'deleted':
      return recordLine(kind, members);
    case 'answer': {
      const [component, id] = [members.text('component'), members.text('id')];
      const row: StoredReplyRow = [
        members.text('key'),
        members.text('digest'),
        members.time(),
        members.json('outcome'),
        members.integer('crc'),
      ];
      return { kind, component, id, row };
    }
    case 'module': {
      const [fingerprint, fromPos] = [members.text('fingerprint'), members.integer('fromPos')];
      return { kind, row: [fingerprint, fromPos, members.time(), members.json('descriptor')] };
    }
    case 'timer':
      return { kind, row: members.rest() as StoredTimer, crc: members.integer('crc') };
    case 'consumer':
      return { kind, row: members.rest() as ConsumerRow, crc: members.integer('crc') };
    case 'lane':
      return { kind, row: members.rest() as LaneRow, crc: members.integer('crc') };
    case 'end': {
      const [records, answers] = [members.integer('records'), members.integer('answers')];
      const [modules, crc] = [members.integer('modules'), members.integer('crc')];
      // Exports of journals before format 5 do not have the other counts.
      const [timers, consumers, lanes] = ['timers', 'consumers', 'lanes'].map((name) =>
        members.count(name),
      ) as [number, number, number];
      return { kind, end: { records, answers, modules, timers, consumers, lanes, crc } };
    }
    default:
      return undefined;
  }
}

function recordLine(kind: RecordKind, members: Members): TextLine {
  const isEvent = kind === 'event';
  const seed = members.seed();
  const row: RecordRow = [
    members.integer('pos'),
    members.integer('seq'),
    kindNumberOf(kind),
    members.time(),
    isEvent ? members.text('manifest') : null,
    isEvent ? members.json('event') : null,
    members.integer('crc'),
    upperHalf(seed),
    lowerHalf(seed),
    members.optionalText('trace'),
    members.optionalText('key'),
    members.optionalText('by'),
  ];
  return { kind: 'record', component: members.text('component'), id: members.text('id'), row };
}

/** Returns the members of a line, that of RAW_NAMES as JSON text; returns undefined if the line is no JSON object. */
function membersOf(line: string): Readonly<Record<string, unknown>> | undefined {
  const raw = RAW_NAMES.map((name) => ({ name, at: line.indexOf(`,"${name}":`) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)[0];
  try {
    if (raw === undefined) return objectOf(JSON.parse(line));
    const head = objectOf(JSON.parse(`${line.slice(0, raw.at)}}`));
    const json = line.slice(raw.at + raw.name.length + 4, -1);
    if (head === undefined || !line.endsWith('}') || !isJson(json)) return undefined;
    return { ...head, [raw.name]: json };
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

/** The members of a line; `problem` names the first one that is missing or malformed. */
class Members {
  readonly #members: Readonly<Record<string, unknown>>;
  problem: string | undefined = undefined;

  constructor(members: Readonly<Record<string, unknown>>) {
    this.#members = members;
  }

  has(name: string, value: unknown): boolean {
    return this.#members[name] === value;
  }

  text(name: string): string {
    const value = this.#members[name];
    return typeof value === 'string' ? value : this.#wrong(name, 'a text', '');
  }

  optionalText(name: string): string | null {
    return this.#members[name] === undefined ? null : this.text(name);
  }

  integer(name: string): number {
    const value = this.#members[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return this.#wrong(name, 'a whole number', 0);
  }

  /** Returns a number that is 0 where it is left away. */
  count(name: string): number {
    return this.#members[name] === undefined ? 0 : this.integer(name);
  }

  /** Returns all members except the kind of the line and its checksum, with which they are compared. */
  rest(): unknown {
    const { kind: _kind, crc: _crc, ...rest } = this.#members;
    return rest;
  }

  time(): number {
    const value = this.#members['time'];
    const timeMs = typeof value === 'string' ? Date.parse(value) : value;
    if (typeof timeMs === 'number' && Number.isSafeInteger(timeMs)) return timeMs;
    return this.#wrong('time', 'a time', 0);
  }

  seed(): bigint | undefined {
    const value = this.#members['seed'];
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || !/^[0-9]{1,20}$/.test(value) || BigInt(value) >= 2n ** 64n)
      return this.#wrong('seed', '64 bits in digits', undefined);
    return BigInt(value);
  }

  json(name: RawName): string {
    const value = this.#members[name] ?? this.#members['text'];
    return typeof value === 'string' ? value : this.#wrong(name, 'JSON', '');
  }

  /** Notes a problem. Returns `instead`, with which the parsing continues. */
  #wrong<T>(name: string, form: string, instead: T): T {
    this.problem ??= `has no '${name}' that is ${form}`;
    return instead;
  }
}
