// How a node renews its lease in the database, loses it, joins again, and leaves.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NOBODY } from '../../../../../host/storage/cluster-nodes.ts';
import { connectDatabase } from '../../../../../host/storage/postgres/connect-database.ts';
import { NodeKeeper } from '../../../../../host/storage/postgres/nodes/node-keeper.ts';
import { machineMs } from '../../../../../host/system.ts';
import { NodeLease } from '../../../../../host/storage/postgres/nodes/node-lease.ts';
import { NodeMembership } from '../../../../../host/storage/postgres/nodes/node-membership.ts';
import { SliceTable } from '../../../../../host/storage/postgres/nodes/slice-table.ts';
import { HeldCommits } from '../../../../support/postgres/held-commits.ts';
import { JournalDatabase, testNode } from '../../../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../../support/tcp-fault-proxy.ts';

const SOON = { timeout: 15_000 };

describe.each(['15', '18'] as const)('PostgreSQL %s: a node', (version) => {
  let journals: JournalDatabase;
  let held: HeldCommits;
  let proxy: TcpFaultProxy;
  let lease: NodeLease;
  let table: SliceTable;
  let membership: NodeMembership;
  let keeper: NodeKeeper;
  /** By how much the wall clock of the machine is set, in milliseconds. */
  let setMs: number;
  /** The number of times that the node has joined again, or was connected again. */
  let returns: number;

  beforeAll(async () => {
    const server = await PostgresServer.shared(version);
    journals = await JournalDatabase.make(server);
    held = await HeldCommits.of(server, journals);
    proxy = await TcpFaultProxy.to(server.port);
  });
  afterAll(async () => {
    await proxy.close();
    await held.close();
    await journals.database.drop();
  });
  beforeEach(async () => {
    await journals.empty();
    await journals.expire('node');
    keep({ isExclusive: true });
  });
  afterEach(async () => {
    proxy.letAnswersThrough();
    proxy.accept();
    await keeper.close();
  });

  function keep({ isExclusive }: { readonly isExclusive: boolean }): void {
    setMs = 0;
    const clocks = { machineMs, nowMs: () => Date.now() + setMs };
    lease = new NodeLease(undefined, clocks);
    table = new SliceTable();
    membership = new NodeMembership({ ...testNode('kept'), isExclusive }, 'test');
    returns = 0;
    keeper = new NodeKeeper({
      connect: () => connectDatabase(journals.through(proxy)),
      membership,
      lease,
      table,
      shown: 'test',
      clocks,
      onRenewed: () => {},
      onReturned: () => returns++,
    });
  }

  interface NodeRow {
    readonly number: number;
    readonly renewals: number;
    /** When the lease ends, in milliseconds since 1970. */
    readonly endMs: number;
  }

  /** The row of the node in the database; undefined: it has none. */
  async function row(): Promise<NodeRow | undefined> {
    const rows = await journals.database.sql(
      `SELECT number::int, renewals::int, (extract(epoch FROM lease_until) * 1000)::float8 AS "endMs"
        FROM svc.node WHERE uid = 'kept'`,
    );
    return rows[0] as NodeRow | undefined;
  }

  /** Lets no renewal through, and the lease end, in the database too. */
  async function isolate(): Promise<void> {
    proxy.refuse();
    await journals.expire('kept');
    lease.end();
  }

  test('has a lease once it has joined, and renews it from then on', async () => {
    await keeper.join();
    expect(lease.isValid).toBe(true);
    const first = (await row())!;
    expect(table.self).toBe(first.number);
    await expect.poll(async () => (await row())!.endMs > first.endMs).toBe(true);
    expect((await row())!.number).toBe(first.number);
  });

  test.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ])('whose clock is set an hour %s owns nothing until it is right', async (_way, byMs) => {
    await keeper.join();
    const before = table.self;
    setMs = byMs;
    await expect.poll(() => keeper.problem, SOON).toContain('Synchronize both clocks (NTP)');
    expect(table.self).toBe(NOBODY);
    expect(lease.isValid).toBe(false);
    setMs = 0;
    await expect.poll(() => table.self, SOON).toBeGreaterThan(before);
    expect(lease.isValid).toBe(true);
  });

  test('that renews too late owns nothing, and joins again under another number', async () => {
    await keeper.join();
    const before = table.self;
    table.assign([[7, before]]);
    const acquisition = table.acquisitionOf(7);
    await isolate();
    proxy.accept();
    await expect.poll(() => table.self).toBeGreaterThan(before);
    await expect.poll(() => returns).toBe(2);
    expect(lease.isValid).toBe(true);
    expect(table.own()).toEqual([]);
    table.assign([[7, table.self]]);
    expect(table.acquisitionOf(7)).not.toBe(acquisition);
    // Its former row is gone, so nobody waits for that lease.
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(1);
  });

  test('is no member while another one keeps it out, says why, and joins once that one has left', async () => {
    keep({ isExclusive: false });
    await keeper.join();
    expect(keeper.problem).toBeUndefined();
    await isolate();
    expect(keeper.problem).toContain('cannot be reached');
    await journals.join('other');
    proxy.accept();
    await expect.poll(() => keeper.problem).toContain('is used by another runtime');
    expect(table.self).toBe(NOBODY);
    expect(lease.isValid).toBe(false);
    await journals.leave('other');
    await expect.poll(() => keeper.problem).toBeUndefined();
    expect(table.self).not.toBe(NOBODY);
  });

  test('that shares with nobody ends once another one has taken over', async () => {
    await keeper.join();
    await isolate();
    await journals.join('other');
    proxy.accept();
    // Until the other one renews its lease, it may have been lost, too.
    await expect.poll(() => keeper.problem).toContain('is used by another runtime');
    await journals.number(`UPDATE svc.node SET renewals = renewals + 1 RETURNING 1`);
    const lost = await keeper.lost;
    expect(lost.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    expect(lost.message).toContain('has taken over');
    expect(lease.isValid).toBe(false);
  });

  test('joins again, or is taken over, but not both, when they meet', async () => {
    await keeper.join();
    await isolate();
    const blocker = await journals.session();
    await blocker.query({ text: 'BEGIN' });
    await blocker.query({ text: 'SELECT FROM svc.cluster FOR UPDATE' });
    proxy.accept();
    await held.blocked();
    const joining = journals.join('other').then(
      () => true,
      () => false,
    );
    await held.blocked(2);
    await blocker.query({ text: 'COMMIT' });
    await blocker.close();
    const isTaken = await joining;
    let isLost = false;
    void keeper.lost.then(() => (isLost = true));
    await expect.poll(() => isLost || lease.isValid).toBe(true);
    expect(isLost).toBe(isTaken);
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(1);
  });

  test('goes on after a renewal whose answer was lost, and does not count it here', async () => {
    await keeper.join();
    const before = table.self;
    const { renewals } = (await row())!;
    proxy.holdAnswers();
    await expect.poll(async () => (await row())!.renewals).toBeGreaterThan(renewals);
    const { leftMs } = lease;
    proxy.reset();
    expect(lease.leftMs).toBeLessThanOrEqual(leftMs);
    proxy.letAnswersThrough();
    const unanswered = (await row())!.renewals;
    await expect.poll(async () => (await row())!.renewals).toBeGreaterThan(unanswered);
    expect(table.self).toBe(before);
    expect(returns).toBeGreaterThan(0);
  });

  test('of whose memory there is a copy is shut out when the copy has renewed the lease', async () => {
    keep({ isExclusive: false });
    await keeper.join();
    const before = table.self;
    // The copy has renewed with what both knew.
    await journals.database.sql(`UPDATE svc.node SET renewals = renewals + 1 WHERE uid = 'kept'`);
    await expect.poll(() => returns).toBe(1);
    expect(table.self).not.toBe(before);
    // The row of the copy is left alone.
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(2);
  });

  test('leaves after a renewal that is being made, and nobody waits for its lease', async () => {
    await keeper.join();
    const blocker = await journals.session();
    await blocker.query({ text: 'BEGIN' });
    await blocker.query({ text: `SELECT FROM svc.node WHERE uid = 'kept' FOR UPDATE` });
    await held.blocked();
    const closing = keeper.close();
    await blocker.query({ text: 'COMMIT' });
    await blocker.close();
    await closing;
    expect(lease.isValid).toBe(false);
    const session = await journals.session();
    await membership.leave(session);
    await session.close();
    expect(await row()).toBeUndefined();
    await journals.join('other');
  });

  test('whose attempt to join is not answered does not keep itself out', async () => {
    await held.hold();
    await journals.database.sql(
      `CREATE CONSTRAINT TRIGGER held_node AFTER INSERT ON svc.node DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.wait_for_release()`,
    );
    try {
      const joining = keeper.join();
      await held.waiting();
      proxy.reset();
      await expect(joining).rejects.toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
      await held.release();
      await expect.poll(row).toBeDefined();
      await keeper.join();
      expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(1);
    } finally {
      await held.release();
      await journals.database.sql('DROP TRIGGER held_node ON svc.node');
    }
  });

  test('that shares with nobody waits for lost ones, whichever lease ends last, and is refused once one of them has renewed', async () => {
    await journals.database.sql(
      `INSERT INTO svc.node (uid, status, lease_until, is_exclusive, machine, version, fingerprint)
        SELECT 'lost-' || i, 'up', clock_timestamp() + interval '1 minute' * i, false, 'lost', '1', 'test'
        FROM generate_series(1, 2) i`,
    );
    const session = await journals.session();
    expect(await membership.join(session)).toBeUndefined();
    // A server was promoted, and all leases begin again.
    const last = `UPDATE svc.node SET lease_until = clock_timestamp() + interval '3 minutes'`;
    await journals.database.sql(`${last} WHERE uid = 'lost-1'`);
    expect(await membership.join(session)).toBeUndefined();
    expect(membership.obstacle?.code).toBe('SVC_DATA_IN_USE');
    await journals.database.sql(`${last}, renewals = renewals + 1 WHERE uid = 'lost-2'`);
    await expect(membership.join(session)).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
    await session.close();
  });

  test('joins although a transaction of a dead node has not ended, and an exclusive one says so', async () => {
    const settling = await journals.session();
    await settling.query({ text: 'BEGIN' });
    await settling.query({ text: 'SELECT FROM svc.node FOR KEY SHARE' });
    keep({ isExclusive: false });
    const session = await journals.session();
    expect(await membership.join(session)).toBeUndefined();
    await settling.query({ text: 'COMMIT' });
    await settling.close();
    expect(await membership.join(session)).toBeGreaterThan(0);
    await session.close();
  });
});
