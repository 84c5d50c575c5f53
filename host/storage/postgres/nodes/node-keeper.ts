// NodeKeeper keeps this node a member of those that use a journal: it joins, and renews the lease, in the thread that has opened the
// journal and runs no module. A node whose lease has ended, or whose clock was set, drops everything, and joins again under another number.
//
// Invariants
// - At most one renewal is under way. One that does not come back in time counts for nothing, and its connection is closed.
// - This node joins again only after its lease has ended in the memory of all its threads, and they own nothing.
// - Nothing else uses the connection, so a renewal waits for no lock but that of this node's row.
import { setTimeout as delay } from 'node:timers/promises';
import type { SvcError } from '@svc/kit/svc-error';
import { NOBODY } from '../../cluster-nodes.ts';
import { ClockCheck } from './clock-check.ts';
import { NodeConnection, type NodeConnectionNeeds } from './node-connection.ts';
import { LEASE_MS, type LeaseClocks, type NodeLease, RENEWAL_MS } from './node-lease.ts';
import { takenOver, type NodeMembership, type Renewal } from './node-membership.ts';
import type { SliceTable } from './slice-table.ts';

export interface NodeKeeperNeeds extends Pick<NodeConnectionNeeds, 'connect' | 'shown'> {
  readonly membership: NodeMembership;
  readonly lease: NodeLease;
  readonly table: SliceTable;
  /** Called after each renewal. */
  readonly onRenewed: (renewal: Renewal) => void;
  /** Called when nodes and owners have to be looked at: this node has joined again, or is connected again, maybe to another server. */
  readonly onReturned: () => void;
  /** The clocks of this machine. Default: the real ones. */
  readonly clocks?: LeaseClocks;
}

/** The pause between attempts to join while something keeps this node out that passes by itself, in milliseconds. */
const JOIN_AGAIN_MS = 200;

export class NodeKeeper {
  readonly #needs: NodeKeeperNeeds;
  readonly #connection: NodeConnection;
  readonly #clock: ClockCheck;
  readonly #lost = Promise.withResolvers<SvcError>();
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #isLeaving = false;
  /** The obstacle that has kept this node out at its last attempt to join, and that passes by itself. */
  #obstacle: SvcError | undefined;
  /** Why the last attempt to join again has failed. */
  #failure: SvcError | undefined;

  constructor(needs: NodeKeeperNeeds) {
    this.#needs = needs;
    this.#clock = new ClockCheck(needs.shown, needs.clocks);
    this.#connection = new NodeConnection({
      ...needs,
      prepare: () => {
        if (needs.table.self !== NOBODY) needs.onReturned();
        return Promise.resolve();
      },
    });
  }

  /** Resolves once another node has the journal alone: this one never writes again. */
  get lost(): Promise<SvcError> {
    return this.#lost.promise;
  }

  /** Why this node owns nothing, as a sentence. It passes by itself. */
  get problem(): string | undefined {
    const { lease, table, shown } = this.#needs;
    if (table.self === NOBODY)
      return (
        `This instance is no member of the cluster that uses ${shown}, because its lease has ended or its clock was set. It joins again` +
        (this.#failure === undefined
          ? '.'
          : `, and the last attempt has failed: ${this.#failure.message}`)
      );
    return lease.isValid
      ? undefined
      : `The lease of this instance has ended, because ${shown} cannot be reached.`;
  }

  /** Joins, and renews the lease from then on. Rejects with SVC_CLOCK_DIFFERS and SVC_DATA_IN_USE, as the comparison of modules and as connecting does. */
  async join(): Promise<void> {
    const endMs = performance.now() + 2 * LEASE_MS;
    while (!(await this.#join())) {
      if (performance.now() > endMs) throw this.#obstacle!;
      await delay(JOIN_AGAIN_MS);
    }
    this.#schedule(RENEWAL_MS);
  }

  /** Stops renewing, ends the lease, and closes the connection. */
  async close(): Promise<void> {
    this.#isLeaving = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    this.#needs.lease.end();
    await this.#connection.close();
  }

  async #join(): Promise<boolean> {
    const { membership, lease, table } = this.#needs;
    const renewed = lease.renewal();
    const number = await this.#connection.use(async (session) => {
      this.#obstacle = await this.#clock.compare(session);
      return this.#obstacle === undefined ? await membership.join(session) : undefined;
    });
    if (number === undefined) {
      this.#obstacle ??= membership.obstacle;
      return false;
    }
    table.join(number);
    renewed();
    return true;
  }

  #schedule(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#renewing = this.#keep();
    }, afterMs);
  }

  async #keep(): Promise<void> {
    const startedMs = performance.now();
    const { table } = this.#needs;
    if (table.self !== NOBODY) await this.#renew();
    if (table.self === NOBODY) await this.#joinAgain();
    if (this.#isLeaving) return;
    this.#schedule(Math.max(RENEWAL_MS / 10, RENEWAL_MS - (performance.now() - startedMs)));
  }

  async #renew(): Promise<void> {
    const { membership, lease, table, onRenewed } = this.#needs;
    if (this.#clock.wasSet) {
      lease.end();
      table.join(NOBODY);
      return;
    }
    const renewed = lease.renewal();
    try {
      const renewal = await this.#connection.use((session) => membership.renew(session));
      if (renewal === undefined) {
        lease.end();
        table.join(NOBODY);
      } else {
        renewed();
        onRenewed(renewal);
      }
    } catch {
      // The next attempt follows. Until one succeeds, the lease runs out.
    }
  }

  async #joinAgain(): Promise<void> {
    if (this.#isLeaving) return;
    try {
      const hasJoined = await this.#join();
      this.#failure = hasJoined ? undefined : this.#obstacle;
      if (!hasJoined) return;
      this.#needs.onReturned();
    } catch (error) {
      this.#failure = error as SvcError;
      const { membership, shown } = this.#needs;
      if (membership.isExclusive && this.#failure.code === 'SVC_DATA_IN_USE')
        this.#lost.resolve(takenOver(shown));
    }
  }
}
