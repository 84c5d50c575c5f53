// FreshDatabase is a database of a PostgresServer for one test.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, QueryResultRow } from 'pg';
import type { DatabaseSource } from '../../../host/storage/postgres/database-source.ts';

/** Methods of the server that makes the database. */
export interface DatabaseServer {
  readonly folder: string;
  url(database: string): string;
  sql(text: string): Promise<readonly QueryResultRow[]>;
  client(database: string): Promise<Client>;
}

export class FreshDatabase {
  readonly name: string;
  /** The URL for the role that owns the database. */
  readonly url: string;
  /** A file with the URL, which this user alone may read. */
  readonly source: DatabaseSource;
  /** The path of that file. */
  readonly path: string;
  readonly #server: DatabaseServer;
  #client: Client | undefined;

  constructor(server: DatabaseServer, name: string) {
    this.name = name;
    this.url = server.url(name);
    this.#server = server;
    this.path = join(server.folder, `${name}.url`);
    writeFileSync(this.path, `${this.url}\n`, { mode: 0o600 });
    this.source = { kind: 'file', path: this.path };
  }

  /** Executes a statement as superuser. Returns the rows as objects. */
  async sql(text: string, values: readonly unknown[] = []): Promise<readonly QueryResultRow[]> {
    if (this.#client === undefined) {
      this.#client = await this.#server.client(this.name);
      // The test has ended the server, or the connection.
      this.#client.on('end', () => (this.#client = undefined));
    }
    return (await this.#client.query(text, [...values])).rows;
  }

  /** Ends all connections to the database, and removes it. */
  async drop(): Promise<void> {
    await this.#client?.end();
    await this.#server.sql(`DROP DATABASE ${this.name} WITH (FORCE)`);
  }
}
