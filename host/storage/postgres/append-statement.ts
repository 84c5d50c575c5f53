// AppendStatement is the one statement that stores a group of appends. It takes the slices whose owner, epoch, head and count of
// commits are as expected, and inserts the rows of these slices alone. The lock on a slice's row is the fence: a former owner's
// statement comes before the claim of the next owner, which waits for it, or finds another epoch and stores nothing.
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import type { ReplyToStore } from '../../engine/needs/journal.ts';
import type { DatabaseSession, Parameter, Statement } from './database-session.ts';
import { outcomeText } from '../outcome-text.ts';
import { recordValues } from './record-row.ts';
import { replyChecksum } from './reply-lookups.ts';
import type { SentSlices } from './sent-slices.ts';

/** An append of an entity, and what is stored beside it. */
export interface SlicedAppend {
  readonly entity: EntityRef;
  /** The slice that has to be held: that of the entity, or any that is claimed if the append has neither records nor a reply. */
  readonly slice: number;
  readonly records: readonly JournalRecord[];
  readonly reply: ReplyToStore | undefined;
}

export interface GroupOutcome {
  /** The slices that were held: everything of their entities is stored, and nothing of others. */
  readonly held: ReadonlySet<number>;
  /** Indexes of appends whose first record does not follow the last one of its entity. If there is one, nothing is held. */
  readonly gaps: ReadonlySet<number>;
}

/** It takes the columns of `parametersOf`, and answers which slices were held. */
export const STATEMENT: Statement = {
  name: 'append',
  text: `WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::int2[], $2::int8[], $3::int8[], $4::int8[], $5::int8[])
      AS a(slice, epoch, head, commits, next)
  ), gap AS MATERIALIZED (
    SELECT f.append FROM unnest($6::int4[], $7::int2[], $8::text[], $9::text[], $10::int8[])
      AS f(append, slice, component, id, seq)
    WHERE f.seq <> 1 + coalesce((
      SELECT max(j.seq) FROM svc.journal j
      WHERE j.slice = f.slice AND j.component = f.component AND j.id = f.id
    ), 0)
  ), held AS (
    UPDATE svc.slice s SET head = a.next, commits = s.commits + 1
    FROM asked a
    WHERE s.slice = a.slice AND s.owner = $11 AND s.epoch = a.epoch AND s.head = a.head
      AND s.commits = a.commits AND NOT EXISTS (SELECT FROM gap)
    RETURNING s.slice
  ), stored AS (
    INSERT INTO svc.journal (slice, off, component, id, seq, kind, time_ms, manifest, event, seed,
      trace, key, by, crc, module)
    SELECT r.*, $26::int4 FROM unnest($12::int2[], $13::int8[], $14::text[], $15::text[], $16::int8[],
      $17::int2[], $18::int8[], $19::text[], $20::text[], $21::int8[], $22::text[], $23::text[],
      $24::text[], $25::int8[]) AS r(slice)
    JOIN held h ON h.slice = r.slice
  ), kept AS (
    INSERT INTO svc.reply (slice, component, id, key, digest, time_ms, outcome, crc, stored_ms)
    SELECT r.*, (extract(epoch FROM clock_timestamp()) * 1000)::int8
    FROM unnest($27::int2[], $28::text[], $29::text[], $30::text[], $31::text[], $32::int8[],
      $33::text[], $34::int8[]) AS r(slice)
    JOIN held h ON h.slice = r.slice
    ON CONFLICT (slice, component, id, key) DO UPDATE SET digest = excluded.digest,
      time_ms = excluded.time_ms, outcome = excluded.outcome, crc = excluded.crc,
      stored_ms = excluded.stored_ms
  ), typed AS (
    INSERT INTO svc.event_type SELECT t.component, t.manifest
    FROM unnest($35::int2[], $36::text[], $37::text[]) AS t(slice, component, manifest)
    JOIN held h ON h.slice = t.slice ORDER BY 1, 2
    ON CONFLICT DO NOTHING
  )
  SELECT slice, NULL FROM held UNION ALL SELECT NULL, append FROM gap`,
};

/** Columns of the statement's parameters. */
class Columns {
  readonly #columns: Parameter[][];

  constructor(count: number) {
    this.#columns = Array.from({ length: count }, () => []);
  }

