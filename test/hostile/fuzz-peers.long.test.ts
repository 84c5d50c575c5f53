// A bounded run of the comparison of servers behind the proxy, with a fixed seed: `npm run fuzz -- --target peers` runs it for
// as long as one likes. Streams about which servers have once disagreed are sent first.
import { expect, onTestFinished, test } from 'vitest';
import { keptCrashers } from '../support/fuzz/crashers.ts';
import { comparePeers, disagreementText } from '../support/fuzz/peers/peers-campaign.ts';
import {
  DIFFERENT_SERVERS,
  notTestedWithoutServers,
  PeerServers,
} from '../support/peers/peer-servers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = 2026;
const INPUTS = 4_000;
const notTested = notTestedWithoutServers(...DIFFERENT_SERVERS);

test.skipIf(notTested !== undefined)(
  'nginx, haproxy, Apache, Node, Python and PHP receive the requests that the proxy accepts, and no others',
  { timeout: 600_000 },
  async () => {
    const servers = await PeerServers.start(temporaryFolder(), DIFFERENT_SERVERS);
    onTestFinished(() => servers.end());
    const ports = new Map(DIFFERENT_SERVERS.map((name) => [name, servers.port(name)]));
    const first = keptCrashers('peers');
    const report = await comparePeers({ servers: ports, seed: SEED, inputs: INPUTS, first });
    expect(report.disagreements.map(disagreementText)).toEqual([]);
    expect(report.inputs).toBe(first.length + INPUTS);
    expect(report.requests).toBeGreaterThan(INPUTS / 2);
  },
);
