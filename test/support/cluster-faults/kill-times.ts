// KillTimes measure how long entities take to answer after their node was killed, while nothing else fails. Every probed entity is asked at the nodes that
// are left, again and again, until it has answered a request that was sent after the kill.
import { setTimeout as delay } from 'node:timers/promises';
import { RENEWAL_MS } from '../../../host/storage/postgres/nodes/node-lease.ts';
import type { Random } from '../random.ts';
import type { FaultyCluster } from './faulty-cluster.ts';

/** Entities that are asked, of which a third belongs to each node. One request is in flight for each. */
const PROBES = 60;
const PAUSE_MS = 20;
const TIMEOUT_MS = 30_000;

/** Kills a node that is drawn, and resolves with the longest time until an entity has answered. Then starts it again, and waits until all have their share. */
export async function killedUntilAnswered(cluster: FaultyCluster, random: Random): Promise<number> {
  const killed = random.below(cluster.nodes.length);
  const others = cluster.nodes.filter((_, node) => node !== killed);
  const ids = Array.from({ length: PROBES }, (_, index) => `probe-${index}`);
  // Entities that were never called have nothing in memory that is lost.
  await Promise.all(
    ids.map((id) => answeredMs(`${others[0]!.url}/counters/${id}`, performance.now())),
  );
  let worstMs = 0;
  // Leases are renewed every second: the kill comes at any moment between two renewals.
  await delay(random.below(RENEWAL_MS));
  const beganMs = performance.now();
  await cluster.kill(killed, async () => {
    const times = await Promise.all(
      ids.map((id, index) =>
        answeredMs(`${others[index % others.length]!.url}/counters/${id}`, beganMs),
      ),
    );
    worstMs = Math.max(...times);
  });
  await cluster.settled();
  return worstMs;
}

/** Adds to a counter until that is answered. Resolves with the time since a moment. */
async function answeredMs(url: string, sinceMs: number): Promise<number> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 1 }),
  };
  for (;;) {
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
      await response.arrayBuffer();
      if (response.status === 200) return performance.now() - sinceMs;
    } catch {
      // The next attempt follows.
    }
    await delay(PAUSE_MS);
  }
}
