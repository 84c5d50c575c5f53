// CopyBatch gathers rows that a copy of a journal inserts with one statement.
import type { Parameter, Statement } from '../database-session.ts';

const ROWS_MAX = 2_000;
const UNITS_MAX = 4 * 1024 * 1024;

export type Value = string | number | null;

/** A statement and its parameters. */
export type Step = readonly [statement: Statement, values: readonly Parameter[]];

export class CopyBatch {
  readonly #statement: Statement;
  readonly #columns: Value[][];
  #units = 0;

  /** `columns`: name and type of each column, as `INSERT` names them and `unnest` takes them. */
  constructor(table: string, columns: readonly (readonly [name: string, type: string])[]) {
    const names = columns.map(([name]) => name).join(', ');
    const arrays = columns.map(([, type], index) => `$${index + 1}::${arrayType(type)}`).join(', ');
    const values = columns.map(([name, type]) =>
      type === 'xid8' ? `r.${name}::xid8` : `r.${name}`,
    );
    this.#statement = {
      name: `copy-${table}`,
      text: `INSERT INTO svc.${table} (${names}) OVERRIDING SYSTEM VALUE
  SELECT ${values.join(', ')} FROM unnest(${arrays}) AS r(${names})`,
    };
    this.#columns = columns.map(() => []);
  }

  get isFull(): boolean {
    return this.#columns[0]!.length >= ROWS_MAX || this.#units >= UNITS_MAX;
  }

  add(row: readonly Value[]): void {
    for (const [index, value] of row.entries()) {
      this.#columns[index]!.push(value);
      if (typeof value === 'string') this.#units += value.length;
    }
  }

  /** Returns the statement that inserts the rows, which the batch forgets; none: there are no rows. */
  take(): readonly Step[] {
    if (this.#columns[0]!.length === 0) return [];
    const values = this.#columns.map((column) => column.splice(0));
    this.#units = 0;
    return [[this.#statement, values]];
  }
}

/** There is no array of `xid8` in every version: its texts are converted one by one. */
function arrayType(type: string): string {
  return type === 'xid8' ? 'text[]' : `${type}[]`;
}
