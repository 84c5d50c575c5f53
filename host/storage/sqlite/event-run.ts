// EventRun reads many small consecutive events of an entity as one value: SQLite concatenates them, each in the form
// that its checksum covers, and EventRun splits them. Rows of values cost three times as much.
//
// Invariants
// E1  An event is returned only when its checksum matches, and when every event before it was returned.
// E2  Anything else (a deletion, a hole, a large event, one of format 1 or 2, damage) ends the run before it, without
//     an error: the caller continues with a read of whole records, which reports what is wrong.
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import { byteChecksum } from './byte-checksum.ts';
import { countIn } from './journal-schema.ts';
import { positionsOf } from './record-index.ts';
import { KIND_EVENT } from './record-kind.ts';
import { COVERS_BY, COVERS_ORIGIN, entityChecksum } from './record-checksum.ts';

/**
 * Maximum size of an event's JSON text in bytes. Larger events cost little more as rows, and the limit keeps the value
 * small.
 */
const JSON_BYTES_MAX = 1_024;

const SPACE = 0x20;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const NOT_ASCII = 0x80;
/** Separates the parts of an event; no text contains this byte, because UTF-8 never does. */
const MARK = 0xff;
const MARKED_LINE_FEED = `CAST(x'0aff' AS TEXT)`;

/**
 * A record in the form that `recordChecksum` covers, without the entity, and with marks before the manifest, the JSON
 * text and the checksum. The checksum does not cover the marks. `concat` takes a null as an empty text, so a record without `by`
 * has no line for it. What `by` adds to a checksum is taken off.
 */
const RECORD = `concat(
  journal.pos, ' ', journal.seq, ' ${KIND_EVENT} ', time_ms, ' ', seed >> 32, ' ', seed & 4294967295, ' ',
  trace, char(10), key, char(10) || by, ${MARKED_LINE_FEED}, manifest, ${MARKED_LINE_FEED}, json, CAST(x'ff' AS TEXT),
  crc - (by IS NOT NULL) * ${COVERS_BY})`;

/**
 * Concatenates at most ?3 records of the entity with the number ?1 after the record ?2 into one value, with a comma
 * between two. Replay runs this statement for every page, so each operation in it counts.
 */
export const EVENT_RUN = `
  SELECT CAST(group_concat(${RECORD}) AS BLOB)
  FROM (${positionsOf('?1', 'seq > ?2', countIn('?3'))}) p CROSS JOIN journal ON journal.pos = p.pos
  WHERE eno = ?1 AND kind = ${KIND_EVENT} AND manifest IS NOT NULL AND octet_length(json) <= ${JSON_BYTES_MAX}`;

/** Splits the result of EVENT_RUN into the events that follow the record `afterSeq`. */
export function eventsOf(entity: EntityRef, afterSeq: number, value: Uint8Array): StoredEvent[] {
  const run = new EventRun(entity, value);
  const events: StoredEvent[] = [];
  for (let seq = afterSeq + 1; ; seq++) {
    const event = run.next(seq);
    if (event === undefined) return events;
    events.push(event);
  }
}

class EventRun {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #buffer: Buffer;
  /** The bytes as Latin-1, one character for each byte; ASCII texts are slices of it. */
  readonly #characters: string;
  /** Checksum of the text before a record's first field. */
  readonly #entityChecksum: number;
  #at = 0;
  /** Manifest of the previous event; the next event usually has the same one. */
  #manifest = '';
  #manifestFrom = 0;
  #manifestUntil = 0;

  constructor({ component, id }: EntityRef, bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#characters = this.#buffer.toString('latin1');
    this.#entityChecksum = entityChecksum(component, id);
  }

  /** Returns the next event; undefined if what follows is not event `seq` in the form in which it was written. */
  next(seq: number): StoredEvent | undefined {
    const bytes = this.#bytes;
    const view = this.#view;
    const { length } = bytes;
    const headFrom = this.#at;
    let at = headFrom;
    while (at < length && bytes[at]! !== SPACE) at++;
    let number = 0;
    for (at++; at < length && bytes[at]! !== SPACE; at++)
      number = number * 10 + bytes[at]! - DIGIT_0;
    if (number !== seq) return undefined;
    while (at < length && bytes[at]! !== MARK) at++;
    let crc = byteChecksum(bytes, view, headFrom, at, this.#entityChecksum);
    const manifestFrom = ++at;
    while (at < length && bytes[at]! !== MARK) at++;
    crc = byteChecksum(bytes, view, manifestFrom, at, crc);
    const manifestUntil = at - 1;
    const jsonFrom = ++at;
    let bits = 0;
    for (; at < length && bytes[at]! !== MARK; at++) bits |= bytes[at]!;
    const jsonUntil = at;
    crc = byteChecksum(bytes, view, jsonFrom, jsonUntil, crc);
    let stored = 0;
    for (at++; at < length && bytes[at]! !== COMMA; at++)
      stored = stored * 10 + bytes[at]! - DIGIT_0;
    if (stored !== COVERS_ORIGIN + crc) return undefined;
    this.#at = at + 1;
    const json =
      bits < NOT_ASCII
        ? this.#characters.slice(jsonFrom, jsonUntil)
        : this.#buffer.toString('utf8', jsonFrom, jsonUntil);
    return { manifest: this.#manifestAt(manifestFrom, manifestUntil), json };
  }

  /**
   * Returns the manifest in these bytes: the string of the previous event if the bytes are the same, otherwise a string
   * decoded anew, because a slice would hold all characters of the run in memory.
   */
  #manifestAt(from: number, until: number): string {
    const bytes = this.#bytes;
    const length = until - from;
    let same = length === this.#manifestUntil - this.#manifestFrom ? 0 : -1;
    while (same >= 0 && same < length)
      same = bytes[from + same] === bytes[this.#manifestFrom + same] ? same + 1 : -1;
    if (same !== length) {
      this.#manifest = this.#buffer.toString('utf8', from, until);
      this.#manifestFrom = from;
      this.#manifestUntil = until;
    }
    return this.#manifest;
  }
}
