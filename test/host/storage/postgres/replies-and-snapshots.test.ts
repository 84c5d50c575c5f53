// Which replies to idempotency keys and which snapshots a journal in PostgreSQL keeps.
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import type { Journal, Snapshot } from '../../../../host/engine/needs/journal.ts';
import { attachPostgresJournal } from '../../../../host/storage/postgres/attached-postgres.ts';
import type {
  DatabaseSession,
  Parameter,
} from '../../../../host/storage/postgres/database-session.ts';
import { FollowingSession } from '../../../../host/storage/postgres/following-session.ts';
import { ReplySweep } from '../../../../host/storage/postgres/reply-sweep.ts';
import { SnapshotQueue } from '../../../../host/storage/postgres/snapshot-queue.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { eventKey } from '../../../../model/event-key.ts';
import { SLICE_COUNT, sliceOf } from '../../../../model/slice.ts';
import { answerTo, append, keep, recordOf } from '../../../suites/journal-suite.ts';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const HOUR_MS = 3_600_000;

let journals: JournalDatabase;
let journal: Journal;

beforeAll(async () => {
  journals = await JournalDatabase.make(await PostgresServer.shared('18'));
});
afterAll(async () => {
  await journals.database.end();
});
beforeEach(async () => {
  await journals.empty();
  journal = journals.attach();
});
afterEach(async () => {
  await journal.close();
});

/** The number of replies that are stored. */
async function left(): Promise<number> {
  return journals.number('SELECT count(*) FROM svc.reply');
}

/** Stores replies that are as old as is said by the clock of the database. */
async function store(count: number, ageMs: number, prefix = 'k'): Promise<void> {
  await journals.database.sql(
    `INSERT INTO svc.reply SELECT n % ${SLICE_COUNT}, 'Cart', 'e' || n, $2 || n, 'd', 1, '{}', 1,
      (extract(epoch FROM clock_timestamp()) * 1000)::int8 - $3::int8 FROM generate_series(1, $1::int) n`,
    [count, prefix, ageMs],
  );
}

describe('the sweep of replies', () => {
  let following: FollowingSession;
  beforeEach(() => {
    following = new FollowingSession({
      connect: () => journals.session(),
      shown: 'test',
      clock: { monotonicMs: () => performance.now() },
    });
  });
  afterEach(() => {
    following.close();
  });

  /** A sweep of the first slices. */
  function sweep(count: number, nowMs = () => 0): ReplySweep {
    const slices = Array.from({ length: count }, (_, slice) => slice);
    return new ReplySweep({
      session: following,
      slices: () => slices,
      clock: { monotonicMs: nowMs },
    });
  }
  test('removes what is older than its retention by the clock of the database, page by page', async () => {
    await store(2_500, HOUR_MS);
    await store(10, HOUR_MS - 60_000, 'young');
    sweep(SLICE_COUNT).stored(HOUR_MS);
    await expect.poll(left).toBe(10);
  });

  test('begins with the use of a journal whose retention is known, and again when the journal is full', async () => {
    let passedMs = 0;
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
    onTestFinished(() => clock.mockRestore());
    await store(100, HOUR_MS);
    const attached = attachPostgresJournal(journals.connection(), HOUR_MS);
    await expect.poll(left).toBe(0);
    await store(100, HOUR_MS);
    journals.room.measured(1_000, 1_000);
    passedMs = 20_000;
    // Nothing can be stored that would begin a sweep.
    expect((await append(attached, one, recordOf(1)))?.code).toBe('SVC_JOURNAL_FULL');
    await expect.poll(left).toBe(0);
    await attached.close();
  });

  test('does not go by the time of the node that has decided the command', async () => {
    expect(await keep(journal, one, [], { ...answerTo('k', 1), retentionMs: HOUR_MS })).toBe(
      undefined,
    );
    await store(1, 2 * HOUR_MS, 'old');
    sweep(SLICE_COUNT).stored(HOUR_MS);
    await expect.poll(left).toBe(1);
    expect(await journal.answer(one, 'k')).toMatchObject({ timeMs: 1 });
  });

  test('leaves other slices alone, and replies without retention', async () => {
    await store(SLICE_COUNT, HOUR_MS);
    const mine = sweep(100);
    mine.stored(Infinity);
    mine.stored(HOUR_MS);
    await expect.poll(left).toBe(SLICE_COUNT - 100);
  });

  test('begins again only after a pause', async () => {
    let nowMs = 0;
    const swept = sweep(SLICE_COUNT, () => nowMs);
    swept.stored(HOUR_MS);
    await store(1, HOUR_MS);
    nowMs = 5_000;
    await expect
      .poll(async () => {
        nowMs += 10_000;
        swept.stored(HOUR_MS);
        return left();
      })
      .toBe(0);
  });

  test('keeps the replies to calls for events that are not settled, however old', async () => {
    const keyOf = (seq: number) => `${eventKey({ consumer: 'ledger', entity: one, seq })}.book.1`;
    expect(await append(journal, one, recordOf(1), recordOf(2))).toBeUndefined();
    for (const seq of [1, 2])
      expect(await keep(journal, one, [], answerTo(keyOf(seq), 1))).toBeUndefined();
    await store(1_500, HOUR_MS);
    await journals.database.sql('UPDATE svc.reply SET stored_ms = 1');
    await journals.database.sql(`INSERT INTO svc.consumer VALUES ('ledger', 'beginning', 1)`);
    await journals.database.sql(`INSERT INTO svc.consumer_offset VALUES ('ledger', $1, 1, 1)`, [
      sliceOf('Cart', 'one'),
    ]);
    sweep(SLICE_COUNT).stored(HOUR_MS);
    await expect.poll(left).toBe(1);
    expect(await journal.answer(one, keyOf(1))).toBeUndefined();
    expect(await journal.answer(one, keyOf(2))).toMatchObject({ timeMs: 1 });
  });
});

