// ModelledTables are the rows of a journal with all their versions, each with the number of the commit that made it. A statement sees
// the versions that were committed when it began.
import type { Row } from '../../../host/storage/postgres/database-session.ts';

export interface ClusterRow {
  readonly version: number;
  readonly history: string;
  /** In milliseconds since 1970, by the clock of the server. */
  readonly takeoverFromMs: number;
}

export interface NodeRow {
  readonly number: number;
  readonly uid: string;
  readonly status: string;
  readonly joinedMs: number;
  readonly leaseUntilMs: number;
  readonly renewals: number;
  readonly isExclusive: boolean;
  readonly machine: string;
  readonly host: string | null;
  readonly port: number | null;
  readonly version: string;
  readonly fingerprint: string;
}

export interface SliceRow {
  readonly slice: number;
  readonly owner: number | null;
  readonly epoch: number;
  readonly head: number;
  readonly commits: number;
}

export interface RecordRow {
  readonly slice: number;
  readonly off: number;
  readonly seq: number;
  /** The columns from `slice` to `crc`, as reads return them. */
  readonly columns: Row;
}

export interface ReplyRow {
  readonly digest: string;
  readonly timeMs: number;
  readonly outcome: string;
  readonly crc: number;
}

export interface SnapshotRow {
  readonly seq: number;
  readonly state: string;
  readonly crc: number;
}

export interface ModuleRow {
  readonly number: number;
  readonly fingerprint: string;
}

export type Key = string | number;

interface Version<Value> {
  readonly commit: number;
  /** Undefined: the row was removed. */
  readonly row: Value | undefined;
}

export class Table<Value> {
  readonly name: string;
  readonly #rows = new Map<Key, Version<Value>[]>();

  constructor(name: string) {
    this.name = name;
  }

  /** Returns the row as it was after a commit; undefined: there was none. */
  at(key: Key, commit: number): Value | undefined {
    const versions = this.#rows.get(key);
    if (versions === undefined) return undefined;
    for (let index = versions.length - 1; index >= 0; index--)
      if (versions[index]!.commit <= commit) return versions[index]!.row;
    return undefined;
  }

  newest(key: Key): Value | undefined {
    return this.#rows.get(key)?.at(-1)?.row;
  }

  keys(): Iterable<Key> {
    return this.#rows.keys();
  }

  /** Stores a version. No statement sees those that were replaced by a commit before `oldest`, which are forgotten. */
  put(key: Key, row: Value | undefined, commit: number, oldest: number): void {
    const versions = this.#rows.getOrInsertComputed(key, () => []);
    while (versions.length > 1 && versions[1]!.commit <= oldest) versions.shift();
    versions.push({ commit, row });
  }
}

export class ModelledTables {
  readonly cluster = new Table<ClusterRow>('cluster');
  readonly nodes = new Table<NodeRow>('node');
  readonly slices = new Table<SliceRow>('slice');
  /** By slice and number. */
  readonly journal = new Table<RecordRow>('journal');
  /** By entity and number in it: the key of the record in `journal`. */
  readonly entities = new Table<string>('journal_entity');
  /** By entity and idempotency key. */
  readonly replies = new Table<ReplyRow>('reply');
  /** By entity and fingerprint. */
  readonly snapshots = new Table<SnapshotRow>('snapshot');
  readonly modules = new Table<ModuleRow>('module');
  readonly types = new Table<true>('event_type');
}

/** Returns the key of what belongs to an entity. */
export function entityKey(component: unknown, id: unknown, rest: unknown): string {
  return `${String(component)}\n${String(id)}\n${String(rest)}`;
}
