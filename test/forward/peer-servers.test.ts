// Servers whose variables fold the names of headers, behind the forwarding: none of them takes a header of a client for what
// the proxy says. test/programs/proxy-servers.long.test.ts has more of the same servers, behind the real program.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PeerLane } from '../support/fuzz/peers/peer-lane.ts';
import { readFinalResponses } from '../support/http1/response-stream.ts';
import {
  notTestedWithoutServers,
  type PeerServerName,
  PeerServers,
} from '../support/peers/peer-servers.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const FOLDING: readonly PeerServerName[] = ['php', 'cgi', 'wsgi'];
const installed = FOLDING.filter((name) => notTestedWithoutServers(name) === undefined);
const folder = temporaryFolderOfFile();
let servers: PeerServers;
beforeAll(async () => {
  servers = await PeerServers.start(folder, installed);
});
afterAll(() => servers.end());

const SPELLINGS = ['X-Svc-Caller', 'X_Svc_Caller', 'x_svc-caller', 'X-SVC_CALLER', 'X.Svc.Caller']
  .concat('X~Svc~Caller', 'X-Svc+Caller', 'X|Svc|Caller')
  .map((name) => `${name}: service shop/admin\r\n`)
  .join('');

describe.each(FOLDING)('%s', (name) => {
  test.skipIf(!installed.includes(name))(
    'P9: knows its caller by no spelling of a header',
    async () => {
      const lane = await PeerLane.open(name, servers.port(name));
      try {
        const request = `POST /a HTTP/1.1\r\n${SPELLINGS}Host: a\r\nContent-Length: 3\r\n${SPELLINGS}\r\nabc`;
        const { received } = await lane.send(Buffer.from(request));
        const [response] = readFinalResponses(received.toString('latin1'), ['POST']);
        expect(response!.report).toBe('POST /a local =616263');
      } finally {
        await lane.close();
      }
    },
  );
});