function snapshot(seq: number, fingerprint: string): Snapshot {
  return { seq, fingerprint, state: `{"seq":${seq},"by":"${fingerprint}"}` };
}

async function found(fingerprint: string): Promise<string | undefined> {
  return (await journal.incarnation(one, 10, fingerprint)).snapshot;
}

/** Keeps a snapshot, and waits until it is stored. The next one is stored at another time. */
async function kept(seq: number, fingerprint: string): Promise<void> {
  journal.keepSnapshot(one, snapshot(seq, fingerprint));
  // Snapshots are stored before the appends that come later.
  await keep(journal, one, [], answerTo('flush', 1));
  await journals.database.sql('UPDATE svc.snapshot SET stored_ms = stored_ms - 1000');
}

describe('snapshots', () => {
  beforeEach(async () => {
    await append(journal, one, recordOf(1), recordOf(2), recordOf(3), recordOf(4));
  });

  test('of two modules stay, those that were stored last', async () => {
    await kept(1, 'a');
    await kept(2, 'b');
    await kept(3, 'a');
    expect([await found('a'), await found('b')]).toEqual([
      snapshot(3, 'a').state,
      snapshot(2, 'b').state,
    ]);
    await kept(4, 'c');
    expect([await found('a'), await found('b'), await found('c')]).toEqual([
      snapshot(3, 'a').state,
      undefined,
      snapshot(4, 'c').state,
    ]);
  });

  test('of an earlier record never replace that of a later one', async () => {
    await kept(3, 'a');
    await kept(2, 'a');
    expect(await found('a')).toBe(snapshot(3, 'a').state);
  });

  test.each([
    ['state', `state = '{}'`],
    ['number', 'seq = 2'],
    ['checksum', 'crc = crc + 1'],
  ])('whose %s was changed are ignored, and all records are read', async (_what, change) => {
    await kept(3, 'a');
    await journals.database.sql(`UPDATE svc.snapshot SET ${change}`);
    expect(await journal.incarnation(one, 10, 'a')).toMatchObject({
      afterSeq: 0,
      snapshot: undefined,
      records: [recordOf(1), recordOf(2), recordOf(3), recordOf(4)],
    });
  });

  test('that wait are bounded, however small they are', async () => {
    const stored: number[] = [];
    const session = {
      query: async (_statement: unknown, [slices]: readonly Parameter[]) => {
        stored.push((slices as readonly number[]).length);
        return [];
      },
    } as unknown as DatabaseSession;
    const queue = new SnapshotQueue();
    for (let n = 0; n < 40_000; n++)
      queue.add({ component: 'Cart', id: `e${n}` }, { seq: 1, fingerprint: 'a', state: '0' });
    await queue.store(session);
    for (let n = 0; n < 10; n++)
      queue.add(
        { component: 'Cart', id: `e${n}` },
        { seq: 1, fingerprint: 'a', state: 'x'.repeat(1024 * 1024) },
      );
    await queue.store(session);
    expect(stored[0]).toBeLessThan(30_000);
    expect(stored[1]).toBe(7);
    expect(queue.isEmpty).toBe(true);
  });
});
