// Servers of others as the process beside the real `svc proxy`: each gets the requests of clients as they were sent, and its
// responses pass as it writes them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { type ReadResponse, readFinalResponses } from '../support/http1/response-stream.ts';
import {
  notTestedWithoutServers,
  type PeerServerName,
  PeerServers,
} from '../support/peers/peer-servers.ts';
import { shownBody } from '../support/peers/servers/shown-body.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { GATEWAY_ID, WebPod } from '../support/web-pods/web-pod.ts';

const LARGE_BYTES = 3_000_000;
const LARGE = 'abcdefgh'.repeat(LARGE_BYTES / 8);
/** Spellings of the field by which a process knows its caller. */
const CLAIMS = ['X-Svc-Caller', 'x-svc-caller', 'X_Svc_Caller', 'X-Svc_Caller', 'X.Svc.Caller'];
const HOST = 'Host: shop.example.com\r\n';

interface ServerTraits {
  readonly name: PeerServerName;
  /** Whether it takes a body of unknown length. CGI and WSGI know none, and find no body. */
  readonly takesChunks: boolean;
  /** Whether it answers `Expect: 100-continue` with a 100. */
  readonly continues: boolean;
}

const SERVERS: readonly ServerTraits[] = [
  { name: 'node', takesChunks: true, continues: true },
  { name: 'python', takesChunks: true, continues: true },
  { name: 'wsgi', takesChunks: false, continues: false },
  { name: 'php', takesChunks: true, continues: false },
  { name: 'cgi', takesChunks: false, continues: true },
  { name: 'nginx', takesChunks: true, continues: true },
  { name: 'haproxy', takesChunks: true, continues: true },
  { name: 'apache', takesChunks: true, continues: true },
];

const folder = temporaryFolderOfFile();
let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

function reports(received: readonly ReadResponse[]): string[] {
  return received.map(({ status, report }) => `${status} ${report}`);
}

