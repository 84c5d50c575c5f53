// AppendLoop stores events by the statement of the journal in PostgreSQL, and decides nothing: what waits goes in the next
// statement, and one is in flight at a time. It computes no checksums, so nothing can read its records. Several loops may share a
// database, each with slices and entities of its own.
import assert from 'node:assert/strict';
import { STATEMENT } from '../../host/storage/postgres/append-statement.ts';
import { connectDatabase } from '../../host/storage/postgres/connect-database.ts';
import type {
  DatabaseSession,
  Parameter,
  Statement,
} from '../../host/storage/postgres/database-session.ts';
import { migrateJournal } from '../../host/storage/postgres/migration.ts';
import { SLICE_COUNT, sliceOf } from '@svc/model/slice';
import type { FreshDatabase } from '../../test/support/postgres/fresh-database.ts';
import { entityOf } from '../counter-engine.ts';

const TAKE = {
  text: 'UPDATE svc.slice SET owner = $1, epoch = 1 WHERE slice % $2::int4 = $1::int8 - 1',
};
const ENTITIES = 1_000;
/** The part of the statement that fences, and what is in its place without a fence. Both name the same parameters. */
const FENCE = /UPDATE svc\.slice s SET .*?RETURNING s\.slice/s;
const NO_FENCE =
  'SELECT a.slice FROM asked a WHERE $11::int8 IS NOT NULL AND NOT EXISTS (SELECT FROM gap)';
/** Values of the same length as those of the counter's events. */
const COMPONENT = 'counter';
const EVENT_KIND = 0;
const MANIFEST = 'added';
const EVENT = '{"type":"added","amount":1}';
const SEED = '-1234567890123456789';
const CHECKSUM = 1_234_567_890;
const MODULE = 1;
const REPLY_COLUMNS = 8;
const TYPE_COLUMNS = 3;

interface Entity {
  readonly id: string;
  readonly slice: number;
  /** Number of the last record. */
  seq: number;
}

interface Waiting {
  readonly entity: Entity;
  readonly stored: () => void;
}

export class AppendLoop {
  /** Number of the node that the loop claims to be. */
  readonly #owner: number;
  readonly #session: DatabaseSession;
  readonly #statement: Statement;
  readonly #ids: readonly string[];
  readonly #entities = new Map<string, Entity>();
  readonly #heads = Array.from({ length: SLICE_COUNT }, () => 0);
  readonly #commits = Array.from({ length: SLICE_COUNT }, () => 0);
  #waiting: Waiting[] = [];
  #isSending = false;
  #statements = 0;

  /** Makes the tables in an empty database, and takes all slices. */
  static async open(database: FreshDatabase, hasFence = true): Promise<AppendLoop> {
    const [loop] = await AppendLoop.openSeveral(database, 1, hasFence);
    return loop!;
  }

  /** Makes the tables in an empty database, and divides the slices, and 1,000 entities with them, among several loops. */
  static async openSeveral(
    database: FreshDatabase,
    count: number,
    hasFence = true,
  ): Promise<readonly AppendLoop[]> {
    const all = Array.from({ length: ENTITIES }, (_, turn) => entityOf(turn));
    const statement = hasFence ? STATEMENT : withoutFence();
    const loops: AppendLoop[] = [];
    for (let owner = 1; owner <= count; owner++) {
      // oxlint-disable-next-line no-await-in-loop -- the first one makes the tables
      const session = await connectDatabase(database.source);
      // oxlint-disable-next-line no-await-in-loop -- the same
      if (owner === 1) await migrateJournal(session);
      // oxlint-disable-next-line no-await-in-loop -- the same
      await session.query(TAKE, [owner, count]);
      const ids = all.filter((id) => sliceOf(COMPONENT, id) % count === owner - 1);
      loops.push(new AppendLoop(owner, session, statement, ids));
    }
    return loops;
  }

  private constructor(
    owner: number,
    session: DatabaseSession,
    statement: Statement,
    ids: readonly string[],
  ) {
    this.#owner = owner;
    this.#session = session;
    this.#statement = statement;
    this.#ids = ids;
  }

  /** Stores an event of the entity of a turn. */
  append(turn: number): Promise<void> {
    const entity = this.#entity(this.#ids[turn % this.#ids.length]!);
    return new Promise((stored, reject) => {
      this.#waiting.push({ entity, stored });
      if (!this.#isSending) this.#send().catch(reject);
    });
  }

  /** Number of statements that were sent. */
  get statements(): number {
    return this.#statements;
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #entity(id: string): Entity {
    const known = this.#entities.get(id);
    if (known !== undefined) return known;
    const entity = { id, slice: sliceOf(COMPONENT, id), seq: 0 };
    this.#entities.set(id, entity);
    return entity;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    while (this.#waiting.length > 0) {
      const sent = this.#waiting;
      this.#waiting = [];
      this.#statements++;
      const slices = new Set(sent.map(({ entity }) => entity.slice));
      const rows = await this.#session.query(this.#statement, this.#parameters(sent, slices));
      assert.equal(rows.length, slices.size);
      for (const { stored } of sent) stored();
    }
    this.#isSending = false;
  }

  #parameters(sent: readonly Waiting[], slices: ReadonlySet<number>): readonly Parameter[] {
    const asked = [...slices].toSorted((a, b) => a - b);
    const heads = asked.map((slice) => this.#heads[slice]!);
    const commits = asked.map((slice) => this.#commits[slice]!++);
    const firsts = [...new Set(sent.map(({ entity }) => entity))];
    const firstSeqs = firsts.map(({ seq }) => seq + 1);
    const offs = sent.map(({ entity }) => ++this.#heads[entity.slice]!);
    const all = <T>(value: T): T[] => sent.map(() => value);
    return [
      asked,
      asked.map(() => 1),
      heads,
      commits,
      asked.map((slice) => this.#heads[slice]!),
      firsts.map((_, index) => index),
      firsts.map(({ slice }) => slice),
      firsts.map(() => COMPONENT),
      firsts.map(({ id }) => id),
      firstSeqs,
      this.#owner,
      sent.map(({ entity }) => entity.slice),
      offs,
      all(COMPONENT),
      sent.map(({ entity }) => entity.id),
      sent.map(({ entity }) => ++entity.seq),
      all(EVENT_KIND),
      all(Date.now()),
      all(MANIFEST),
      all(EVENT),
      all(SEED),
      all(null),
      all(null),
      all(null),
      all(CHECKSUM),
      MODULE,
      ...Array.from({ length: REPLY_COLUMNS + TYPE_COLUMNS }, () => []),
    ];
  }
}

function withoutFence(): Statement {
  assert.match(STATEMENT.text, FENCE);
  return { ...STATEMENT, text: STATEMENT.text.replace(FENCE, NO_FENCE) };
}
