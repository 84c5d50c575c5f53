// How a node renews its lease in the database, loses it, joins again, and leaves.
import { describe, test, type TestContext } from 'vitest';
import { NOBODY } from '../../../../../host/storage/cluster-nodes.ts';
import { connectDatabase } from '../../../../../host/storage/postgres/connect-database.ts';
import { NodeKeeper } from '../../../../../host/storage/postgres/nodes/node-keeper.ts';
import { machineMs } from '../../../../../host/system.ts';
import { NodeLease } from '../../../../../host/storage/postgres/nodes/node-lease.ts';
import { NodeMembership } from '../../../../../host/storage/postgres/nodes/node-membership.ts';
import { SliceTable } from '../../../../../host/storage/postgres/nodes/slice-table.ts';
import { HeldCommits } from '../../../../support/postgres/held-commits.ts';
import { JournalDatabase, testNode } from '../../../../support/postgres/journal-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../../support/tcp-fault-proxy.ts';

interface NodeRow {
  readonly number: number;
  readonly renewals: number;
  /** When the lease ends, in milliseconds since 1970. */
  readonly endMs: number;
}

/** A node that reaches its database through a proxy, for one test. Another one has left it its slices. */
class KeptNode {
  readonly journals: JournalDatabase;
  readonly held: HeldCommits;
  readonly proxy: TcpFaultProxy;
  /** By how much the wall clock of the machine is set, in milliseconds. */
  setMs = 0;
  readonly #clocks = { machineMs, nowMs: () => Date.now() + this.setMs };
  readonly lease = new NodeLease(undefined, this.#clocks);
  readonly table = new SliceTable();
  readonly membership: NodeMembership;
  readonly keeper: NodeKeeper;
  /** The number of times that the node has joined again, or was connected again. */
  returns = 0;

  private constructor(
    journals: JournalDatabase,
    held: HeldCommits,
    proxy: TcpFaultProxy,
    isExclusive: boolean,
  ) {
    this.journals = journals;
    this.held = held;
    this.proxy = proxy;
    this.membership = new NodeMembership({ ...testNode('kept'), isExclusive }, 'test');
    this.keeper = new NodeKeeper({
      connect: () => connectDatabase(journals.through(proxy)),
      membership: this.membership,
      lease: this.lease,
      table: this.table,
      shown: 'test',
      clocks: this.#clocks,
      onRenewed: () => {},
      onReturned: () => this.returns++,
    });
  }

  static async of(server: PostgresServer, isExclusive: boolean): Promise<KeptNode> {
    const journals = await JournalDatabase.make(server);
    const held = await HeldCommits.of(server, journals);
    await journals.expire('node');
    return new KeptNode(journals, held, await TcpFaultProxy.to(server.port), isExclusive);
  }

  /** The row of the node in the database; undefined: it has none. */
  async row(): Promise<NodeRow | undefined> {
    const rows = await this.journals.database.sql(
      `SELECT number::int, renewals::int, (extract(epoch FROM lease_until) * 1000)::float8 AS "endMs"
        FROM svc.node WHERE uid = 'kept'`,
    );
    return rows[0] as NodeRow | undefined;
  }

  /** Lets no renewal through, and the lease end, in the database too. */
  async isolate(): Promise<void> {
    this.proxy.refuse();
    await this.journals.expire('kept');
    this.lease.end();
  }

  /** Lets another node join, whose lease is longer than a test takes. */
  async joinOther(): Promise<void> {
    await this.journals.join('other');
    await this.journals.database.sql(
      `UPDATE svc.node SET lease_until = lease_until + interval '10 minutes' WHERE uid = 'other'`,
    );
  }

  async close(): Promise<void> {
    await this.held.release();
    this.proxy.letAnswersThrough();
    this.proxy.accept();
    await this.keeper.close();
    await this.proxy.close();
    await this.held.close();
    await this.journals.database.end();
  }
}

describe.concurrent.each(serverVersions())('PostgreSQL %s: a node', (version) => {
  /** Makes a node for a test: most tests wait for renewals, and run at the same time. */
  async function keep({ onTestFinished }: TestContext, isExclusive = true): Promise<KeptNode> {
    const node = await KeptNode.of(await PostgresServer.shared(version), isExclusive);
    onTestFinished(() => node.close());
    return node;
  }

  test('has a lease once it has joined, and renews it from then on', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { lease, table, keeper } = node;
    await keeper.join();
    expect(lease.isValid).toBe(true);
    const first = (await node.row())!;
    expect(table.self).toBe(first.number);
    await expect.poll(async () => (await node.row())!.endMs > first.endMs).toBe(true);
    expect((await node.row())!.number).toBe(first.number);
  });

  test.for([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ] as const)(
    'whose clock is set an hour %s owns nothing until it is right',
    async ([, byMs], context) => {
      const { expect } = context;
      const node = await keep(context);
      const { lease, table, keeper } = node;
      await keeper.join();
      const before = table.self;
      node.setMs = byMs;
      await expect.poll(() => keeper.problem).toContain('Synchronize both clocks (NTP)');
      expect(table.self).toBe(NOBODY);
      expect(lease.isValid).toBe(false);
      node.setMs = 0;
      await expect.poll(() => table.self).toBeGreaterThan(before);
      expect(lease.isValid).toBe(true);
    },
  );

  test('that renews too late owns nothing, and joins again under another number', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { journals, proxy, lease, table, keeper } = node;
    await keeper.join();
    const before = table.self;
    table.assign([[7, before]]);
    const acquisition = table.acquisitionOf(7);
    await node.isolate();
    proxy.accept();
    await expect.poll(() => table.self).toBeGreaterThan(before);
    await expect.poll(() => node.returns).toBe(2);
    expect(lease.isValid).toBe(true);
    expect(table.own()).toEqual([]);
    table.assign([[7, table.self]]);
    expect(table.acquisitionOf(7)).not.toBe(acquisition);
    // Its former row is gone, so nobody waits for that lease.
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(1);
  });

