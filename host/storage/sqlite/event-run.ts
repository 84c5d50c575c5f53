// EventRun: many small events of an entity that follow one another, read as one value: SQLite puts them together, each
// as its checksum has it, and here they are taken apart. As rows of values they cost three times as much.
//
// Invariants
// E1  An event is answered only when its checksum fits, and when every event before it was answered.
// E2  What does not come so (a deletion, a hole, a large event, one of format 1 or 2, damage) ends the run
//     before it. Nothing is said of it here: who wants to know reads on by records.
import type { EntityRef, StoredEvent } from '../../model/entity.ts';
import { byteChecksum } from './byte-checksum.ts';
import { countIn } from './journal-schema.ts';
import { positionsOf } from './record-index.ts';
import { KIND_EVENT } from './record-kind.ts';
import { COVERS_ORIGIN, entityChecksum } from './record-checksum.ts';

/** Of JSON text. Larger ones would make the value large, and as rows they cost little beside their size. */
const JSON_BYTES_MAX = 1_024;

const SPACE = 0x20;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const NOT_ASCII = 0x80;
/** Between parts: no text has this byte, for UTF-8 has not. */
const MARK = 0xff;
const MARKED_LINE_FEED = `CAST(x'0aff' AS TEXT)`;

/**
 * As `recordChecksum` has it but for the entity, with marks before the manifest, the JSON text and the checksum, which
 * are not under it. All that is left out would be put together as an empty text.
 */
const RECORD = `concat(
  journal.pos, ' ', journal.seq, ' ${KIND_EVENT} ', time_ms, ' ', seed >> 32, ' ', seed & 4294967295, ' ',
  trace, char(10), key, ${MARKED_LINE_FEED}, manifest, ${MARKED_LINE_FEED}, json, CAST(x'ff' AS TEXT), crc)`;

/**
 * Of the records of the entity ?1 after ?2, at most ?3 of them: one value, with a comma between two. Each operation of
 * this statement is seen in how long a replay takes.
 */
export const EVENT_RUN = `
  SELECT CAST(group_concat(${RECORD}) AS BLOB)
  FROM (${positionsOf('?1', 'seq > ?2', countIn('?3'))}) p CROSS JOIN journal ON journal.pos = p.pos
  WHERE eno = ?1 AND kind = ${KIND_EVENT} AND manifest IS NOT NULL AND octet_length(json) <= ${JSON_BYTES_MAX}`;

/** The events after `afterSeq` in what EVENT_RUN has answered. */
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
  /** A character for each byte, of which texts are parts. */
  readonly #characters: string;
  /** Of what stands before a record's first field. */
  readonly #entityChecksum: number;
  #at = 0;
  /** Of the event before, which has the next one's most of the time. */
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

  /** Undefined: what comes next is not the event of this number as it was written. */
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

  /** A text of its own, for one that is kept would keep all the characters. */
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
