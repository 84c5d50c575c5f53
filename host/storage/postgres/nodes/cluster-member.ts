// ClusterMember is this node among those that use a journal: it looks at nodes and owners whenever they may have changed, takes the
// slices that are for it, and hands over those that are for others. The thread that has opened the journal runs it.
//
// Invariants
// - One look, with what follows from it, is made at a time.
// - The table names this node as the owner of a slice only if the database has done so after this node has joined.
// - A node that does not know the outcome of handing slices over does not own them until it has looked again.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ClusterCounts,
  type ClusterMembership,
  type ClusterNode,
  NOBODY,
  type NodeAddress,
} from '../../cluster-nodes.ts';
import type { DatabaseSession } from '../database-session.ts';
import type { SliceHeads } from '../feed/slice-heads.ts';
import { type ClusterPlan, ownersOf, planOf } from './cluster-plan.ts';
import { type ClusterRows, readCluster } from './cluster-rows.ts';
import { NodeConnection, type NodeConnectionNeeds } from './node-connection.ts';
import { LEASE_MS, type NodeLease, RENEWAL_MS } from './node-lease.ts';
import type { NodeMembership, Renewal, SliceOwners } from './node-membership.ts';
import { SliceMovements } from './slice-movements.ts';
import type { SliceTable } from './slice-table.ts';
import { type SliceUsers, within } from './slice-users.ts';

export interface ClusterMemberNeeds extends NodeConnectionNeeds {
  /** Id of the journal. */
  readonly id: string;
  readonly membership: NodeMembership;
  readonly lease: NodeLease;
  readonly table: SliceTable;
  readonly heads: SliceHeads;
  readonly users: SliceUsers;
}

/** The pause before something is tried again that another transaction has locked, and between two looks, in milliseconds. */
const LOOK_AGAIN_MS = 100;
const LOOK_PAUSE_MS = 20;
/** A look at the end of another node's lease comes so much later, in milliseconds. */
const LEASE_END_MS = 10;
/** Most slices that are handed over at once. */
const BATCH_SLICES = 32;
/** For so long those are waited for who stop before the threads that write slices, in milliseconds. */
const STOP_MS = 5_000;

export class ClusterMember implements ClusterMembership {
  readonly #needs: ClusterMemberNeeds;
  readonly #connection: NodeConnection;
  readonly #nodesListeners: (() => void)[] = [];
  readonly #versionListeners: (() => void)[] = [];
  readonly #ownersListeners: (() => void)[] = [];
  readonly #tableListeners: (() => void)[] = [];
  readonly #workListeners: (() => void)[] = [];
  readonly #stops: ((slices: readonly number[]) => Promise<void>)[] = [];
  readonly #movements = new SliceMovements();
  readonly #left = Promise.withResolvers<void>();
  #nodes: readonly ClusterNode[] = [];
  /** The version of the cluster that was looked at last. */
  #version = -1;
  /** How often operators have changed lanes, as far as is known; undefined until `followWork`. */
  #work: number | undefined;
  #isWanted = false;
  /** Whether a change may still be carried out whose outcome is not known. */
  #isUnsure = false;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = Infinity;
  #address: NodeAddress | undefined;
  #isLeaving = false;
  #isClosed = false;
  /** Whether slices that are for this node belong to nobody yet. */
  #isIncomplete = true;

  constructor(needs: ClusterMemberNeeds) {
    this.#needs = needs;
    this.#connection = new NodeConnection(needs);
  }

  get id(): string {
    return this.#needs.id;
  }

