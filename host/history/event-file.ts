// EventFile reads events of entities from lines of JSON, as `svc journal export` writes them. It uses the members
// `component`, `id`, `kind`, `seq`, `manifest`, `event` and `text` of a line, and skips lines with the member
// `svc-journal`. The lines of an entity have to be in the order of its records.
// All current incarnations are held in memory, because a file cannot be searched for an
// entity as a journal can.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ModuleDescriptor } from '@svc/contract';
import { type Incarnation, incarnationOf } from '../engine/entity/incarnation.ts';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';

interface Line {
  readonly 'svc-journal'?: unknown;
  readonly component?: unknown;
  readonly id?: unknown;
  readonly kind?: unknown;
  readonly seq?: unknown;
  readonly manifest?: unknown;
  readonly event?: unknown;
  readonly text?: unknown;
}

interface FileIncarnation {
  readonly entity: EntityRef;
  /** Sequence number of the entity's previous line. */
  seq: number;
  /** Sequence number of the first of the events. */
  firstSeq: number;
  events: StoredEvent[];
}

/** Kinds of lines that hold no record: stored replies, the modules that wrote, and the end of the export. */
const OTHER_KINDS: ReadonlySet<unknown> = new Set(['answer', 'module', 'end']);
const EVENT_MEMBER = /,\s*"event"\s*:/;

/**
 * Reads the current incarnation of each entity that has events. A line without a manifest has the manifest that the
 * module declares. Rejects with SVC_EVENTS_INVALID.
 */
export async function incarnationsOfFile(
  path: string,
  descriptor: ModuleDescriptor,
): Promise<readonly Incarnation[]> {
  const incarnations = new Map<string, FileIncarnation>();
  const manifests = new Map(
    descriptor.entities.map(({ component, event }) => [component, event.manifest] as const),
  );
  let number = 0;
  for await (const text of linesOf(path)) {
    number++;
    if (text.trim() === '') continue;
    const line = lineOf(path, number, text);
    const { component, id, kind = 'event', manifest } = line;
    if ('svc-journal' in line || OTHER_KINDS.has(kind)) continue;
    if (kind !== 'event' && kind !== 'deleted')
      throw invalid(path, number, "it is neither an event nor a deletion, by its 'kind'");
    if (typeof component !== 'string' || typeof id !== 'string')
      throw invalid(path, number, 'it has no component and id');
    const key = `${component}\n${id}`;
    const read = incarnations.get(key) ?? {
      entity: { component, id },
      seq: 0,
      firstSeq: 1,
      events: [],
    };
    incarnations.set(key, read);
    read.seq = seqOf(line) ?? read.seq + 1;
    if (kind === 'deleted') {
      read.events = [];
      continue;
    }
    const own = manifest ?? manifests.get(component) ?? '';
    const json = eventOf(text, line);
    if (typeof own !== 'string' || json === undefined)
      throw invalid(path, number, 'it has no event');
    if (read.events.push({ manifest: own, json }) === 1) read.firstSeq = read.seq;
  }
  return [...incarnations.values()]
    .filter(({ events }) => events.length > 0)
    .map(({ entity, firstSeq, events }) => incarnationOf(entity, events, firstSeq));
}

/** Returns the sequence number of a line; undefined if there is none, as in a line that was written by hand. */
function seqOf({ seq }: Line): number | undefined {
  return typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0 ? seq : undefined;
}

/**
 * Returns the stored text of the event, byte for byte if `event` is the last member, as in an export; undefined if the
 * line has no event.
 */
function eventOf(line: string, { event, text }: Line): string | undefined {
  // Text that is no JSON is exported as a string in `text`.
  if (event === undefined && typeof text === 'string') return text;
  if (typeof event !== 'object' || event === null) return undefined;
  // Within a string the quotes of the member's name would be escaped, so this match is the member itself.
  const member = EVENT_MEMBER.exec(line);
  if (member === null) return JSON.stringify(event);
  const last = line.slice(member.index + member[0].length, line.lastIndexOf('}'));
  return isJson(last) ? last.trim() : JSON.stringify(event);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, 'utf8');
  try {
    yield* createInterface({ input, crlfDelay: Infinity });
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new SvcError(
      'SVC_EVENTS_INVALID',
      `The events of ${path} cannot be read (${code}). Give a file with one JSON object on each line.`,
      { cause: error },
    );
  }
}

function lineOf(path: string, number: number, text: string): Line {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line;
  } catch {
    // The error is thrown below.
  }
  throw invalid(path, number, 'it is no JSON object');
}

function invalid(path: string, number: number, what: string): SvcError {
  return new SvcError(
    'SVC_EVENTS_INVALID',
    `Line ${number} of ${path} is no event of an entity: ${what}. A line is ` +
      '{"component":"…","id":"…","event":{"type":"…"}}, as svc journal export writes them.',
  );
}
