// Consumers in PostgreSQL beyond what every journal does with them: restarts, damage, lost connections, and settlements that fail.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { StoredLane } from '../../../../../host/engine/needs/consumers.ts';
import type { Journal } from '../../../../../host/engine/needs/journal.ts';
import { PostgresConsumerReader } from '../../../../../host/storage/postgres/consumers/consumer-reader.ts';
import { ConsumerSettlements } from '../../../../../host/storage/postgres/consumers/consumer-settlements.ts';
import type { EntityRef } from '../../../../../model/entity.ts';
import { sliceOf } from '../../../../../model/slice.ts';
import { consumerStoreSuite } from '../../../../suites/consumer-store-suite.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { StoredSlices, idsApart } from '../stored-slices.ts';

const LEDGER = { id: 'ledger', start: 'beginning' } as const;
const one: EntityRef = { component: 'Cart', id: 'one' };
const SLICE = sliceOf('Cart', 'one');
const PARKED: StoredLane = {
  entity: one,
  seq: 1,
  attempts: 2,
  round: 1,
  nextMs: undefined,
  reason: 'no',
};
const corrupt = expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as Error;
const unavailable = expect.objectContaining({ code: 'SVC_JOURNAL_UNAVAILABLE' }) as Error;

async function consumersOf(stored: StoredSlices) {
  const writer = new ConsumerSettlements(stored.session(), async () => {});
  const reading = stored.session();
  const reader = new PostgresConsumerReader(reading);
  const close = async () => {
    await writer.close();
    reading.close();
  };
  return { writer, reader, close };
}

for (const version of serverVersions())
  consumerStoreSuite(
    `in PostgreSQL ${version}`,
    async () => {
      const stored = await StoredSlices.open(version);
      const { writer, reader, close } = await consumersOf(stored);
      let isDiscarded = false;
      return {
        journal: stored as unknown as Journal,
        writer,
        reader,
        async discard() {
          if (isDiscarded) return;
          isDiscarded = true;
          await close();
          await stored.discard();
        },
      };
    },
    '😀 / % ä\u0001',
  );

async function opened() {
  const stored = await StoredSlices.open();
  const consumers = await consumersOf(stored);
  onTestFinished(async () => {
    await consumers.close();
    await stored.discard();
  });
  return { stored, ...consumers };
}

/** A journal in which the consumer has parked an entity. */
async function parked() {
  const all = await opened();
  expect(await append(all.stored as unknown as Journal, one, recordOf(1))).toBeUndefined();
  const position = all.stored.positions.end();
  await all.writer.settleConsumer(LEDGER, { position, lanes: [PARKED], rejoined: [] });
  return { ...all, position };
}

test('consumers and lanes are there for another reader and another writer', async () => {
  const { stored, position } = await parked();
  const { writer, reader, close } = await consumersOf(stored);
  expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position });
  expect(await reader.lanes('ledger', 10)).toEqual([PARKED]);
  await writer.settleConsumer(LEDGER, { position, lanes: [], rejoined: [one] });
  expect(await reader.lanes('ledger', 10)).toEqual([]);
  await close();
});

test('only the numbers of slices that have changed are written', async () => {
  const { stored, writer, reader, position } = await parked();
  await stored.database.sql(
    `CREATE TABLE svc.written (slice int);
     CREATE FUNCTION svc.note() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN INSERT INTO svc.written VALUES (new.slice); RETURN new; END';
     ALTER TABLE svc.written OWNER TO svc_test; ALTER FUNCTION svc.note OWNER TO svc_test;
     CREATE TRIGGER note AFTER INSERT OR UPDATE ON svc.consumer_offset FOR EACH ROW EXECUTE FUNCTION svc.note()`,
  );
  onTestFinished(async () => {
    await stored.database.sql('DROP TABLE svc.written; DROP FUNCTION svc.note CASCADE');
  });
  const [id] = idsApart('Cart', 1);
  expect(
    await append(stored as unknown as Journal, { component: 'Cart', id: id! }, recordOf(1)),
  ).toBeUndefined();
  const later = stored.positions.end();
  await writer.settleConsumer(LEDGER, { position: later, lanes: [], rejoined: [] });
  expect(await stored.database.sql('SELECT slice FROM svc.written')).toEqual([
    { slice: sliceOf('Cart', id!) },
  ]);
  expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position: later });
  // A position may go back.
  await writer.settleConsumer(LEDGER, { position, lanes: [], rejoined: [] });
  expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position });
});

