// EntityStatements are the statements that store the records, the replies and the snapshots of entities, and those that read them.
// Conditions of the fence are looked for in the text of the statement, since a test may remove one.
import type { Parameter, Row } from '../../../host/storage/postgres/database-session.ts';
import { entityKey, type SliceRow } from './modelled-tables.ts';
import type { KnownStatement, StatementRun } from './statement-run.ts';

type Column<T> = readonly T[];

/** The claim of a slice by which a group is appended, and the head that the slice gets. */
interface Asked {
  readonly slice: number;
  readonly epoch: number;
  readonly head: number;
  readonly commits: number;
  readonly next: number;
}

/** Returns the last number of an entity, as a statement sees it; 0: it has no records. */
function lastSeq(run: StatementRun, component: unknown, id: unknown): number {
  const { entities } = run.tables;
  let last = 0;
  // Numbers are dense, so the first one that is missing is the end.
  for (let step = 1024; step >= 1; step = Math.floor(step / 2))
    while (run.read(entities, entityKey(component, id, last + step)) !== undefined) last += step;
  return last;
}

function rowsOf(columns: readonly Parameter[]): readonly Row[] {
  const [first] = columns as readonly (readonly unknown[])[];
  return first!.map((_, index) => columns.map((column) => (column as readonly unknown[])[index]));
}

async function append(
  run: StatementRun,
  values: readonly Parameter[],
  text: string,
): Promise<readonly Row[]> {
  const asked = rowsOf(values.slice(0, 5)).map(([slice, epoch, head, commits, next]) => ({
    slice: slice as number,
    epoch: epoch as number,
    head: head as number,
    commits: commits as number,
    next: next as number,
  }));
  const gaps = rowsOf(values.slice(5, 10)).filter(
    ([, , component, id, seq]) => seq !== 1 + lastSeq(run, component, id),
  );
  if (gaps.length > 0) return gaps.map(([index]) => [null, index]);
  await run.step();
  const held = await heldSlices(run, asked, values[10] as number, text);
  await insertRecords(run, held, values);
  await keepReplies(run, held, values.slice(26, 34));
  for (const [slice, component, manifest] of rowsOf(values.slice(34, 37))) {
    const key = entityKey(component, manifest, '');
    if (held.has(slice as number) && (await run.conflict(run.tables.types, key)) === undefined)
      run.transaction.write(run.tables.types, key, true);
  }
  return [...held].map((slice) => [slice, null]);
}

/** Locks and advances the slices that are as expected, and returns them. */
async function heldSlices(
  run: StatementRun,
  asked: readonly Asked[],
  node: number,
  text: string,
): Promise<ReadonlySet<number>> {
  const { slices } = run.tables;
  const compares = {
    owner: text.includes('s.owner = $11'),
    epoch: text.includes('s.epoch = a.epoch'),
    head: text.includes('s.head = a.head'),
    commits: text.includes('s.commits = a.commits'),
  };
  const held = new Set<number>();
  for (const claim of asked) {
    const qualifies = (row: SliceRow): boolean =>
      (!compares.owner || row.owner === node) &&
      (!compares.epoch || row.epoch === claim.epoch) &&
      (!compares.head || row.head === claim.head) &&
      (!compares.commits || row.commits === claim.commits);
    const { slice, epoch, next } = claim;
    let row: SliceRow | undefined;
    if (run.needs.flaws.fenceLocksNothing === true) {
      row = run.read(slices, slice);
      if (row !== undefined && !qualifies(row)) row = undefined;
    } else {
      const locked = run.lock(slices, slice, qualifies);
      row = locked instanceof Promise ? await locked : locked;
    }
    if (row === undefined) continue;
    held.add(slice);
    run.transaction.write(slices, slice, { ...row, head: next, commits: row.commits + 1 });
    run.transaction.deeds.push({ kind: 'append', slice, node, epoch, records: next - claim.head });
  }
  return held;
}

async function insertRecords(
  run: StatementRun,
  held: ReadonlySet<number>,
  values: readonly Parameter[],
): Promise<void> {
  const { journal, entities } = run.tables;
  for (const [slice, off, component, id, seq, ...rest] of rowsOf(values.slice(11, 25))) {
    if (!held.has(slice as number)) continue;
    const key = `${slice as number}/${off as number}`;
    const columns = [slice, off, seq, ...rest];
    await run.insert(journal, key, {
      slice: slice as number,
      off: off as number,
      seq: seq as number,
      columns,
    });
    await run.insert(entities, entityKey(component, id, seq), key);
  }
}

async function keepReplies(
  run: StatementRun,
  held: ReadonlySet<number>,
  columns: readonly Parameter[],
): Promise<void> {
  const { replies } = run.tables;
  for (const [slice, component, id, name, digest, timeMs, outcome, crc] of rowsOf(columns)) {
    if (!held.has(slice as number)) continue;
    const key = entityKey(component, id, name);
    await run.conflict(replies, key);
    run.transaction.write(replies, key, {
      digest: digest as string,
      timeMs: timeMs as number,
      outcome: outcome as string,
      crc: crc as number,
    });
  }
}