  test('is no member while another one keeps it out, says why, and joins once that one has left', async (context) => {
    const { expect } = context;
    const node = await keep(context, false);
    const { journals, proxy, lease, table, keeper } = node;
    await keeper.join();
    expect(keeper.problem).toBeUndefined();
    await node.isolate();
    expect(keeper.problem).toContain('cannot be reached');
    await node.joinOther();
    proxy.accept();
    await expect.poll(() => keeper.problem).toContain('is used by another runtime');
    expect(table.self).toBe(NOBODY);
    expect(lease.isValid).toBe(false);
    await journals.leave('other');
    await expect.poll(() => keeper.problem).toBeUndefined();
    expect(table.self).not.toBe(NOBODY);
  });

  test('that shares with nobody ends once another one has taken over', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { journals, proxy, lease, keeper } = node;
    await keeper.join();
    await node.isolate();
    await node.joinOther();
    proxy.accept();
    // Until the other one renews its lease, it may have been lost, too.
    await expect.poll(() => keeper.problem).toContain('is used by another runtime');
    await journals.number(`UPDATE svc.node SET renewals = renewals + 1 RETURNING 1`);
    const lost = await keeper.lost;
    expect(lost.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    expect(lost.message).toContain('has taken over');
    expect(lease.isValid).toBe(false);
  });

  test('joins again, or is taken over, but not both, when they meet', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { journals, held, proxy, lease, keeper } = node;
    await keeper.join();
    await node.isolate();
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

  test('goes on after a renewal whose answer was lost, and does not count it here', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { proxy, lease, table, keeper } = node;
    await keeper.join();
    const before = table.self;
    const { renewals } = (await node.row())!;
    proxy.holdAnswers();
    await expect.poll(async () => (await node.row())!.renewals).toBeGreaterThan(renewals);
    const { leftMs } = lease;
    proxy.reset();
    expect(lease.leftMs).toBeLessThanOrEqual(leftMs);
    proxy.letAnswersThrough();
    const unanswered = (await node.row())!.renewals;
    await expect.poll(async () => (await node.row())!.renewals).toBeGreaterThan(unanswered);
    expect(table.self).toBe(before);
    expect(node.returns).toBeGreaterThan(0);
  });

  test('of whose memory there is a copy is shut out when the copy has renewed the lease', async (context) => {
    const { expect } = context;
    const node = await keep(context, false);
    const { journals, table, keeper } = node;
    await keeper.join();
    const before = table.self;
    // The copy has renewed with what both knew.
    await journals.database.sql(`UPDATE svc.node SET renewals = renewals + 1 WHERE uid = 'kept'`);
    await expect.poll(() => node.returns).toBe(1);
    expect(table.self).not.toBe(before);
    // The row of the copy is left alone.
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(2);
  });

  test('leaves after a renewal that is being made, and nobody waits for its lease', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { journals, held, lease, membership, keeper } = node;
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
    expect(await node.row()).toBeUndefined();
    await journals.join('other');
  });

  test('whose attempt to join is not answered does not keep itself out', async (context) => {
    const { expect } = context;
    const node = await keep(context);
    const { journals, held, proxy, keeper } = node;
    await held.hold();
    await journals.database.sql(
      `CREATE CONSTRAINT TRIGGER held_node AFTER INSERT ON svc.node DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.wait_for_release()`,
    );
    const joining = keeper.join();
    await held.waiting();
    proxy.reset();
    await expect(joining).rejects.toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    await held.release();
    await expect.poll(() => node.row()).toBeDefined();
    await keeper.join();
    expect(await journals.number('SELECT count(*) FROM svc.node')).toBe(1);
  });

  test('that shares with nobody waits for lost ones, whichever lease ends last, and is refused once one of them has renewed', async (context) => {
    const { expect } = context;
    const { journals, membership } = await keep(context);
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

  test('joins although a transaction of a dead node has not ended, and an exclusive one says so', async (context) => {
    const { expect } = context;
    const { journals, membership } = await keep(context, false);
    const settling = await journals.session();
    await settling.query({ text: 'BEGIN' });
    await settling.query({ text: 'SELECT FROM svc.node FOR KEY SHARE' });
    const session = await journals.session();
    expect(await membership.join(session)).toBeUndefined();
    await settling.query({ text: 'COMMIT' });
    await settling.close();
    expect(await membership.join(session)).toBeGreaterThan(0);
    await session.close();
  });
});