describe('damage', () => {
  test.each([
    ["UPDATE svc.consumer SET start = 'now'", 'its row'],
    [
      `UPDATE svc.consumer_offset SET off = 9223372036854775807 WHERE slice = ${SLICE}`,
      'its number in slice',
    ],
    [`UPDATE svc.consumer_offset SET off = off + 1 WHERE slice = ${SLICE}`, 'its number in slice'],
    [`DELETE FROM svc.consumer`, 'its row'],
    [`UPDATE svc.lane SET slice = ${SLICE === 0 ? 1 : 0}`, 'a lane of no entity'],
  ])('by %s is found', async (sql, what) => {
    const { stored, reader } = await parked();
    await stored.database.sql(sql);
    const read = async () => [await reader.consumer('ledger'), await reader.lanes('ledger', 10)];
    await expect(read()).rejects.toEqual(corrupt);
    await expect(read()).rejects.toThrow(what);
  });

  test.each([
    'UPDATE svc.lane SET seq = 2',
    'UPDATE svc.lane SET next_ms = 1',
    "UPDATE svc.lane SET reason = ''",
    'UPDATE svc.lane SET reason = NULL',
    'UPDATE svc.lane SET attempts = -9223372036854775808',
    'UPDATE svc.lane SET round = 0',
  ])('of a lane by %s makes it one whose number is not known', async (sql) => {
    const { stored, reader } = await parked();
    await stored.database.sql(sql);
    const [lane] = await reader.lanes('ledger', 10);
    expect(lane).toMatchObject({ entity: one, seq: 0, nextMs: undefined, isDamaged: true });
    expect(lane!.reason).toContain('damaged');
  });
});

describe('what PostgreSQL cannot store', () => {
  test('is refused in an id, and nothing is stored', async () => {
    const { writer, reader, position } = await parked();
    const odd = { ...PARKED, entity: { component: 'Cart', id: 'a\u0000' } };
    for (const settlement of [
      { position, lanes: [odd], rejoined: [one] },
      { position, lanes: [], rejoined: [odd.entity, one] },
    ])
      // oxlint-disable-next-line no-await-in-loop -- a settlement follows the other
      await expect(writer.settleConsumer(LEDGER, settlement)).rejects.toEqual(unavailable);
    expect(await reader.lanes('ledger', 10)).toEqual([PARKED]);
  });

  test('is replaced in a reason, so that the lane is stored', async () => {
    const { writer, reader, position } = await parked();
    const lane = { ...PARKED, reason: 'a\u0000b\uD800c' };
    await writer.settleConsumer(LEDGER, { position, lanes: [lane], rejoined: [] });
    expect(await reader.lanes('ledger', 10)).toEqual([{ ...lane, reason: 'a\uFFFDb\uFFFDc' }]);
  });
});

