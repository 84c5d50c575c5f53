// SchemaSession is a connection for a journal whose tables are in another schema than `svc`. All statements are written for the schema `svc`, whose
// name is replaced as each one is sent.
//
// Invariant: a statement has the word `svc` only as the name of the schema. Values are parameters, which stay as they are.
import type { DatabaseSession, Parameter, Row, Statement } from './database-session.ts';
import { SCHEMA } from './schema.ts';

const NAME = new RegExp(String.raw`\b${SCHEMA}\b`, 'g');
const SHOWN_SCHEMA = / \(schema (\w+)\)$/;

/** Returns the name of a database in messages with that of the schema; undefined: `svc`, which is not named. */
export function shownInSchema(shown: string, schema: string | undefined): string {
  return schema === undefined ? shown : `${shown} (schema ${schema})`;
}

/** Returns the name of the schema that a connection uses. */
export function schemaOf({ shown }: DatabaseSession): string {
  return SHOWN_SCHEMA.exec(shown)?.[1] ?? SCHEMA;
}

export class SchemaSession implements DatabaseSession {
  readonly shown: string;
  readonly #session: DatabaseSession;
  readonly #schema: string;
  /** The statements that were sent before; most are constants. */
  readonly #known = new WeakMap<Statement, Statement>();

  constructor(session: DatabaseSession, schema: string) {
    this.shown = shownInSchema(session.shown, schema);
    this.#session = session;
    this.#schema = schema;
  }

  get ended(): Promise<void> {
    return this.#session.ended;
  }

  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]> {
    return this.#session.query(this.#inSchema(statement), values);
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  abort(): void {
    this.#session.abort();
  }

  #inSchema(statement: Statement): Statement {
    let known = this.#known.get(statement);
    if (known === undefined) {
      known = { ...statement, text: statement.text.replace(NAME, this.#schema) };
      this.#known.set(statement, known);
    }
    return known;
  }
}
