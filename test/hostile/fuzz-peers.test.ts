// The comparison of servers behind the proxy, with servers that are always there: it accepts those that read as the proxy
// does, and finds those that do not.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { comparePeers, disagreementText } from '../support/fuzz/peers/peers-campaign.ts';
import { PeerServers } from '../support/peers/peer-servers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = 2026;

test('servers that receive what the proxy accepts do not disagree', async () => {
  const names = ['node', 'recorder'] as const;
  const servers = await PeerServers.start(temporaryFolder(), ['node']);
  onTestFinished(() => servers.end());
  const ports = new Map(names.map((name) => [name, servers.port(name)]));
  const report = await comparePeers({ servers: ports, seed: SEED, inputs: 300 });
  expect(report.disagreements.map(disagreementText)).toEqual([]);
  expect(report.requests).toBeGreaterThan(150);
  expect(report.tolerated.size).toBeGreaterThan(0);
});

/** A server that reports the request lines that it finds, and does not know where a body ends. */
async function openNaiveServer(reported: (line: string) => string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const [, line] of bytes.toString('latin1').matchAll(/(\S+ \S+) HTTP\/1\.1\r\n/g))
        socket.write(
          `HTTP/1.1 200 OK\r\nX-Report: ${reported(line!)} local =\r\nContent-Length: 0\r\n\r\n`,
        );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test.each([
  [
    'that takes a body for a request',
    (line: string) => line,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'that decodes the target',
    (line: string) => line.replaceAll('%2F', '/'),
    'GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
])('a server %s is found, with a short stream', async (_name, reported, stream) => {
  const servers = new Map([['naive', await openNaiveServer(reported)]]);
  const first = [Buffer.from(stream)];
  const { disagreements } = await comparePeers({ servers, seed: SEED, inputs: 0, first });
  expect(disagreements).toHaveLength(1);
  expect(disagreements[0]!.stream.length).toBeLessThan(stream.length);
  expect(disagreements[0]!.problem).toMatch(/smuggled|%2F|further|got/);
});
