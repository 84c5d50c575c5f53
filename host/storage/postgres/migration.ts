// Migration makes the tables of a journal in an empty database, and refuses a database whose tables are not those of a journal of
// this format. Several nodes may do so at once.
//
// Invariants
// - All tables come into being in one transaction. Its first statements make the schema or the table `svc.cluster`, whose name the
//   server gives to one transaction at a time: that is the lock, for which others wait, and then find the tables.
// - Nothing is changed in a database that has a table in the schema `svc`.
import { randomUUID } from 'node:crypto';
import { SLICE_COUNT, SLICE_HASH_VERSION } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import { databaseError, unusableDatabase } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import { differenceOf, findTables, type FoundTables } from './schema-check.ts';
import { schemaOf } from './schema-session.ts';
import { JOURNAL_FORMAT, TABLES, UNFINISHED_FORMAT } from './schema.ts';

/** Another transaction has made the schema or a table first. */
const CONFLICTS = new Set(['23505', '42P06', '42P07', '40001', '40P01']);
/** Each conflict means that another node has gone on. */
const ATTEMPTS_MAX = 20;

/** The row of `svc.cluster`. */
export interface JournalIdentity {
  /** A journal keeps its id. A copy of a database has the same. */
  readonly id: string;
}

/**
 * Makes the tables unless they exist, and checks them. Rejects with SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT if the tables of a journal
 * were edited, SVC_DATABASE_UNUSABLE, SVC_JOURNAL_UNAVAILABLE and SVC_DISK_FULL.
 */
export async function migrateJournal(session: DatabaseSession): Promise<JournalIdentity> {
  const found = await reported(session, () => foundOrMade(session));
  const table = [...found.tables].find(([, { isWritable }]) => !isWritable)?.[0];
  if (table !== undefined)
    throw unusableDatabase(
      session.shown,
      `the role may not read and write the table ${table}`,
      `Make the role in the URL the owner of the schema ${schemaOf(session)} and its tables.`,
    );
  return found.identity;
}

/** Checks the tables, for programs that only read. Rejects as `migrateJournal`, and returns undefined if there is no journal. */
export async function readJournalIdentity(
  session: DatabaseSession,
): Promise<JournalIdentity | undefined> {
  return (await reported(session, () => find(session)))?.identity;
}

/**
 * Begins a copy of a journal into an empty database, or goes on with one that was begun. `id` becomes the id of the journal; a copy that
 * was begun with another one cannot go on then. Returns whether the copy had been begun. Rejects with SVC_JOURNAL_NOT_EMPTY, and as
 * `migrateJournal`.
 */
export async function beginCopy(session: DatabaseSession, id: string): Promise<boolean> {
  return reported(session, async () => {
    for (let attempt = 1; ; attempt++) {
      if (await hasUnfinishedCopy(session)) {
        const rows = await session.query(
          { text: 'UPDATE svc.cluster SET id = $1 WHERE format = $2 RETURNING id' },
          [id, UNFINISHED_FORMAT],
        );
        if (rows.length > 0) return true;
        continue;
      }
      try {
        await makeTables(session, { id, format: UNFINISHED_FORMAT });
        return false;
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS_MAX) throw error;
      }
    }
  });
}

/**
 * Returns whether a copy of a journal into a database was begun and not finished; false: the database is empty. Rejects with
 * SVC_JOURNAL_NOT_EMPTY, SVC_JOURNAL_CORRUPT and as DatabaseSession does.
 */
export async function hasUnfinishedCopy(session: DatabaseSession): Promise<boolean> {
  const { shown } = session;
  const tables = await findTables(session);
  const [first] = tables.keys();
  if (first === undefined) return false;
  const [row] = tables.has('cluster')
    ? await session.query({ text: 'SELECT format FROM svc.cluster' })
    : [];
  if (row?.[0] !== UNFINISHED_FORMAT)
    throw new SvcError(
      'SVC_JOURNAL_NOT_EMPTY',
      `The database ${shown} is not empty: its schema ${schemaOf(session)} has ${tables.has('cluster') ? 'a journal' : `a table ${first}`}. ` +
        'Name an empty database.',
    );
  const difference = differenceOf(tables) ?? (await missingSlices(session));
  if (difference !== undefined) throw damaged(shown, difference);
  return true;
}

