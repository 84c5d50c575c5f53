// The lease of a node in memory, by fake clocks.
import { beforeEach, describe, expect, test } from 'vitest';
import {
  CLOCK_DRIFT_MS,
  LEASE_MS,
  NodeLease,
  postgresLeases,
} from '../../../../../host/storage/postgres/nodes/node-lease.ts';
import { SliceTable } from '../../../../../host/storage/postgres/nodes/slice-table.ts';
import { sliceOf } from '../../../../../model/slice.ts';

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
