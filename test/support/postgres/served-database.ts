// ServedDatabase is a database of a real server that holds the journal of a service, and the `svc run` processes that use it.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSource } from '../../../host/storage/postgres/database-source.ts';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';
import { SvcProcess } from '../host-process.ts';
import type { FreshDatabase } from './fresh-database.ts';

export interface ServiceOptions {
  readonly shards?: number;
  /** Deployed: it has a management server, and a log in JSON lines. */
  readonly deployed?: boolean;
  readonly standby?: boolean;
  /** The module's file; default: that of the service. */
  readonly module?: string;
  /** Where the URL is; default: the file of the database. */
  readonly source?: DatabaseSource;
  readonly settings?: readonly string[];
  /** Further variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export class ServedDatabase {
  readonly database: FreshDatabase;
  readonly #module: string;
  readonly #scratch: string;

  /** `scratch`: a folder for the data folders of the processes, which differ as those of several machines do. */
  constructor(database: FreshDatabase, module: string, scratch: string) {
    this.database = database;
    this.#module = module;
    this.#scratch = scratch;
  }

  /** Starts a process, which the caller ends. */
  start(options: ServiceOptions = {}): SvcProcess {
    const { shards = 1, deployed = false, standby = false } = options;
    const { source = this.database.source, settings = [], module = this.#module } = options;
    const where =
      source.kind === 'file'
        ? `svc.database.url-file=${source.path}`
        : `svc.database.url-variable=${source.variable}`;
    // The last one of a setting counts.
    const all = [where, 'svc.http.host=127.0.0.1', 'svc.remoting.port=0', ...settings];
    const words = [
      'run',
      ...(deployed ? ['--deployed'] : ['--log', 'json']),
      module,
      '--port',
      '0',
      '--shards',
      String(shards),
      '--data',
      mkdtempSync(join(this.#scratch, 'data-')),
      ...(standby ? ['--standby'] : []),
      ...all.flatMap((setting) => ['--set', setting]),
    ];
    const url = source.kind === 'file' ? {} : { [source.variable]: this.database.url };
    return new SvcProcess(words, { env: { ...options.env, ...url } });
  }

  /** Reads what is stored of an entity. */
  async records({ component, id }: EntityRef): Promise<readonly JournalRecord[]> {
    const rows = await this.database.sql(
      `SELECT seq::int, kind, time_ms::float8 AS time_ms, manifest, event FROM svc.journal
        WHERE component = $1 AND id = $2 ORDER BY seq`,
      [component, id],
    );
    return rows.map(({ seq, kind, time_ms: timeMs, manifest, event }) =>
      kind === 1
        ? { kind: 'deleted', seq, timeMs }
        : { kind: 'event', seq, timeMs, event: { manifest, json: event } },
    );
  }

  /** Throws if the numbers of the records of a slice or of an entity have a gap, or do not end with the slice's head. */
  async checkNumbers(): Promise<void> {
    const gaps = await this.database.sql(
      `SELECT slice, component, id FROM (
        SELECT *, row_number() OVER (PARTITION BY slice ORDER BY off) AS nth,
          row_number() OVER (PARTITION BY slice, component, id ORDER BY off) AS nth_of_entity FROM svc.journal
      ) r WHERE off <> nth OR seq <> nth_of_entity`,
    );
    assert.deepEqual(gaps, [], 'numbers of records have a gap');
    const heads = await this.database.sql(
      `SELECT s.slice FROM svc.slice s LEFT JOIN svc.journal j USING (slice)
        GROUP BY s.slice, s.head HAVING s.head <> coalesce(max(j.off), 0)`,
    );
    assert.deepEqual(heads, [], 'heads of slices are not the last numbers of their records');
  }

  /** Returns the number of nodes, and of slices that have an owner. */
  async owned(): Promise<{ readonly nodes: number; readonly slices: number }> {
    const [row] = await this.database.sql(
      `SELECT (SELECT count(*) FROM svc.node)::int AS nodes,
        (SELECT count(owner) FROM svc.slice)::int AS slices`,
    );
    return row as { nodes: number; slices: number };
  }
}
