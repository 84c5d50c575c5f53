// NodeKeeper keeps this node a member of those that use a journal: it renews the lease, in the thread that has opened the journal and
// runs no module, until the node leaves or another one has taken its slices.
//
// Invariant: at most one renewal is under way. One that does not come back in time counts for nothing, and its connection is closed.
import type { SvcError } from '@svc/kit/svc-error';
import type { DatabaseSession } from '../database-session.ts';
import { journalFailure } from '../journal-failure.ts';
import { LEASE_MS, type NodeLease, RENEWAL_MS } from './node-lease.ts';
import type { SliceTable } from './slice-table.ts';
import { takenOver, type NodeMembership, type TakenSlices } from './node-membership.ts';

export interface NodeKeeperNeeds {
  /** Makes a connection. Rejects with SvcError. */
  readonly connect: () => Promise<DatabaseSession>;
  readonly membership: NodeMembership;
  readonly lease: NodeLease;
  readonly table: SliceTable;
  /** Name of the database in messages. */
  readonly shown: string;
}

export class NodeKeeper {
  readonly #needs: NodeKeeperNeeds;
  readonly #lost = Promise.withResolvers<SvcError>();
  #session: DatabaseSession | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #isLeaving = false;

  constructor(needs: NodeKeeperNeeds) {
    this.#needs = needs;
  }

  /** Resolves once another node has taken the slices: this one never writes again. */
  get lost(): Promise<SvcError> {
    return this.#lost.promise;
  }

  /** Joins, takes all slices, and renews the lease from then on. Rejects with SVC_DATA_IN_USE, and as connecting does. */
  async join(): Promise<TakenSlices> {
    const { connect, membership, lease, table, shown } = this.#needs;
    try {
      this.#session = await connect();
      const renewed = lease.renewal();
      const { number, taken } = await membership.join(this.#session);
      renewed();
      table.join(number);
      table.assign(taken.map(([slice]) => [slice, number]));
      this.#schedule(RENEWAL_MS);
      return taken;
    } catch (error) {
      this.#session?.abort();
      throw journalFailure(error, shown);
    }
  }

  /** Names the socket by which tools of this machine reach this node. */
  async nameControl(path: string): Promise<void> {
    await this.#use((session) => this.#needs.membership.nameControl(session, path));
  }

  /** Gives up the slices, so that the next node need not wait. A database that cannot be reached sees the lease end. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    this.#needs.lease.end();
    await this.#use((session) => this.#needs.membership.leave(session)).catch(() => undefined);
    await this.#session?.close();
  }

  #schedule(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#renewing = this.#renew();
    }, afterMs);
  }

  async #renew(): Promise<void> {
    const { membership, lease } = this.#needs;
    const startedMs = performance.now();
    const renewed = lease.renewal();
    try {
      const isOwner = await this.#use((session) => membership.renew(session));
      if (!isOwner) {
        lease.end();
        this.#lost.resolve(takenOver(this.#needs.shown));
        return;
      }
      renewed();
    } catch {
      // The next attempt follows. Until one succeeds, the lease runs out.
    }
    if (!this.#isLeaving)
      this.#schedule(Math.max(RENEWAL_MS / 10, RENEWAL_MS - (performance.now() - startedMs)));
  }

  /** Uses the connection, which is made if it was lost, and closed if the answer does not come. Rejects with SvcError. */
  async #use<T>(use: (session: DatabaseSession) => Promise<T>): Promise<T> {
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      this.#session?.abort();
    }, LEASE_MS);
    try {
      this.#session ??= await this.#connect();
      if (isLate) this.#session.abort();
      return await use(this.#session);
    } catch (error) {
      this.#session?.abort();
      this.#session = undefined;
      throw journalFailure(error, this.#needs.shown);
    } finally {
      clearTimeout(late);
    }
  }

  async #connect(): Promise<DatabaseSession> {
    const session = await this.#needs.connect();
    void session.ended.then(() => {
      if (this.#session === session) this.#session = undefined;
    });
    return session;
  }
}
