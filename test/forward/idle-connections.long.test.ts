// Idle connections to servers of others, at the moment at which these close them.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PeerLane } from '../support/fuzz/peers/peer-lane.ts';
import { readFinalResponses } from '../support/http1/response-stream.ts';
import { notTestedWithoutServers, PeerServers } from '../support/peers/peer-servers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Beyond the second within which a connection carries requests that are not sent twice. */
const IDLE_SECONDS = 2;
const CLIENTS = 40;
const ROUNDS = 3;

describe.each(['apache', 'haproxy', 'nginx', 'node'] as const)('%s', (name) => {
  test.skipIf(notTestedWithoutServers(name) !== undefined)(
    'P19: no request fails when it meets the end of an idle connection',
    async () => {
      const servers = await PeerServers.start(temporaryFolder(), [name], IDLE_SECONDS);
      onTestFinished(() => servers.end());
      const lanes = await Promise.all(
        Array.from({ length: CLIENTS }, () => PeerLane.open(name, servers.port(name))),
      );
      const answered = await Promise.all(
        lanes.map(async (lane, index) => {
          const statuses: number[] = [];
          const method = index % 2 === 0 ? 'GET' : 'POST';
          const request = `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`;
          for (let round = 0; round <= ROUNDS; round++) {
            const { received } = await lane.send(Buffer.from(request));
            statuses.push(readFinalResponses(received.toString('latin1'), [method])[0]!.status);
            // The server closes the connection now, a little earlier or a little later.
            if (round < ROUNDS) await pause(IDLE_SECONDS * 1000 - 40 + 2 * index);
          }
          await lane.close();
          return statuses;
        }),
      );
      expect(answered.flat().filter((status) => status !== 200)).toEqual([]);
    },
  );
});
