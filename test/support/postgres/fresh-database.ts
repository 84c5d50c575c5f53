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
  readonly #server: DatabaseServer;
  #client: Promise<Client> | undefined;

  constructor(server: DatabaseServer, name: string) {
    this.name = name;
    this.url = server.url(name);
    this.#server = server;
    this.source = urlFile(server.folder, name, this.url);
  }

  /** Executes a statement as superuser. Returns the rows as objects. */
  async sql(text: string, values: readonly unknown[] = []): Promise<readonly QueryResultRow[]> {
    this.#client ??= this.#connected();
    const client = await this.#client;
    return (await client.query(text, [...values])).rows;
  }

  /** Ends all connections to the database, which is removed with its server: to remove it alone would take longer than most tests. */
  async end(): Promise<void> {
    await (await this.#client)?.end();
    await this.#server.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${this.name}'`,
    );
  }

  async #connected(): Promise<Client> {
    const client = await this.#server.client(this.name);
    // The test has ended the server, or the connection.
    client.once('end', () => (this.#client = undefined));
    return client;
  }
}

let files = 0;

/** Writes a URL into a file of its own. */
export function urlFile(folder: string, name: string, url: string): DatabaseSource {
  const path = join(folder, `${name}-${++files}.url`);
  writeFileSync(path, `${url}\n`, { mode: 0o600 });
  return { kind: 'file', path };
}
