// The lease of a node, by fake clocks, and how it is renewed, lost and given up in the database.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../../../../host/storage/postgres/connect-database.ts';
import { NodeKeeper } from '../../../../../host/storage/postgres/nodes/node-keeper.ts';
import {
  CLOCK_DRIFT_MS,
  LEASE_MS,
  NodeLease,
  postgresLeases,
} from '../../../../../host/storage/postgres/nodes/node-lease.ts';
import { SliceTable } from '../../../../../host/storage/postgres/nodes/slice-table.ts';
import { NodeMembership } from '../../../../../host/storage/postgres/nodes/node-membership.ts';
import { sliceOf } from '../../../../../model/slice.ts';
import { HeldCommits } from '../../../../support/postgres/held-commits.ts';
import { JournalDatabase, testNode } from '../../../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../../support/tcp-fault-proxy.ts';

const HOUR_MS = 3_600_000;

describe('the lease in memory', () => {
  let machine: number;
  let wall: number;
  let lease: NodeLease;

  beforeEach(() => {
    machine = 1_000;
    wall = 1_700_000_000_000;
    lease = new NodeLease(undefined, { machineMs: () => machine, nowMs: () => wall });
  });

  function pass(ms: number): void {
    machine += ms;
    wall += ms;
  }

  test('has ended before it is renewed for the first time', () => {
    expect(lease.isValid).toBe(false);
    expect(lease.leftMs).toBe(0);
  });

  test('is counted from before the renewal was sent, and only once that is confirmed', () => {
    const renewed = lease.renewal();
    pass(1_000);
    expect(lease.isValid).toBe(false);
    renewed();
    expect(lease.leftMs).toBe(LEASE_MS - 1_000);
    pass(LEASE_MS - 1_001);
    expect(lease.isValid).toBe(true);
    pass(1);
    expect(lease.isValid).toBe(false);
  });

  test('is not extended by a renewal that is confirmed after it would have ended', () => {
    const renewed = lease.renewal();
    pass(LEASE_MS);
    renewed();
    expect(lease.isValid).toBe(false);
  });

  test('ends while the machine is suspended, which stops its monotonic clock', () => {
    lease.renewal()();
    wall += LEASE_MS;
    expect(lease.isValid).toBe(false);
  });

  test.each([
    ['an hour ahead: it ends, until it is renewed', HOUR_MS, false],
    ['an hour back: it ends in time nevertheless', -HOUR_MS, true],
  ])('with a wall clock that is set %s', (_what, byMs, isValid) => {
    lease.renewal()();
    wall += byMs;
    expect(lease.isValid).toBe(isValid);
    expect(lease.leftMs).toBeLessThanOrEqual(LEASE_MS);
    pass(LEASE_MS);
    expect(lease.isValid).toBe(false);
    lease.renewal()();
    expect(lease.leftMs).toBe(LEASE_MS);
  });

  test('is the same one in all threads, and ends for all', () => {
    const other = new NodeLease(lease.shared, { machineMs: () => machine, nowMs: () => wall });
    lease.renewal()();
    expect(other.leftMs).toBe(LEASE_MS);
    lease.end();
    expect(other.isValid).toBe(false);
  });

  test('lasts longer in the database than here, because clocks do not run equally fast', () => {
    expect(CLOCK_DRIFT_MS).toBeGreaterThan((LEASE_MS * 1_000) / 1_000_000);
  });

  test('is none for the engine once it has ended, and for slices that the node does not own', () => {
    const real = new NodeLease();
    const owners = new SliceTable();
    const leases = postgresLeases({ lease: real.shared, owners: owners.shared });
    const entity = { component: 'Cart', id: 'one' };
    const slice = sliceOf('Cart', 'one');
    real.renewal()();
    expect(leases.epochOf(entity)).toBeUndefined();
    owners.join(7);
    owners.assign([[slice, 7]]);
    expect(leases.epochOf(entity)).toBe(1);
    owners.assign([[slice, 8]]);
    expect(leases.epochOf(entity)).toBeUndefined();
    owners.assign([[slice, 7]]);
    expect(leases.epochOf(entity)).toBe(2);
    real.end();
    expect(leases.epochOf(entity)).toBeUndefined();
  });
});

