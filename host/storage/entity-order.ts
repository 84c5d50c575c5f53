// EntityOrder reads the records of a journal entity by entity: all records of one, and then all of the next. Each entity's
// records are in their order, and the order between entities is another one than that of the journal. Its list of entities
// is in a temporary file, which SQLite deletes when it is closed or the process ends.
//
// Invariant: the records are those up to one position, whatever a service stores meanwhile.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Feed, FeedPage, FeedRecord, Position } from '../engine/needs/feed.ts';
import { printable } from '@svc/kit/printable';
import { READ_UNITS_MAX } from '../engine/needs/journal.ts';
import type { JournalRecord } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInspection } from './journal-inspection.ts';

const PAGE_RECORDS = 1_000;
/** Records of one entity that are read at once: each may be a megabyte long. */
const ENTITY_RECORDS = 64;

interface ListedEntity {
  readonly component: string;
  readonly id: string;
  /** Number of the entity's last record. */
  readonly lastSeq: number;
}

export class EntityOrder {
  readonly #database = new DatabaseSync('');
  readonly #inspection: JournalInspection;
  readonly #shown: string;

  /**
   * Lists the entities of `components` in `feed`, which is one of the journal that is inspected. `inspection` is closed with the order.
   * `shown`: name of the journal in messages. Rejects with the errors of the feed.
   */
  static async open(
    inspection: JournalInspection,
    shown: string,
    feed: Feed,
    components: ReadonlySet<string>,
  ): Promise<EntityOrder> {
    const order = new EntityOrder(inspection, shown);
    try {
      await order.#list(feed, components);
      return order;
    } catch (error) {
      order.close();
      throw error;
    }
  }

  private constructor(inspection: JournalInspection, shown: string) {
    this.#inspection = inspection;
    this.#shown = shown;
    this.#database.exec(`
      PRAGMA journal_mode = OFF;
      CREATE TABLE history (
        no INTEGER PRIMARY KEY,
        component TEXT NOT NULL,
        id TEXT NOT NULL,
        last_seq INTEGER NOT NULL,
        UNIQUE (component, id)
      ) STRICT;
    `);
  }

  async #list(feed: Feed, components: ReadonlySet<string>): Promise<void> {
    const put = this.#database.prepare(`
      INSERT INTO history (component, id, last_seq) VALUES (?, ?, ?)
      ON CONFLICT (component, id) DO UPDATE SET last_seq = excluded.last_seq
    `);
    for (let position = feed.start; ;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const page = await feed.read(position, PAGE_RECORDS, components);
      if (page.position === position) return;
      this.#database.exec('BEGIN');
      for (const { entity, record } of page.records)
        put.run(entity.component, entity.id, record.seq);
      this.#database.exec('COMMIT');
      position = page.position;
    }
  }

  /** Returns the records in an order. Reading them throws SVC_JOURNAL_CORRUPT and SVC_JOURNAL_UNAVAILABLE. */
  feed(direction: 'first-to-last' | 'last-to-first'): EntityOrderFeed {
    return new EntityOrderFeed(this.#database, this.#inspection, this.#shown, direction);
  }

  close(): void {
    this.#inspection.close();
    this.#database.close();
  }
}

/** Parts of a position: the number of records before it, the number of an entity in the list, and that of its last record before it. */
type Parts = readonly [count: number, no: number, seq: number];

export class EntityOrderFeed {
  readonly start: Position;
  readonly #inspection: JournalInspection;
  readonly #shown: string;
  readonly #entity: StatementSync;
  readonly #next: StatementSync;

  constructor(
    database: DatabaseSync,
    inspection: JournalInspection,
    shown: string,
    direction: 'first-to-last' | 'last-to-first',
  ) {
    this.#inspection = inspection;
    this.#shown = shown;
    const isForward = direction === 'first-to-last';
    this.start = textOf([0, isForward ? 0 : Number.MAX_SAFE_INTEGER, 0]);
    this.#entity = database.prepare(
      'SELECT component, id, last_seq AS lastSeq FROM history WHERE no = ?',
    );
    this.#next = database.prepare(
      isForward
        ? 'SELECT no FROM history WHERE no > ? ORDER BY no LIMIT 1'
        : 'SELECT no FROM history WHERE no < ? ORDER BY no DESC LIMIT 1',
    );
  }

  async read(after: Position, limit: number, components: ReadonlySet<string>): Promise<FeedPage> {
    const [from, ...last] = partsOf(after);
    let [no, seq] = last;
    let count = from;
    let units = 0;
    const records: FeedRecord[] = [];
    while (count - from < limit && units < READ_UNITS_MAX) {
      const entity = this.#entity.get(no) as ListedEntity | undefined;
      if (entity === undefined || seq >= entity.lastSeq) {
        const next = this.#next.get(no)?.['no'];
        if (next === undefined) break;
        no = Number(next);
        seq = 0;
        continue;
      }
      const { component, id, lastSeq } = entity;
      const left = Math.min(lastSeq - seq, limit - (count - from), ENTITY_RECORDS);
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const read = await this.#records({ component, id }, seq, left);
      if (components.has(component)) records.push(...read);
      for (const { record } of read) if (record.kind === 'event') units += record.event.json.length;
      count += read.length;
      seq += read.length;
    }
    return { records, position: textOf([count, no, seq]) };
  }

  count(from: Position, to: Position): number {
    return partsOf(to)[0] - partsOf(from)[0];
  }

  /** No record identifies a position in this order. */
  mark(): undefined {}

  async #records(
    entity: FeedRecord['entity'],
    afterSeq: number,
    limit: number,
  ): Promise<readonly FeedRecord[]> {
    const { records } = await this.#inspection.records(entity, afterSeq, limit);
    const damage =
      records.length === limit
        ? records.find((record) => record.kind === 'damaged')?.problem
        : 'some of its records are missing';
    if (damage !== undefined)
      throw new SvcError(
        'SVC_JOURNAL_CORRUPT',
        `The journal ${this.#shown} is damaged: entity '${printable(entity.id)}' of component ` +
          `'${printable(entity.component)}': ${damage}. Restore it from a backup.`,
      );
    return records.map((record) => ({ entity, record: record as JournalRecord }));
  }
}

function textOf(parts: Parts): Position {
  return parts.join('/');
}

function partsOf(position: Position): Parts {
  return position.split('/').map(Number) as unknown as Parts;
}
