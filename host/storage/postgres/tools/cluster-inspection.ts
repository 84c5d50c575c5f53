// ClusterInspection reads the nodes of a journal in a database and the owners of its slices, for a tool.
import type { InspectedCluster } from '../../cluster-inspection.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import { readCluster } from '../nodes/cluster-rows.ts';
import { readDatabase } from './database-reading.ts';

/** Both reads see the database at one moment. */
const BEGIN = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY' };
const COMMIT = { text: 'COMMIT' };
const FACTS = {
  text: `SELECT c.id, (extract(epoch FROM clock_timestamp()) * 1000)::int8,
    current_setting('synchronous_standby_names'), ARRAY(SELECT epoch FROM svc.slice ORDER BY slice)
  FROM svc.cluster c`,
};

/** Rejects as `connectForReading` does, and with SVC_JOURNAL_CORRUPT if slices are missing. */
export function inspectCluster(location: JournalInDatabase): Promise<InspectedCluster> {
  return readDatabase(location, async (session) => {
    await session.query(BEGIN);
    const { version, pauseMs, nodes, leasesLeftMs, owners, heads } = await readCluster(session);
    const [id, nowMs, synchronousStandbys, epochs] = (await session.query(FACTS))[0] as readonly [
      string,
      number,
      string,
      readonly number[],
    ];
    await session.query(COMMIT);
    const numbers = new Set(nodes.map(({ number }) => number));
    const slices = owners.map((owner, slice) => ({
      slice,
      // A node that has left, or was removed, may still be named.
      owner: numbers.has(owner) ? owner : undefined,
      epoch: epochs[slice]!,
      head: heads[slice]!,
    }));
    return {
      id,
      version,
      nodes: nodes.map(({ status, ...node }, index) => ({
        ...node,
        status: status === 'Down' ? 'Ended' : status,
        memberMs: Math.max(0, nowMs - node.joinedMs),
        leaseLeftMs: Math.max(0, leasesLeftMs[index]!),
        slices: slices.filter(({ owner }) => owner === node.number).length,
      })),
      slices,
      takeoverPauseMs: pauseMs,
      synchronousStandbys: synchronousStandbys.trim(),
    };
  });
}