describe('the lease in the database', () => {
  let journals: JournalDatabase;
  let held: HeldCommits;
  let proxy: TcpFaultProxy;
  let lease: NodeLease;
  let table: SliceTable;
  let keeper: NodeKeeper;

  beforeAll(async () => {
    const server = await PostgresServer.shared('18');
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
    lease = new NodeLease();
    table = new SliceTable();
    keeper = new NodeKeeper({
      connect: () => connectDatabase(journals.through(proxy)),
      membership: new NodeMembership(testNode('kept'), 'test'),
      lease,
      table,
      shown: 'test',
    });
  });
  afterEach(async () => {
    proxy.letAnswersThrough();
    proxy.accept();
    await keeper.leave();
  });

  /** The names of the owners of slices. */
  const owners = () =>
    journals.database.sql(
      'SELECT DISTINCT n.uid AS owner FROM svc.slice s LEFT JOIN svc.node n ON n.number = s.owner',
    );
  /** When the lease ends, in milliseconds; undefined: the node is none any more. */
  const endMs = async () => {
    const rows = await journals.database.sql(
      `SELECT (extract(epoch FROM lease_until) * 1000)::float8 AS ms FROM svc.node WHERE uid = 'kept'`,
    );
    return rows[0]?.['ms'] as number | undefined;
  };
  /** Lets no renewal through, and the lease end in the database. */
  async function isolate(): Promise<void> {
    proxy.refuse();
    await journals.expire('kept');
    lease.end();
  }

  test('is taken with all slices, and renewed from then on', async () => {
    await keeper.join();
    expect(await owners()).toEqual([{ owner: 'kept' }]);
    expect(lease.isValid).toBe(true);
    const first = (await endMs())!;
    await expect.poll(async () => (await endMs())! > first).toBe(true);
  });

  test('is renewed late while nobody else has taken the slices', async () => {
    await keeper.join();
    await isolate();
    proxy.accept();
    await expect.poll(() => lease.isValid).toBe(true);
    expect(await owners()).toEqual([{ owner: 'kept' }]);
    await expect(journals.join('other')).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
  });

  test('is never renewed again once somebody else has taken the slices, even if that one has left', async () => {
    await keeper.join();
    await isolate();
    await journals.join('other');
    await journals.leave('other');
    proxy.accept();
    expect(await keeper.lost).toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    expect(lease.isValid).toBe(false);
    expect(await owners()).toEqual([{ owner: null }]);
  });

  test('is renewed late, or taken, but not both, when they meet', async () => {
    await keeper.join();
    await isolate();
    const blocker = await journals.session();
    await blocker.query({ text: 'BEGIN' });
    await blocker.query({ text: 'SELECT FROM svc.cluster FOR UPDATE' });
    proxy.accept();
    await held.blocked();
    const joining = journals.join('other').then(
      () => 'taken',
      () => 'renewed',
    );
    await held.blocked(2);
    await blocker.query({ text: 'COMMIT' });
    await blocker.close();
    const result = await joining;
    let isLost = false;
    void keeper.lost.then(() => (isLost = true));
    await expect.poll(() => isLost || lease.isValid).toBe(true);
    expect(isLost ? 'taken' : 'renewed').toBe(result);
    expect(await owners()).toEqual([{ owner: result === 'taken' ? 'other' : 'kept' }]);
  });

  test('is not extended here by a renewal whose answer is lost', async () => {
    const membership = new NodeMembership(testNode('kept'), 'test');
    const session = await connectDatabase(journals.through(proxy));
    const joined = lease.renewal();
    await membership.join(session);
    joined();
    const before = (await endMs())!;
    lease.end();
    proxy.holdAnswers();
    const renewing = membership.renew(session);
    await expect.poll(async () => (await endMs())! > before).toBe(true);
    proxy.reset();
    await expect(renewing).rejects.toMatchObject({ outcome: 'unknown' });
    expect(lease.isValid).toBe(false);
  });

  test('is given up with all slices after a renewal that is being made', async () => {
    await keeper.join();
    const blocker = await journals.session();
    await blocker.query({ text: 'BEGIN' });
    await blocker.query({ text: `SELECT FROM svc.node WHERE uid = 'kept' FOR UPDATE` });
    await held.blocked();
    const leaving = keeper.leave();
    await blocker.query({ text: 'COMMIT' });
    await blocker.close();
    await leaving;
    expect(lease.isValid).toBe(false);
    expect(await owners()).toEqual([{ owner: null }]);
    expect(await endMs()).toBeUndefined();
    await journals.join('other');
  });
});
