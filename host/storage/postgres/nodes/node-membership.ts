// NodeMembership is this node in the database: its row, and the statements by which it takes slices and hands them over.
//
// Invariants
// - A slice is only taken from a node whose lease has ended, by the clock of the database: its row is removed before, so that it never
//   renews its lease again. A row that another transaction has locked is left alone until later.
// - A lease that has ended is not renewed: the node joins again under another number.
// - A renewal names the renewals before it, so that of a node and a copy of its memory only one goes on.
// - An epoch that was given is never given again.
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '@svc/kit/printable';
import { NOBODY, type NodeAddress } from '../../cluster-nodes.ts';
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Row, Statement } from '../database-session.ts';
import { changeCluster } from './cluster-transaction.ts';
import { MetLeases } from './met-leases.ts';
import { LEASE_SQL } from './node-lease.ts';
import { type AdmitModule, NodeModules, NotCompared, notRemoved } from './node-modules.ts';

/** This node, as others see it. */
export interface NodeIdentity {
  /** Another one for each start. */
  readonly uid: string;
  /** Name of the machine. */
  readonly machine: string;
  /** Version of the runtime. */
  readonly version: string;
  /** Fingerprint of the module that the node runs. */
  readonly fingerprint: string;
  /** Whether no other node may use the journal meanwhile. */
  readonly isExclusive: boolean;
  /** Absent: the node does not run beside another module. */
  readonly admit?: AdmitModule | undefined;
}

/** The row is this node's own, unless a copy of the node has gone on. */
const REMOVE: Statement = {
  text: 'DELETE FROM svc.node WHERE number = $1 AND renewals BETWEEN $2 AND $3 RETURNING 1',
};
/** A node that has joined without knowing it has renewed nothing. */
const REMOVE_UNKNOWN: Statement = {
  text: 'DELETE FROM svc.node WHERE uid = $1 AND number > $2 AND renewals = 0',
};
const REMOVE_DEAD: Statement = {
  text: `WITH dead AS (
      SELECT number FROM svc.node WHERE lease_until <= clock_timestamp() AND number <> $1
      ORDER BY number FOR UPDATE SKIP LOCKED
    )
    DELETE FROM svc.node n USING dead d WHERE n.number = d.number RETURNING n.number`,
};
/** A node beside which this one cannot join, because one of the two shares the journal with nobody. */
const HINDRANCE: Statement = {
  text: `SELECT n.machine, (extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::int8,
      n.number, n.renewals
    FROM svc.node n WHERE n.is_exclusive OR $1
    ORDER BY n.lease_until DESC LIMIT 1`,
};
const JOIN: Statement = {
  text: `INSERT INTO svc.node (uid, status, lease_until, is_exclusive, machine, host, port, version, fingerprint, control)
    VALUES ($1, $2, ${LEASE_SQL}, $3, $4, $5, $6, $7, $8, $9) RETURNING number`,
};
const RENEW: Statement = {
  name: 'renew',
  text: `WITH renewed AS (
      UPDATE svc.node SET lease_until = ${LEASE_SQL}, renewals = renewals + 1
      WHERE number = $1 AND renewals BETWEEN $2 AND $3 AND lease_until > clock_timestamp()
      RETURNING renewals
    )
    SELECT r.renewals, c.version, c.work,
      (SELECT (extract(epoch FROM min(n.lease_until) - clock_timestamp()) * 1000)::int8
        FROM svc.node n WHERE n.number <> $1)
    FROM renewed r, svc.cluster c`,
};
const TAKE: Statement = {
  text: `WITH free AS (
      SELECT s.slice FROM svc.slice s
      WHERE s.slice = ANY($2::int2[]) AND NOT EXISTS (SELECT FROM svc.node o WHERE o.number = s.owner)
        AND EXISTS (SELECT FROM svc.node n
          WHERE n.number = $1 AND n.status <> 'leaving' AND n.lease_until > clock_timestamp())
      ORDER BY s.slice FOR UPDATE OF s SKIP LOCKED
    )
    UPDATE svc.slice s SET owner = $1, epoch = s.epoch + 1 FROM free f WHERE s.slice = f.slice
    RETURNING s.slice, s.head`,
};
const HAND_OVER: Statement = {
  text: `WITH mine AS (
      SELECT s.slice, n.number AS next FROM unnest($2::int2[], $3::int8[]) w(slice, next)
      JOIN svc.slice s ON s.slice = w.slice AND s.owner = $1
      JOIN svc.node n ON n.number = w.next AND n.status = 'up' AND n.lease_until > clock_timestamp()
      ORDER BY s.slice FOR UPDATE OF s SKIP LOCKED
    )
    UPDATE svc.slice s SET owner = m.next, epoch = s.epoch + 1 FROM mine m WHERE s.slice = m.slice
    RETURNING s.slice, s.owner`,
};
const SERVE: Statement = {
  text: `UPDATE svc.node SET status = 'up', host = $2, port = $3
    WHERE number = $1 AND status = 'joining' RETURNING 1`,
};
const LEAVE: Statement = {
  text: `UPDATE svc.node SET status = 'leaving' WHERE number = $1 AND status <> 'leaving' RETURNING 1`,
};
const NAME_CONTROL: Statement = { text: 'UPDATE svc.node SET control = $2 WHERE number = $1' };
const RELINQUISH: Statement = {
  text: `WITH mine AS (
      SELECT slice FROM svc.slice WHERE owner = $1 ORDER BY slice FOR UPDATE SKIP LOCKED
    )
    UPDATE svc.slice s SET owner = NULL FROM mine m WHERE s.slice = m.slice`,
};