  get self(): number {
    return this.#needs.table.self;
  }

  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  get counts(): ClusterCounts {
    const { lease, table } = this.#needs;
    const leaseLeftMs = this.self === NOBODY ? 0 : lease.leftMs;
    return { leaseLeftMs, slices: table.own().length, ...this.#movements.read() };
  }

  onNodes(listener: () => void): void {
    this.#nodesListeners.push(listener);
  }

  /** Calls a listener after looks that have found another version of the cluster, also if a node has come and gone in between. */
  onVersion(listener: () => void): void {
    this.#versionListeners.push(listener);
  }

  onOwners(listener: () => void): void {
    this.#ownersListeners.push(listener);
  }

  own(): readonly string[] {
    const { table } = this.#needs;
    return table.own().map((slice) => `${slice}:${table.acquisitionOf(slice)}`);
  }

  onTable(listener: () => void): void {
    this.#tableListeners.push(listener);
  }

  /** Notices from now on when operators change lanes. `work`: how often they have done so. */
  followWork(work: number): void {
    this.#work = work;
  }

  onWork(listener: () => void): void {
    this.#workListeners.push(listener);
  }

  beforeRelease(stop: (slices: readonly number[]) => Promise<void>): void {
    this.#stops.push(stop);
  }

  /** Looks until this node owns what is for it and free. Called once this node has joined. Rejects with SvcError. */
  begin(): Promise<void> {
    const beginning = this.#begin();
    this.#looking = beginning.catch(() => undefined);
    return beginning;
  }

  look(): void {
    this.#isWanted = true;
    if (!this.#isClosed) this.#looking ??= this.#lookWhileWanted();
  }

  /** Called after each renewal of this node's lease. */
  renewed({ version, work, othersLeftMs }: Renewal): void {
    if (this.#work !== undefined && work !== this.#work) {
      this.#work = work;
      for (const listener of this.#workListeners) listener();
    }
    if (this.#isWanted || version !== this.#version) this.look();
    if (othersLeftMs !== undefined) this.#lookAtEnd(othersLeftMs);
  }

  async serve(address: NodeAddress): Promise<void> {
    this.#address = address;
    await this.#change((session) => this.#needs.membership.serve(session, address));
    this.#announceOwners();
    this.look();
  }

  /** Names the socket by which tools of this machine reach this node. Rejects with SvcError. */
  async nameControl(path: string): Promise<void> {
    await this.#connection.use((session) => this.#needs.membership.nameControl(session, path));
  }

  async leave(timeoutMs: number): Promise<void> {
    this.#isLeaving = true;
    this.look();
    // Without its lease this node has nothing to hand over.
    const looks = setInterval(() => {
      if (!this.#needs.lease.isValid) this.#left.resolve();
    }, LOOK_AGAIN_MS);
    await within(this.#left.promise, timeoutMs);
    clearInterval(looks);
  }

  /** Gives up what this node still owns, and leaves. A database that cannot be reached sees the lease end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#connection
      .use((session) => this.#needs.membership.leave(session))
      .catch(() => undefined);
    this.#announceOwners();
    await this.#connection.close();
  }

  async #begin(): Promise<void> {
    const endMs = performance.now() + LEASE_MS;
    try {
      await this.#look();
      while (this.#isIncomplete && performance.now() < endMs) {
        await delay(LOOK_AGAIN_MS);
        await this.#look();
      }
    } finally {
      this.#looking = undefined;
    }
    if (this.#isWanted) this.look();
  }

  async #lookWhileWanted(): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        await this.#look();
      } catch {
        // The next renewal tries again.
        this.#isWanted = true;
        break;
      }
      if (this.#isWanted) await delay(LOOK_PAUSE_MS);
    }
    this.#looking = undefined;
  }

  /** Looks at nodes and owners, and does what follows. Rejects with SvcError. */
  async #look(): Promise<void> {
    const { self } = this;
    const rows = await this.#connection.use((session) => readCluster(session, this.#isUnsure));
    this.#isUnsure = false;
    // It has joined again meanwhile, or has lost everything.
    if (this.self !== self) return this.look();
    const { version } = rows;
    const isChanged = version !== this.#version;
    this.#note(rows);
    if (isChanged) for (const listener of this.#versionListeners) listener();
    if (await this.#changesStatus(rows)) return this.look();
    const plan = planOf(rows, self);
    await this.#take(plan);
    await this.#handOver(plan);
    if (rows.pauseMs > 0) this.#lookAfter(rows.pauseMs + LOOK_AGAIN_MS);
  }

  #note(rows: ClusterRows): void {
    const { heads, membership } = this.#needs;
    const { self } = this;
    this.#version = rows.version;
    this.#movements.looked(rows, self);
    heads.advance(rows.heads.entries());
    this.#assign(ownersOf(rows, self));
    for (const [index, { number, status }] of rows.nodes.entries())
      if (number !== self && status !== 'Down') this.#lookAtEnd(rows.leasesLeftMs[index]!);
    if (JSON.stringify(rows.nodes) === JSON.stringify(this.#nodes)) return;
    const present = rows.nodes.filter(({ status }) => status !== 'Down');
    if (present.some(({ number }) => number === self))
      for (const { fingerprint } of present) membership.met(fingerprint);
    this.#nodes = rows.nodes;
    for (const listener of this.#nodesListeners) listener();
  }

  /** Changes the status of this node if the database has another one. Returns whether it was changed. */
  async #changesStatus({ nodes }: ClusterRows): Promise<boolean> {
    const { membership } = this.#needs;
    const status = nodes.find(({ number }) => number === this.self)?.status;
    const address = this.#address;
    if (this.#isLeaving && (status === 'Joining' || status === 'Up'))
      await this.#change((session) => membership.announceLeave(session));
    else if (!this.#isLeaving && status === 'Joining' && address !== undefined)
      await this.#change((session) => membership.serve(session, address));
    else return false;
    this.#announceOwners();
    return true;
  }

  async #take({ taken: wanted, hasDead }: ClusterPlan): Promise<void> {
    const { membership, heads } = this.#needs;
    this.#isIncomplete = wanted.length > 0;
    if (wanted.length === 0 && !hasDead) return;
    const { self } = this;
    const taken = await this.#change((session) => membership.take(session, wanted));
    if (this.self === self) this.#assign((taken ?? []).map(([slice]) => [slice, self]));
    heads.advance(taken ?? []);
    this.#isIncomplete = (taken ?? []).length < wanted.length;
    if (taken === undefined || this.#isIncomplete) this.#lookAfter(LOOK_AGAIN_MS);
    if (taken === undefined) return;
    this.#announceOwners();
    this.#isWanted = true;
  }

  async #handOver({ handedOver }: ClusterPlan): Promise<void> {
    if (this.#isLeaving && handedOver.length === 0) this.#left.resolve();
    // Without the lease, nothing of the slices is answered anyway, and another node may have them.
    if (handedOver.length === 0 || !this.#needs.lease.isValid) return;
    const batch = handedOver.slice(0, BATCH_SLICES);
    const slices = batch.map(([slice]) => slice);
    await within(Promise.allSettled(this.#stops.map((stop) => stop(slices))), STOP_MS);
    const startedMs = performance.now();
    const end = await this.#needs.users.release(slices);
    try {
      const moved = await this.#moved(batch);
      if (moved.length > 0) {
        this.#isWanted = true;
        this.#movements.handedOver(moved.length, performance.now() - startedMs);
      } else this.#lookAfter(LOOK_AGAIN_MS);
    } finally {
      end();
    }
    this.#announceOwners();
  }

  /** Hands slices over that were released. Returns those that belong to other nodes now. */
  async #moved(batch: SliceOwners): Promise<SliceOwners> {
    const { membership } = this.#needs;
    const { self } = this;
    // A thread that has not answered in time may still have entities in memory, and another node may own them any moment.
    this.#assign(batch.map(([slice]) => [slice, NOBODY]));
    const moved = await this.#change((session) => membership.handOver(session, batch));
    if (this.self === self) this.#assign(moved);
    return moved;
  }

  async #change<T>(change: (session: DatabaseSession) => Promise<T>): Promise<T> {
    try {
      return await this.#connection.use(change);
    } catch (error) {
      this.#isUnsure = true;
      throw error;
    }
  }

  #assign(owners: SliceOwners): void {
    const { table } = this.#needs;
    const { version } = table;
    table.assign(owners);
    if (table.version !== version) for (const listener of this.#tableListeners) listener();
  }

  #announceOwners(): void {
    for (const listener of this.#ownersListeners) listener();
  }

  /** Looks when the lease of another node ends, unless that comes after the next renewal. */
  #lookAtEnd(leftMs: number): void {
    if (leftMs <= RENEWAL_MS + LOOK_AGAIN_MS) this.#lookAfter(Math.max(0, leftMs) + LEASE_END_MS);
  }

  #lookAfter(afterMs: number): void {
    const atMs = performance.now() + afterMs;
    if (atMs >= this.#timerMs || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timerMs = atMs;
    this.#timer = setTimeout(() => {
      this.#timerMs = Infinity;
      this.look();
    }, afterMs);
  }
}
