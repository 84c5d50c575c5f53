// ClusterRows are the nodes and the owners of all slices, as the database has them at one moment.
import { SLICE_COUNT } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import {
  type ClusterNode,
  NOBODY,
  type NodeAddress,
  type NodeStatus,
} from '../../cluster-nodes.ts';
import type { DatabaseSession, Statement } from '../database-session.ts';

export interface ClusterRows {
  /** Raised by each change of nodes and owners. */
  readonly version: number;
  /** For so long nothing is taken from a node, in milliseconds. */
  readonly pauseMs: number;
  /** In the order in which they joined. */
  readonly nodes: readonly ClusterNode[];
  /** Indexed as `nodes`: how long the lease of each still lasts, in milliseconds; 0 or less: it has ended. */
  readonly leasesLeftMs: readonly number[];
  /** Indexed by slice: the number of its owner, which may be no node any more; NOBODY: it was given up. */
  readonly owners: readonly number[];
  /** Indexed by slice: the number of its last record. */
  readonly heads: readonly number[];
}

const READ: Statement = {
  text: `SELECT c.version, greatest(0, extract(epoch FROM c.takeover_from - clock_timestamp()) * 1000)::int8,
    (SELECT json_agg(n ORDER BY n.number) FROM (
      SELECT number, uid, status, machine, host, port, version, fingerprint,
        (extract(epoch FROM joined) * 1000)::int8 AS joined_ms,
        (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::int8 AS lease_left_ms
      FROM svc.node
    ) n)::text,
    ARRAY(SELECT coalesce(owner, ${NOBODY}) FROM svc.slice ORDER BY slice),
    ARRAY(SELECT head FROM svc.slice ORDER BY slice)
  FROM svc.cluster c`,
};
const LOCK: Statement = { text: 'SELECT FROM svc.cluster FOR UPDATE' };

/** A row of `svc.node` as JSON. */
interface NodeJson {
  readonly number: number;
  readonly uid: string;
  readonly status: string;
  readonly machine: string;
  readonly host: string | null;
  readonly port: number | null;
  readonly version: string;
  readonly fingerprint: string;
  readonly joined_ms: number;
  readonly lease_left_ms: number;
}

const STATUSES: Readonly<Record<string, NodeStatus>> = { joining: 'Joining', up: 'Up' };

/**
 * Reads nodes and owners. `isFinal`: waits for changes under way, so that none comes later whose outcome was not known. Rejects with
 * DatabaseFailure, and with SVC_JOURNAL_CORRUPT if slices are missing.
 */
export async function readCluster(session: DatabaseSession, isFinal = false): Promise<ClusterRows> {
  if (isFinal) await session.query(LOCK);
  const [version, pauseMs, nodes, owners, heads] = (await session.query(READ))[0] as readonly [
    number,
    number,
    string | null,
    readonly number[],
    readonly number[],
  ];
  if (owners.length !== SLICE_COUNT) throw missingSlices(owners.length, session.shown);
  const rows = JSON.parse(nodes ?? '[]') as readonly NodeJson[];
  const leasesLeftMs = rows.map((row) => row.lease_left_ms);
  return { version, pauseMs, nodes: rows.map(nodeOf), leasesLeftMs, owners, heads };
}

function nodeOf(row: NodeJson): ClusterNode {
  const { number, uid, status, machine, host, port, version, fingerprint } = row;
  return {
    number,
    uid,
    // A status that is not known belongs to a node that gets nothing.
    status: row.lease_left_ms > 0 ? (STATUSES[status] ?? 'Leaving') : 'Down',
    machine,
    address: addressOf(host, port),
    version,
    fingerprint,
    joinedMs: row.joined_ms,
  };
}

/** The table may have been edited by hand. */
function addressOf(host: string | null, port: number | null): NodeAddress | undefined {
  if (host === null || host === '' || port === null || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

function missingSlices(count: number, shown: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The journal in ${shown} is damaged: the table slice has ${count} of ${SLICE_COUNT} slices. Restore the database from a backup.`,
  );
}
