// `npm run fuzz -- --target peers`: compares servers of others behind the proxy, and saves the shortest stream that was found
// for each disagreement.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { keepCrasher, keptCrashers } from '../test/support/fuzz/crashers.ts';
import {
  comparePeers,
  disagreementText,
  type PeersReport,
} from '../test/support/fuzz/peers/peers-campaign.ts';
import {
  DIFFERENT_SERVERS,
  notTestedWithoutServers,
  PeerServers,
} from '../test/support/peers/peer-servers.ts';

export interface PeersFuzz {
  readonly inputs: number;
  readonly seed: number;
  readonly forMs: number;
}

const SHOWN_EVERY = 10_000;

/** Returns the exit code: 1 if servers disagree. */
export async function fuzzPeers({ inputs, seed, forMs }: PeersFuzz): Promise<number> {
  if (notTestedWithoutServers(...DIFFERENT_SERVERS) !== undefined) return 2;
  // The servers end with this process, also when a signal ends it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(join(tmpdir(), 'svc-peers-'));
  const servers = await PeerServers.start(folder, DIFFERENT_SERVERS);
  console.log(`comparing ${DIFFERENT_SERVERS.join(', ')} from seed ${seed}`);
  try {
    const report = await comparePeers({
      servers: new Map(DIFFERENT_SERVERS.map((name) => [name, servers.port(name)])),
      seed,
      inputs,
      forMs,
      first: keptCrashers('peers'),
      onProgress: (current) => {
        if (current.inputs % SHOWN_EVERY === 0) console.log(summary(current));
      },
      onDisagreement: (disagreement) => {
        const { server, problem, stream } = disagreement;
        const reason = `${server}: ${problem}`;
        const file = keepCrasher({ target: 'peers', input: stream, reason });
        const text = disagreementText(disagreement);
        process.stderr.write(`${text}\n  saved as ${relative(process.cwd(), file)}\n`);
      },
    });
    console.log(summary(report));
    for (const [reason, count] of report.tolerated) console.log(`  ${count} refused by ${reason}`);
    return report.disagreements.length === 0 ? 0 : 1;
  } finally {
    await servers.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function summary({ inputs, requests, broken, disagreements }: PeersReport): string {
  return `${inputs} inputs, ${requests} requests, ${broken} inputs with a broken end, ${disagreements.length} disagreements`;
}