describe('a settlement', () => {
  test('that fails in the middle changes nothing, and the next one is stored', async () => {
    const { stored, writer, reader, position } = await parked();
    await stored.database.sql('ALTER TABLE svc.lane ADD CONSTRAINT no_seven CHECK (seq <> 7)');
    onTestFinished(async () => {
      await stored.database.sql('ALTER TABLE svc.lane DROP CONSTRAINT no_seven');
    });
    const refused = {
      position: stored.positions.start,
      lanes: [{ ...PARKED, seq: 7 }],
      rejoined: [],
    };
    await expect(writer.settleConsumer(LEDGER, refused)).rejects.toEqual(unavailable);
    expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position });
    expect(await reader.lanes('ledger', 10)).toEqual([PARKED]);
    await writer.settleConsumer(LEDGER, { position, lanes: [], rejoined: [one] });
    expect(await reader.lanes('ledger', 10)).toEqual([]);
  });

  test('whose connection is ended fails, and the next one connects again', async () => {
    const { stored, writer, reader, position } = await parked();
    const blocker = await stored.blocker();
    await blocker.query('BEGIN; LOCK TABLE svc.lane');
    const failing = writer
      .settleConsumer(LEDGER, { position, lanes: [], rejoined: [one] })
      .catch((error: unknown) => error);
    await stored.waiting(1);
    await stored.database.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(await failing).toEqual(unavailable);
    await blocker.query('ROLLBACK');
    await writer.settleConsumer(LEDGER, { position, lanes: [], rejoined: [one] });
    expect(await reader.lanes('ledger', 10)).toEqual([]);
  });

  test('that is committed after its connection was lost is waited for', async () => {
    const stored = await StoredSlices.open('18');
    onTestFinished(() => stored.discard());
    const session = stored.session();
    const writer = new ConsumerSettlements(session, async () => {});
    const reader = new PostgresConsumerReader(stored.session());
    const position = stored.positions.start;
    await writer.settleConsumer(LEDGER, { position, lanes: [PARKED], rejoined: [] });
    // Nothing is to be waited for.
    await writer.concluded('ledger');
    await stored.database.sql(`CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER held AFTER UPDATE ON svc.lane DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.wait()`);
    const blocker = await stored.blocker();
    await blocker.query('SELECT pg_advisory_lock(1)');
    const late = { ...PARKED, attempts: 3 };
    const failing = writer
      .settleConsumer(LEDGER, { position, lanes: [late], rejoined: [] })
      .catch((error: unknown) => error);
    await stored.waiting(1);
    (await session.session()).abort();
    expect(await failing).toEqual(unavailable);
    const concluded = writer.concluded('ledger');
    await stored.waiting(2);
    expect(await reader.lanes('ledger', 10)).toEqual([PARKED]);
    await blocker.query('SELECT pg_advisory_unlock_all()');
    await concluded;
    expect(await reader.lanes('ledger', 10)).toEqual([late]);
    await writer.close();
  });

  test('is tried again when the database ends it for the sake of another transaction', async () => {
    const { stored, reader, position } = await parked();
    const { name } = stored.database;
    const timeout = (set: string) => stored.database.sql(`ALTER DATABASE ${name} ${set}`);
    onTestFinished(async () => void (await timeout('RESET deadlock_timeout')));
    // The database ends a transaction that finds itself in a deadlock when it has waited for this time: the settlement, and no other.
    await timeout("SET deadlock_timeout = '1h'");
    const other = await stored.blocker();
    await timeout("SET deadlock_timeout = '10ms'");
    const { writer, close } = await consumersOf(stored);
    const held = await stored.blocker();
    await held.query('BEGIN; SELECT * FROM svc.consumer_offset FOR UPDATE');
    await other.query('BEGIN; SELECT * FROM svc.lane FOR UPDATE');
    // The settlement has locked the row of the consumer. The other transaction waits for it, and has the lane that comes next.
    const settling = writer.settleConsumer(LEDGER, { position, lanes: [], rejoined: [one] });
    await stored.waiting(1);
    const locked = other.query('SELECT * FROM svc.consumer FOR UPDATE');
    await stored.waiting(2);
    await held.query('ROLLBACK');
    await locked;
    await other.query('COMMIT');
    await settling;
    expect(await reader.lanes('ledger', 10)).toEqual([]);
    await close();
  });

  test('waits for one whose connection was lost, and that may still be stored', async () => {
    const { stored, writer, reader, position } = await parked();
    // What the lost connection has left: everything is sent but the COMMIT, which is late.
    const late = await stored.blocker();
    await late.query(
      `BEGIN; UPDATE svc.consumer_offset SET off = 0 WHERE slice = ${SLICE}; DELETE FROM svc.lane`,
    );
    const { writer: next, close } = await consumersOf(stored);
    const settled = vi.fn<() => void>();
    const settling = next
      .settleConsumer(LEDGER, { position, lanes: [{ ...PARKED, seq: 9 }], rejoined: [] })
      .then(settled);
    await stored.waiting(1);
    expect(settled).not.toHaveBeenCalled();
    await late.query('COMMIT');
    await settling;
    expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position });
    expect(await reader.lanes('ledger', 10)).toEqual([{ ...PARKED, seq: 9 }]);
    await close();
    await writer.close();
  });

  test('of one consumer does not mix with that of another', async () => {
    const { stored, writer, reader, position } = await parked();
    const ids = Array.from({ length: 20 }, (_, n) => ({ id: `c${n}`, start: 'now' }) as const);
    await Promise.all(
      ids.map((consumer, n) =>
        writer.settleConsumer(consumer, { position, lanes: [{ ...PARKED, seq: n }], rejoined: [] }),
      ),
    );
    for (const [n, consumer] of ids.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- a read follows the other
      expect(await reader.consumer(consumer.id)).toEqual({ ...consumer, position });
      // oxlint-disable-next-line no-await-in-loop -- a read follows the other
      expect(await reader.lanes(consumer.id, 10)).toEqual([{ ...PARKED, seq: n }]);
    }
    expect(stored.positions.end()).toBe(position);
  });
});
