// SchemaCheck compares the tables that a database has with those of a journal. Tables that were edited by hand could lose records
// or the fence of their owner without any error, so that a journal is not opened with them.
import type { DatabaseSession, Row } from './database-session.ts';
import { TABLES } from './schema.ts';

const TABLE = /^CREATE TABLE svc\.(\w+) \(\n([\s\S]*?)\n\s*\)/;
const INDEX = /^CREATE (UNIQUE )?INDEX (\w+) ON svc\.(\w+)/;
/** A line of a table that is a column: its name, and its type with its collation. */
const COLUMN =
  /^\s*([a-z_]+) (smallint|integer|bigint|text|boolean|timestamptz|xid8)( COLLATE "C")?/;

/**
 * Tables, and of each its persistence, columns and indexes. Views, sequences and triggers are not looked at, and neither are the tables
 * of the rows of svc's views, which come and go.
 */
const FOUND = `SELECT c.relname::text, c.relpersistence::text,
    ARRAY(SELECT a.attname || ' ' || format_type(a.atttypid, NULL)
        || CASE WHEN l.collname = 'C' THEN ' COLLATE "C"' ELSE '' END
      FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname COLLATE "C"),
    ARRAY(SELECT i.relname || CASE WHEN x.indisunique THEN ' unique' ELSE '' END
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = c.oid AND x.indisvalid ORDER BY i.relname COLLATE "C"),
    has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
      AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'svc' AND c.relkind IN ('r', 'p', 'f') AND c.relname !~ '^view_rows_[0-9]+$'
  ORDER BY c.relname COLLATE "C"`;

interface Table {
  /** Names with types and collations. */
  readonly columns: ReadonlySet<string>;
  /** Names, with the word `unique` for those that are. */
  readonly indexes: ReadonlySet<string>;
}

export interface FoundTable extends Table {
  /** Whether the table survives a crash of the server. */
  readonly isLogged: boolean;
  /** Whether the role of this connection may read and write it. */
  readonly isWritable: boolean;
}

export type FoundTables = ReadonlyMap<string, FoundTable>;

/** Returns the tables of the schema `svc` by their names. Rejects with DatabaseFailure. */
export async function findTables(session: DatabaseSession): Promise<FoundTables> {
  const rows = await session.query({ text: FOUND });
  return new Map(rows.map(foundTable));
}

/** Returns the first difference as a clause; undefined: the tables are those of a journal. Indexes of others are no difference. */
export function differenceOf(found: FoundTables): string | undefined {
  for (const [name, { columns, indexes }] of EXPECTED) {
    const table = found.get(name);
    if (table === undefined) return `the table ${name} is missing`;
    if (!table.isLogged) return `the table ${name} is not logged, so that a crash empties it`;
    const column = firstOf(columns, table.columns);
    if (column !== undefined) return `the table ${name} has no column ${column}`;
    const other = firstOf(table.columns, columns);
    if (other !== undefined)
      return `the table ${name} has a column ${other}, which is not of a journal`;
    const index = firstOf(indexes, table.indexes);
    if (index !== undefined) return `the table ${name} has no index ${index}`;
  }
  const table = firstOf(new Set(found.keys()), new Set(EXPECTED.keys()));
  return table === undefined ? undefined : `the table ${table} is not of a journal`;
}

function firstOf(names: ReadonlySet<string>, others: ReadonlySet<string>): string | undefined {
  return [...names].find((name) => !others.has(name));
}

function foundTable(row: Row): [string, FoundTable] {
  const [name, persistence, columns, indexes, isWritable] = row as [
    string,
    string,
    readonly string[],
    readonly string[],
    boolean,
  ];
  const isLogged = persistence === 'p';
  return [name, { columns: new Set(columns), indexes: new Set(indexes), isLogged, isWritable }];
}

/** The tables that the statements of the schema make. */
const EXPECTED: ReadonlyMap<string, Table> = expectedTables();

function expectedTables(): ReadonlyMap<string, Table> {
  const tables = new Map<string, { columns: Set<string>; indexes: Set<string> }>();
  for (const statement of TABLES) {
    const [, table, body] = TABLE.exec(statement) ?? [];
    if (table !== undefined)
      tables.set(table, { columns: columnsOf(body!), indexes: new Set([`${table}_pkey unique`]) });
    const [, unique, index, of] = INDEX.exec(statement) ?? [];
    if (index !== undefined)
      tables.get(of!)!.indexes.add(unique === undefined ? index : `${index} unique`);
  }
  return tables;
}

function columnsOf(body: string): Set<string> {
  const columns = new Set<string>();
  for (const line of body.split('\n')) {
    const [, name, type, collation = ''] = COLUMN.exec(line) ?? [];
    if (name !== undefined)
      columns.add(
        `${name} ${type === 'timestamptz' ? 'timestamp with time zone' : type}${collation}`,
      );
  }
  return columns;
}
