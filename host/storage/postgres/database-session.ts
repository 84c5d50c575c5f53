// DatabaseSession is one connection to the database. Statements are sent one after the other, in the order of `query`.
/** A value of a parameter. An array is an array of PostgreSQL. */
export type Parameter =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly (string | number | bigint | null)[];

export interface Statement {
  /** A named statement is prepared once for each connection. The name is unique. */
  readonly name?: string;
  readonly text: string;
}

/** A row as an array of columns. An `int8` is a number; it is an error if it is not a safe integer. */
export type Row = readonly unknown[];

export interface DatabaseSession {
  /** `postgresql://host:port/database`, for messages. */
  readonly shown: string;
  /** Carries out a statement, and returns its rows. Rejects with DatabaseFailure. */
  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>;
  /** Resolves once the connection is lost, or closed. */
  readonly ended: Promise<void>;
  /** Closes the connection once the statements under way are answered. */
  close(): Promise<void>;
  /** Closes the connection at once. Statements under way fail, their outcome is unknown. */
  abort(): void;
}