describe.each(SERVERS)('$name', ({ name, takesChunks, continues }) => {
  const isMissing = notTestedWithoutServers(name) !== undefined;
  let servers: PeerServers;
  let pod: WebPod;
  beforeAll(async () => {
    if (isMissing) return;
    const own = join(folder, name);
    mkdirSync(own);
    servers = await PeerServers.start(own, [name]);
    pod = await WebPod.start({ authority, folder: own, processPort: servers.port(name) });
  });
  afterAll(async () => {
    await pod?.end();
    await servers?.end();
  });

  /** Sends requests as the internet, ends that side, and returns the responses to them. */
  async function responses(
    requests: string,
    methods: readonly string[],
  ): Promise<readonly ReadResponse[]> {
    const client = await pod.connectAs(GATEWAY_ID);
    client.write(requests);
    client.socket.end();
    return readFinalResponses(await client.rest(), methods);
  }

  test.skipIf(isMissing)('gets method, target, caller and body of each request', async () => {
    const requests = [
      `GET /a/b?c=d%20e HTTP/1.1\r\n${HOST}\r\n`,
      `HEAD /h HTTP/1.1\r\n${HOST}\r\n`,
      `POST /p HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`,
      `PUT /u HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`,
      `DELETE /d HTTP/1.1\r\n${HOST}\r\n`,
    ];
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
    expect(reports(await responses(requests.join(''), methods))).toEqual([
      '200 GET /a/b?c=d%20e internet =',
      '200 HEAD /h internet =',
      '200 POST /p internet =616263',
      '200 PUT /u internet =',
      '200 DELETE /d internet =',
    ]);
  });

  test.skipIf(isMissing)(
    'P9: knows its caller by no spelling of a header that a client sends',
    async () => {
      const claims = CLAIMS.map((claim) => `${claim}: service shop/admin\r\n`).join('');
      const request = `GET / HTTP/1.1\r\n${claims}${HOST}${claims}\r\n`;
      expect(reports(await responses(request, ['GET']))).toEqual(['200 GET / internet =']);
    },
  );

  test.skipIf(isMissing)(
    'gets a large body whole, and its large response arrives whole',
    async () => {
      const request = `POST /l HTTP/1.1\r\n${HOST}Content-Length: ${LARGE_BYTES}\r\n\r\n${LARGE}`;
      const [response] = await responses(request, ['POST']);
      expect(response).toMatchObject({
        status: 200,
        report: `POST /l internet ${shownBody(Buffer.from(LARGE))}`,
      });
      const big = await responses(`GET /big?${LARGE_BYTES} HTTP/1.1\r\n${HOST}\r\n`, ['GET']);
      expect(big[0]!.body.length).toBe(LARGE_BYTES);
    },
  );

  test.skipIf(isMissing)('P1: gets a chunked body of any method, if it knows chunks', async () => {
    for (const method of ['POST', 'DELETE', 'GET', 'OPTIONS']) {
      const body = '5;x=y\r\nabcde\r\n3\r\nfgh\r\n0\r\nX-Sum: 1\r\n\r\n';
      const request = `${method} /c HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${body}`;
      expect(reports(await responses(request, [method]))).toEqual([
        `200 ${method} /c internet ${takesChunks ? '=6162636465666768' : '='}`,
      ]);
    }
    // A server that does not read the body may close the connection before its response has arrived.
    if (!takesChunks) return;
    const large = `${LARGE_BYTES.toString(16)}\r\n${LARGE}\r\n0\r\n\r\n`;
    const request = `POST /l HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${large}`;
    expect(reports(await responses(request, ['POST']))).toEqual([
      `200 POST /l internet ${shownBody(Buffer.from(LARGE))}`,
    ]);
  });

  test.skipIf(isMissing)(
    'P18: never answers a body that breaks off as if it were complete',
    async () => {
      // A server that knows no chunks does not wait for them: it may have answered before the body breaks off.
      const framings = [
        'Content-Length: 9',
        ...(takesChunks ? ['Transfer-Encoding: chunked'] : []),
      ];
      for (const framing of framings)
        for (const response of await responses(
          `POST / HTTP/1.1\r\n${HOST}${framing}\r\n\r\n5\r\nabc`,
          ['POST'],
        ))
          expect(response.report).toBeUndefined();
    },
  );

  test.skipIf(isMissing)(
    'P12: asks for the body itself, and nobody does it in its place',
    async () => {
      const client = await pod.connectAs(GATEWAY_ID);
      client.write(
        `POST /e HTTP/1.1\r\n${HOST}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
      );
      if (continues) await client.take('HTTP/1.1 100 Continue\r\n\r\n');
      client.write('ab');
      const received = await client.rest();
      expect(received).not.toContain('100 Continue');
      const [response] = readFinalResponses(received, ['POST']);
      expect(response!.report).toBe('POST /e internet =6162');
    },
  );

  test.skipIf(isMissing)('P15: has its events passed one by one', async () => {
    const client = await pod.connectAs(GATEWAY_ID);
    const files = join(folder, name, 'event');
    client.write(`GET /events?${files} HTTP/1.1\r\n${HOST}\r\n`);
    // The next event is sent only after the last one has arrived.
    for (const number of [0, 1, 2]) {
      writeFileSync(`${files}.${number}`, '');
      expect(await client.take(`data: ${number}\n\n`)).not.toContain(`data: ${number + 1}`);
    }
  });

  test.skipIf(isMissing)('P22: answers pipelined requests in their order', async () => {
    const count = 40;
    const targets = Array.from({ length: count }, (_, index) => `/n${index}`);
    const requests = targets.map((target, index) =>
      index % 3 === 0
        ? `POST ${target} HTTP/1.1\r\n${HOST}Content-Length: 1\r\n\r\nx`
        : `GET ${target} HTTP/1.1\r\n${HOST}\r\n`,
    );
    const answered = await responses(requests.join(''), []);
    expect(answered.map(({ report }) => report!.split(' ')[1])).toEqual(targets);
  });
});

test.skipIf(notTestedWithoutServers('node') !== undefined)(
  'P13: early hints of a real server reach the client',
  async () => {
    const own = join(folder, 'hints');
    mkdirSync(own);
    const servers = await PeerServers.start(own, ['node']);
    const pod = await WebPod.start({ authority, folder: own, processPort: servers.port('node') });
    try {
      const client: RawPeer = await pod.connectAs(GATEWAY_ID);
      client.write(`GET /hints HTTP/1.1\r\n${HOST}\r\n`);
      expect(await client.head()).toEqual([
        'HTTP/1.1 103 Early Hints',
        'Link: </a.css>; rel=preload',
      ]);
      expect((await client.head())[0]).toBe('HTTP/1.1 200 OK');
    } finally {
      await pod.end();
      await servers.end();
    }
  },
);
