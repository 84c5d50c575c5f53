// NodeMembership is this run of the runtime among those that use a journal: its row, and the slices that it owns. All that changes
// who owns slices locks the row of the cluster first, so that such changes come one after the other.
//
// Invariants
// - A slice is only taken from a node whose lease has ended, by the clock of the database. The row of that node is locked before, so
//   that no renewal comes between, and removed, so that it never renews its lease again.
// - A lease that has ended is only renewed while this node still owns all its slices: nobody has written meanwhile.
// - An epoch that was given is never given again.
import { SLICE_COUNT } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import { printable } from '@svc/kit/printable';
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Row, Statement } from '../database-session.ts';
import { NOBODY } from '../../cluster-nodes.ts';
import { CLOCK_DRIFT_MS, LEASE_MS } from './node-lease.ts';

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
}

const LEASE = `clock_timestamp() + interval '${LEASE_MS + CLOCK_DRIFT_MS} milliseconds'`;
const LOCK: Statement = { text: 'UPDATE svc.cluster SET version = version + 1' };
const LIVE_OWNER: Statement = {
  text: `WITH others AS MATERIALIZED (SELECT * FROM svc.node ORDER BY number FOR UPDATE)
    SELECT n.machine, (extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::int8
    FROM others n
    WHERE n.lease_until > clock_timestamp()
      AND EXISTS (SELECT FROM svc.slice s WHERE s.owner = n.number)
    ORDER BY 2 DESC LIMIT 1`,
};
const JOIN: Statement = {
  text: `INSERT INTO svc.node (uid, status, lease_until, is_exclusive, machine, version, fingerprint)
    VALUES ($1, 'joining', ${LEASE}, true, $2, $3, $4) RETURNING number`,
};
const REMOVE_OTHERS: Statement = { text: 'DELETE FROM svc.node WHERE number <> $1' };
const TAKE: Statement = {
  text: `WITH locked AS (SELECT slice FROM svc.slice ORDER BY slice FOR UPDATE)
    UPDATE svc.slice s SET owner = $1, epoch = s.epoch + 1 FROM locked l WHERE s.slice = l.slice
    RETURNING s.slice, s.head`,
};
const RENEW: Statement = {
  name: 'renew',
  text: `UPDATE svc.node SET lease_until = ${LEASE}
    WHERE number = $1 AND lease_until > clock_timestamp() RETURNING number`,
};
const RENEW_LATE: Statement = {
  text: `UPDATE svc.node SET lease_until = ${LEASE}
    WHERE number = $1 AND ${SLICE_COUNT} = (SELECT count(*) FROM svc.slice s WHERE s.owner = $1)
    RETURNING number`,
};
const NAME_CONTROL: Statement = { text: 'UPDATE svc.node SET control = $2 WHERE number = $1' };
const GIVE_UP: Statement = {
  text: `WITH mine AS (SELECT slice FROM svc.slice WHERE owner = $1 ORDER BY slice FOR UPDATE)
    UPDATE svc.slice s SET owner = NULL FROM mine WHERE s.slice = mine.slice`,
};
const LEAVE: Statement = { text: 'DELETE FROM svc.node WHERE number = $1' };

/** The slices of a journal that this node has taken, with the number of the last record of each. */
export type TakenSlices = readonly (readonly [slice: number, head: number])[];

/** A node that has joined, and owns all slices. */
export interface JoinedNode {
  readonly number: number;
  readonly taken: TakenSlices;
}

export class NodeMembership {
  readonly #node: NodeIdentity;
  readonly #shown: string;
  #number = NOBODY;

  /** `shown`: name of the database in messages. */
  constructor(node: NodeIdentity, shown: string) {
    this.#node = node;
    this.#shown = shown;
  }

  /**
   * Joins, and takes all slices. Rejects with SVC_DATA_IN_USE while another node that owns slices has a lease, and with
   * DatabaseFailure.
   */
  async join(session: DatabaseSession): Promise<JoinedNode> {
    const { uid, machine, version, fingerprint } = this.#node;
    const joined = await transaction(session, async () => {
      await session.query(LOCK);
      const [owner] = await session.query(LIVE_OWNER);
      if (owner !== undefined) throw this.#inUse(owner);
      const [row] = await session.query(JOIN, [uid, machine, version, fingerprint]);
      const number = row![0] as number;
      const taken = (await session.query(TAKE, [number])) as unknown as TakenSlices;
      await session.query(REMOVE_OTHERS, [number]);
      return { number, taken };
    });
    this.#number = joined.number;
    return joined;
  }

  /**
   * Renews the lease. Returns whether this node still owns its slices; it never does again if it does not. Rejects with
   * DatabaseFailure.
   */
  async renew(session: DatabaseSession): Promise<boolean> {
    const inTime = await session.query(RENEW, [this.#number]);
    if (inTime.length > 0) return true;
    return transaction(session, async () => {
      await session.query(LOCK);
      return (await session.query(RENEW_LATE, [this.#number])).length > 0;
    });
  }

  /** Names the socket by which tools of this machine reach this node. Rejects with DatabaseFailure. */
  async nameControl(session: DatabaseSession, path: string): Promise<void> {
    await session.query(NAME_CONTROL, [this.#number, path]);
  }

  /** Gives up the slices, and leaves: the next node needs not wait for the lease to end. Rejects with DatabaseFailure. */
  async leave(session: DatabaseSession): Promise<void> {
    await transaction(session, async () => {
      await session.query(LOCK);
      await session.query(GIVE_UP, [this.#number]);
      await session.query(LEAVE, [this.#number]);
    });
  }

  #inUse([machine, leftMs]: Row): SvcError {
    return new SvcError(
      'SVC_DATA_IN_USE',
      `The journal in ${this.#shown} is used by another runtime, on ${printable(String(machine))}, whose lease has ` +
        `${String(leftMs)} ms left. Stop it, or start this one as its standby.`,
    );
  }
}

/** Returns why a node does not write any more. */
export function takenOver(shown: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `Another runtime has taken over the journal in ${shown}, because the lease of this one had ended. Start the service again ` +
      'once the other one has stopped.',
  );
}

/** How often a transaction is carried out that met a conflict: a group of the former owner may lock slices in another order. */
const ATTEMPTS_MAX = 5;

/** Carries out statements as one transaction. Rejects as `work` does, after the transaction was rolled back. */
async function transaction<T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await attempted(session, work);
    } catch (error) {
      const mayPass = error instanceof DatabaseFailure && error.isRetryable;
      if (!mayPass || attempt === ATTEMPTS_MAX) throw error;
    }
}

async function attempted<T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> {
  await session.query({ text: 'BEGIN' });
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // If the connection is lost, the server rolls back.
    await session.query({ text: 'ROLLBACK' }).catch(() => undefined);
    throw error;
  }
  await session.query({ text: 'COMMIT' });
  return result;
}