/** Slices, each with the number of its last record. */
export type TakenSlices = readonly (readonly [slice: number, head: number])[];
/** Slices, each with the number of a node. */
export type SliceOwners = readonly (readonly [slice: number, node: number])[];

/** A renewal of the lease, and what it has shown. */
export interface Renewal {
  /** The version of the cluster. */
  readonly version: number;
  /** How often operators have changed lanes. */
  readonly work: number;
  /** When the first lease of another node ends, in milliseconds; undefined: there is no other node. */
  readonly othersLeftMs: number | undefined;
}

export class NodeMembership {
  readonly #node: NodeIdentity;
  readonly #shown: string;
  readonly #modules: NodeModules;
  /** The leases that have kept this node out since it tries to join. */
  readonly #met = new MetLeases();
  #number = NOBODY;
  #renewals = 0;
  /** The number of renewals since then that may have been carried out. */
  #unsureRenewals = 0;
  /** Whether an attempt to join may have been carried out, whose number is not known. */
  #mayHaveJoined = false;
  #address: NodeAddress | undefined;
  #control: string | undefined;
  #obstacle: SvcError | undefined;

  /** `shown`: name of the database in messages. */
  constructor(node: NodeIdentity, shown: string) {
    this.#node = node;
    this.#shown = shown;
    this.#modules = new NodeModules({
      own: node.fingerprint,
      admit: node.admit,
      met: this.#met,
      shown,
    });
  }

  get isExclusive(): boolean {
    return this.#node.isExclusive;
  }

  /** The reason why this node could not join, after `join` has returned undefined. */
  get obstacle(): SvcError | undefined {
    return this.#obstacle;
  }

  /** Notes the module of a node that was a member together with this one. */
  met(fingerprint: string): void {
    this.#modules.met(fingerprint);
  }

  /**
   * Joins, again if this node was one before, which it must not use any more. Returns its number; undefined: something keeps it out
   * that passes by itself. Rejects with SVC_DATA_IN_USE, as the comparison of modules does, and with DatabaseFailure.
   */
  async join(session: DatabaseSession): Promise<number | undefined> {
    let number: number | undefined;
    try {
      number = await this.#joinCompared(session);
    } catch (error) {
      if (error instanceof DatabaseFailure) this.#mayHaveJoined ||= error.outcome === 'unknown';
      else this.#met.forget();
      throw error;
    }
    if (number !== undefined) {
      this.#met.forget();
      [this.#number, this.#renewals, this.#unsureRenewals] = [number, 0, 0];
    }
    this.#mayHaveJoined = false;
    return number;
  }

  /**
   * Renews the lease. Returns undefined if that was too late, or another node has this node's number: it never owns anything again
   * under this number. Rejects with DatabaseFailure.
   */
  async renew(session: DatabaseSession): Promise<Renewal | undefined> {
    const known = this.#known();
    this.#unsureRenewals++;
    let rows: readonly Row[];
    try {
      rows = await session.query(RENEW, known);
    } catch (error) {
      if (error instanceof DatabaseFailure && error.outcome === 'not-done') this.#unsureRenewals--;
      throw error;
    }
    const [row] = rows as readonly (readonly [number, number, number, number | null])[];
    if (row === undefined) {
      this.#unsureRenewals--;
      return undefined;
    }
    const [renewals, version, work, othersLeftMs] = row;
    [this.#renewals, this.#unsureRenewals] = [renewals, 0];
    return { version, work, othersLeftMs: othersLeftMs ?? undefined };
  }

  /**
   * Removes nodes whose leases have ended, and takes those of the slices that no node owns. Returns the slices that were taken;
   * undefined: nothing has changed. Rejects with DatabaseFailure.
   */
  take(session: DatabaseSession, slices: readonly number[]): Promise<TakenSlices | undefined> {
    return changeCluster(session, async (mayTake) => {
      const removed = mayTake ? await session.query(REMOVE_DEAD, [this.#number]) : [];
      const taken = await session.query(TAKE, [this.#number, slices]);
      return removed.length + taken.length > 0 ? (taken as unknown as TakenSlices) : undefined;
    });
  }

  /** Hands slices over to nodes that serve. Returns those that have another owner now. Rejects with DatabaseFailure. */
  async handOver(session: DatabaseSession, slices: SliceOwners): Promise<SliceOwners> {
    const columns = [slices.map(([slice]) => slice), slices.map(([, next]) => next)] as const;
    const moved = await changeCluster(session, async () => {
      const rows = await session.query(HAND_OVER, [this.#number, ...columns]);
      return rows.length > 0 ? (rows as unknown as SliceOwners) : undefined;
    });
    return moved ?? [];
  }

  /** Notes where this node serves. It does so again whenever it joins. Rejects with DatabaseFailure. */
  async serve(session: DatabaseSession, address: NodeAddress): Promise<void> {
    this.#address = address;
    const { host, port } = address;
    await this.#change(session, SERVE, [this.#number, host, port]);
  }

  /** Lets other nodes know that this one gets nothing any more. Rejects with DatabaseFailure. */
  async announceLeave(session: DatabaseSession): Promise<void> {
    await this.#change(session, LEAVE, [this.#number]);
  }

  /** Names the socket by which tools of this machine reach this node. Rejects with DatabaseFailure. */
  async nameControl(session: DatabaseSession, path: string): Promise<void> {
    this.#control = path;
    await session.query(NAME_CONTROL, [this.#number, path]);
  }

  /** Gives up all slices, and removes this node: nobody needs to wait for its lease to end. Rejects with DatabaseFailure. */
  async leave(session: DatabaseSession): Promise<void> {
    if (this.#number === NOBODY) return;
    await changeCluster(session, async () => {
      if ((await session.query(REMOVE, this.#known())).length === 0) return undefined;
      await session.query(RELINQUISH, [this.#number]);
      return true;
    });
  }

  /** Joins, and compares modules meanwhile: nobody waits for the lock of the cluster while that is done. */
  async #joinCompared(session: DatabaseSession): Promise<number | undefined> {
    for (;;)
      try {
        // oxlint-disable-next-line no-await-in-loop -- an attempt follows a comparison
        return await changeCluster(session, (mayTake) => this.#joinLocked(session, mayTake));
      } catch (error) {
        if (!(error instanceof NotCompared)) throw error;
        this.#modules.compare(error.running);
      }
  }

  async #joinLocked(session: DatabaseSession, mayTake: boolean): Promise<number | undefined> {
    const { uid, machine, version, fingerprint, isExclusive } = this.#node;
    await session.query(REMOVE, this.#known());
    if (this.#mayHaveJoined) await session.query(REMOVE_UNKNOWN, [uid, this.#number]);
    if (mayTake) await session.query(REMOVE_DEAD, [NOBODY]);
    const [hindrance] = await session.query(HINDRANCE, [isExclusive]);
    this.#obstacle =
      hindrance === undefined ? await this.#modules.obstacle(session) : this.#inUse(hindrance);
    if (this.#obstacle !== undefined) return undefined;
    const { host = null, port = null } = this.#address ?? {};
    const status = this.#address === undefined ? 'joining' : 'up';
    const control = this.#control ?? null;
    const values = [uid, status, isExclusive, machine, host, port, version, fingerprint, control];
    return (await session.query(JOIN, values))[0]![0] as number;
  }

  async #change(
    session: DatabaseSession,
    statement: Statement,
    values: readonly (string | number)[],
  ): Promise<void> {
    await changeCluster(session, async () =>
      (await session.query(statement, values)).length > 0 ? true : undefined,
    );
  }

  /** The number of this node, and between which numbers its renewals are. */
  #known(): readonly [number: number, least: number, most: number] {
    return [this.#number, this.#renewals, this.#renewals + this.#unsureRenewals];
  }

  /** Returns the error of a node that may have been lost, which passes by itself, and throws that of one that has renewed its lease. */
  #inUse([machine, leftMs, number, renewals]: Row): SvcError {
    if ((leftMs as number) <= 0) return notRemoved(String(machine), this.#shown);
    const inUse = new SvcError(
      'SVC_DATA_IN_USE',
      `The journal in ${this.#shown} is used by another runtime, on ${printable(String(machine))}, whose lease has ${String(leftMs)} ms ` +
        'left. Stop it, or start this one as its standby.',
    );
    if (this.#met.isRenewed({ number: number as number, renewals: renewals as number }))
      throw inUse;
    return inUse;
  }
}

/** Returns why a node that lets no other one use the journal does not write any more. */
export function takenOver(shown: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `Another runtime has taken over the journal in ${shown}, because the lease of this one had ended. Start the service again ` +
      'once the other one has stopped.',
  );
}