/** Returns the columns of the records of an entity after a number, at most `limit`. */
function recordsAfter(
  run: StatementRun,
  [, component, id]: readonly Parameter[],
  after: number,
  limit: number,
): readonly Row[] {
  const { journal, entities } = run.tables;
  const records: Row[] = [];
  for (let seq = after + 1; records.length < limit; seq++) {
    const key = run.read(entities, entityKey(component, id, seq));
    if (key === undefined) break;
    records.push(run.read(journal, key)!.columns);
  }
  return records;
}

function nulls(count: number): readonly null[] {
  return Array.from({ length: count }, () => null);
}

function incarnation(run: StatementRun, values: readonly Parameter[]): readonly Row[] {
  const [, component, id, fingerprint, limit] = values;
  const snapshot = run.read(run.tables.snapshots, entityKey(component, id, fingerprint));
  const page = recordsAfter(run, values, snapshot?.seq ?? 0, limit as number);
  return [
    [0, null, page.length, 0, ...nulls(9)],
    ...(snapshot === undefined
      ? []
      : [[1, null, null, snapshot.seq, ...nulls(3), snapshot.state, ...nulls(4), snapshot.crc]]),
    ...page.map((columns) => [2, ...columns]),
  ];
}

/** Returns slices with records, as a statement sees them. */
function* withRecords(run: StatementRun): Iterable<SliceRow> {
  for (const row of run.rows(run.tables.slices)) if (row.head > 0) yield row;
}

export const ENTITY_STATEMENTS: readonly KnownStatement[] = [
  ['WITH asked AS MATERIALIZED', append],
  [
    'AND j.seq > $4 AND j.off <= $6',
    (run, values) => recordsAfter(run, values, values[3] as number, values[4] as number),
  ],
  ['WITH deletion AS (', incarnation],
  [
    'SELECT f.lookup, f.digest',
    (run, columns) =>
      rowsOf(columns).flatMap(([lookup, , component, id, key]) => {
        const reply = run.read(run.tables.replies, entityKey(component, id, key));
        return reply === undefined
          ? []
          : [[lookup, reply.digest, reply.timeMs, reply.crc, reply.outcome]];
      }),
  ],
  [
    'INSERT INTO svc.snapshot',
    async (run, columns) => {
      const { snapshots } = run.tables;
      for (const [, component, id, fingerprint, seq, state, crc] of rowsOf(columns)) {
        const key = entityKey(component, id, fingerprint);
        const before = await run.conflict(snapshots, key);
        if (before !== undefined && before.seq >= (seq as number)) continue;
        run.transaction.write(snapshots, key, {
          seq: seq as number,
          state: state as string,
          crc: crc as number,
        });
      }
      return [];
    },
  ],
  [
    'SELECT slice, owner, epoch, head, commits FROM svc.slice',
    (run, [slices]) =>
      (slices as Column<number>).map((slice) => {
        const { owner, epoch, head, commits } = run.read(run.tables.slices, slice)!;
        return [slice, owner, epoch, head, commits];
      }),
  ],
  [
    'SELECT slice, epoch, head, commits FROM svc.slice',
    (run, [slices]) =>
      (slices as Column<number>).map((slice) => {
        const { epoch, head, commits } = run.read(run.tables.slices, slice)!;
        return [slice, epoch, head, commits];
      }),
  ],
  [
    'AND s.head < l.off ORDER BY s.slice LIMIT 1',
    (run, [slices]) => {
      for (const slice of (slices as Column<number>).toSorted((a, b) => a - b)) {
        const { head } = run.read(run.tables.slices, slice)!;
        let last = head;
        while (run.read(run.tables.journal, `${slice}/${last + 1}`) !== undefined) last++;
        if (last > head) return [[slice, head, last]];
      }
      return [];
    },
  ],
  [
    'WHERE head > 0 AND owner IS DISTINCT FROM $1',
    (run, [self]) =>
      [...withRecords(run)]
        .filter(({ owner }) => owner !== self)
        .map(({ slice, head }) => [slice, head]),
  ],
  [
    'SELECT r.stored_ms, r.slice, r.component, r.id, r.key FROM svc.reply',
    // Replies are kept for longer than a simulation lasts.
    () => [],
  ],
  ['pg_total_relation_size', () => [[0]]],
  ['SELECT EXISTS (SELECT FROM svc.timer), work FROM svc.cluster', () => [[false, 0]]],
  [
    'INSERT INTO svc.module',
    async (run, [fingerprint, , , self]) => {
      await run.step();
      const modules = [...run.rows(run.tables.modules)].toSorted((a, b) => b.number - a.number);
      const noted = modules.find((row) => row.fingerprint === fingerprint);
      const runs = [...run.rows(run.tables.nodes)].some(
        (node) =>
          node.fingerprint === fingerprint && node.number !== self && node.leaseUntilMs > run.nowMs,
      );
      if (noted !== undefined && (runs || noted === modules[0])) return [[noted.number]];
      const number = run.needs.nextNumber('module');
      await run.insert(run.tables.modules, number, { number, fingerprint: fingerprint as string });
      return [[number]];
    },
  ],
];