async function reported<T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DatabaseFailure ? databaseError(error, session.shown) : error;
  }
}

interface FoundJournal {
  readonly identity: JournalIdentity;
  readonly tables: FoundTables;
}

async function foundOrMade(session: DatabaseSession): Promise<FoundJournal> {
  for (let attempt = 1; ; attempt++) {
    const found = await find(session);
    if (found !== undefined) return found;
    try {
      await makeTables(session, { id: randomUUID(), format: JOURNAL_FORMAT });
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function find(session: DatabaseSession): Promise<FoundJournal | undefined> {
  const { shown } = session;
  const tables = await findTables(session);
  const [other] = tables.keys();
  if (other === undefined) return undefined;
  if (!tables.has('cluster'))
    throw unusableDatabase(
      shown,
      `its schema ${schemaOf(session)} has a table ${other}, and no journal`,
      'Name an empty database in the URL.',
    );
  const identity = await readCluster(session);
  const difference = differenceOf(tables) ?? (await missingSlices(session));
  if (difference !== undefined) throw damaged(shown, difference);
  return { identity, tables };
}

/** Reads the row that says what the tables are. It is read first, because tables of another format differ. */
async function readCluster(session: DatabaseSession): Promise<JournalIdentity> {
  const { shown } = session;
  const rows = await session.query({
    text: 'SELECT id, format, hash_version, slices FROM svc.cluster',
  });
  const [row] = rows as readonly [string, number, number, number][];
  if (row === undefined) throw damaged(shown, 'the table cluster is empty');
  const [id, format, hashVersion, slices] = row;
  if (format > JOURNAL_FORMAT)
    throw new SvcError(
      'SVC_JOURNAL_NEWER',
      `The journal in ${shown} has format ${format}, and this version of svc reads up to format ${JOURNAL_FORMAT}. Run the newer ` +
        'svc that wrote it, or name another database.',
    );
  if (format === UNFINISHED_FORMAT)
    throw unusableDatabase(
      shown,
      'a copy of a journal into it is not complete',
      'Run svc journal copy again, which goes on with it, or name another database.',
    );
  if (format < 1) throw damaged(shown, `its format is ${format}`);
  if (hashVersion !== SLICE_HASH_VERSION)
    throw otherSlices(shown, `a hash of version ${hashVersion}`, `version ${SLICE_HASH_VERSION}`);
  if (slices !== SLICE_COUNT) throw otherSlices(shown, `${slices} slices`, `${SLICE_COUNT}`);
  return { id };
}

async function missingSlices(session: DatabaseSession): Promise<string | undefined> {
  const [[count]] = (await session.query(
    {
      text: 'SELECT count(*) FROM svc.slice WHERE slice >= 0 AND slice < $1',
    },
    [SLICE_COUNT],
  )) as [[number]];
  return count === SLICE_COUNT
    ? undefined
    : `the table slice has ${count} of ${SLICE_COUNT} slices`;
}

async function makeTables(
  session: DatabaseSession,
  { id, format }: JournalIdentity & { readonly format: number },
): Promise<void> {
  await session.query({ text: 'BEGIN' });
  try {
    const [[hasSchema]] = (await session.query({
      text: "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'svc')",
    })) as [[boolean]];
    if (!hasSchema) await session.query({ text: 'CREATE SCHEMA svc' });
    for (const text of TABLES) await session.query({ text });
    await session.query(
      {
        text: 'INSERT INTO svc.cluster (id, format, hash_version, slices) VALUES ($1, $2, $3, $4)',
      },
      [id, format, SLICE_HASH_VERSION, SLICE_COUNT],
    );
    await session.query({ text: 'COMMIT' });
  } catch (error) {
    if (error instanceof DatabaseFailure && error.outcome === 'not-done')
      await session.query({ text: 'ROLLBACK' });
    throw error;
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof DatabaseFailure && CONFLICTS.has(error.sqlState ?? '');
}

function damaged(shown: string, difference: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal in ${shown} is damaged: ${difference}. Restore the database from a backup.`,
  );
}

function otherSlices(shown: string, found: string, own: string): SvcError {
  return unusableDatabase(
    shown,
    `its journal was made with ${found}, and this version of svc has ${own}`,
    'Run the version of svc that made it, or name another database.',
  );
}