  add(...values: readonly Parameter[]): void {
    for (let at = 0; at < values.length; at++) this.#columns[at]!.push(values[at]!);
  }

  get values(): readonly Parameter[] {
    return this.#columns as unknown as readonly Parameter[];
  }
}

export interface AppendStatementNeeds {
  /** Number of the module that writes; undefined: the records name none. */
  readonly module: number | undefined;
  /** The claims of the slices of the group. */
  readonly slices: SentSlices;
  /** The types of events that are known to be stored, `component\nmanifest`. */
  readonly types: Set<string>;
}

/** Stores a group of appends of slices that are claimed. Rejects with DatabaseFailure. */
export async function storeGroup(
  session: DatabaseSession,
  appends: readonly SlicedAppend[],
  needs: AppendStatementNeeds,
): Promise<GroupOutcome> {
  const held = new Set<number>();
  const gaps = new Set<number>();
  const newTypes = newTypesOf(appends, needs.types);
  const parameters = [...parametersOf(appends, needs), ...newTypes.values];
  for (const [slice, gap] of await session.query(STATEMENT, parameters))
    if (slice === null) gaps.add(gap as number);
    else held.add(slice as number);
  for (const { slice, name } of newTypes.types) if (held.has(slice)) needs.types.add(name);
  return { held, gaps };
}

/** Counts the records of a group by slice, in ascending order of slices. */
export function recordCounts(
  appends: readonly SlicedAppend[],
): readonly (readonly [slice: number, records: number])[] {
  const counts = new Map<number, number>();
  for (const { slice, records } of appends)
    counts.set(slice, (counts.get(slice) ?? 0) + records.length);
  return [...counts].toSorted(([a], [b]) => a - b);
}

interface NewType {
  readonly slice: number;
  /** `component\nmanifest` */
  readonly name: string;
}

/** Returns the types of events of a group that are not known to be stored. Their number is bounded by the module's types. */
function newTypesOf(
  appends: readonly SlicedAppend[],
  known: ReadonlySet<string>,
): { readonly types: readonly NewType[]; readonly values: readonly Parameter[] } {
  const types: NewType[] = [];
  const columns = new Columns(3);
  for (const { entity, slice, records } of appends)
    for (const record of records) {
      if (record.kind !== 'event') continue;
      const { manifest } = record.event;
      const name = `${entity.component}\n${manifest}`;
      if (known.has(name)) continue;
      types.push({ slice, name });
      columns.add(slice, entity.component, manifest);
    }
  return { types, values: columns.values };
}

function parametersOf(
  appends: readonly SlicedAppend[],
  { module, slices }: AppendStatementNeeds,
): readonly Parameter[] {
  const asked = new Columns(5);
  const next = new Map<number, number>();
  for (const [slice, count] of recordCounts(appends)) {
    const { epoch, head, commits } = slices.of(slice);
    asked.add(slice, epoch, head, commits, head + count);
    next.set(slice, head);
  }
  const firsts = new Columns(5);
  const records = new Columns(14);
  const replies = new Map<string, readonly Parameter[]>();
  const seen = new Set<string>();
  for (const [append, { entity, slice, records: added, reply }] of appends.entries()) {
    const { component, id } = entity;
    const name = `${component}\n${id}`;
    const first = added[0];
    if (first !== undefined && !seen.has(name)) {
      seen.add(name);
      firsts.add(append, slice, component, id, first.seq);
    }
    for (const record of added) {
      const off = next.get(slice)! + 1;
      next.set(slice, off);
      records.add(slice, off, component, id, ...recordValues(entity, { slice, off }, record));
    }
    // Of several replies to one key, the last one stays.
    if (reply !== undefined)
      replies.set(`${name}\n${reply.key}`, replyValues(entity, slice, reply));
  }
  const kept = new Columns(8);
  for (const values of replies.values()) kept.add(...values);
  return [
    ...asked.values,
    ...firsts.values,
    slices.node,
    ...records.values,
    module ?? null,
    ...kept.values,
  ];
}

function replyValues(
  { component, id }: EntityRef,
  slice: number,
  reply: ReplyToStore,
): readonly Parameter[] {
  const { key, digest, timeMs } = reply;
  const outcome = outcomeText(reply);
  const crc = replyChecksum({ component, id }, reply, outcome);
  return [slice, component, id, key, digest, timeMs, outcome, crc];
}
