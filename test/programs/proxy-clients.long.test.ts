// Clients of others at the ports of the real `svc proxy`: curl, and nginx and haproxy in front of it as a gateway would be, with a
// certificate of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { notTestedWithout, PEER_ENVIRONMENT } from '../support/peers/peer-programs.ts';
import { openFront, type PeerFront } from '../support/peers/peer-fronts.ts';
import { PeerServers } from '../support/peers/peer-servers.ts';
import { shownBody } from '../support/peers/servers/shown-body.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { dialTcp, GATEWAY_ID, WebPod } from '../support/web-pods/web-pod.ts';

const folder = temporaryFolderOfFile();
const LARGE = Buffer.alloc(3_000_000, 'abcdefgh');
let servers: PeerServers;
let pod: WebPod;
/** A file with the certificate and the key of the gateway. */
const gatewayFile = join(folder, 'gateway.pem');
const largeFile = join(folder, 'large');

beforeAll(async () => {
  const authority = await CertificateAuthority.create('ca');
  mkdirSync(join(folder, 'pod'));
  servers = await PeerServers.start(folder, ['node']);
  pod = await WebPod.start({
    authority,
    folder: join(folder, 'pod'),
    processPort: servers.port('node'),
  });
  // A service may call itself, so one pod is enough.
  pod.locate({ 'shop/web': pod.servicePort });
  const { certificate, key } = await authority.issue({ uris: [GATEWAY_ID] });
  writeFileSync(gatewayFile, certificate + key);
  writeFileSync(largeFile, LARGE);
});
afterAll(async () => {
  await pod?.end();
  await servers?.end();
});

/** Runs curl to its end, and returns what it prints. */
async function curl(args: readonly string[], input?: Buffer): Promise<string> {
  const child = spawn('curl', ['--silent', '--show-error', '--max-time', '60', ...args], {
    env: PEER_ENVIRONMENT,
  });
  let printed = '';
  let complaints = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`curl ended with ${code}: ${complaints}`);
  return printed;
}

/** Options of curl for a port, and its URL. */
type CurlTarget = readonly [options: readonly string[], url: string];

/** The proxy's certificate names a service and no host, which curl cannot check. */
function servicePort(): CurlTarget {
  const options = ['--insecure', '--http1.1', '--cert', gatewayFile];
  return [options, `https://127.0.0.1:${pod.servicePort}`];
}

function callingPort(): CurlTarget {
  return [[], `http://127.0.0.1:${pod.callingPort}/web`];
}

const withoutCurl = notTestedWithout('curl');
describe.skipIf(withoutCurl !== undefined)('curl', () => {
  describe.each([
    ['the service port, with a certificate', servicePort, 'internet'],
    ['the calling address', callingPort, 'service shop/web'],
  ] as const)('at %s', (_name, at, caller) => {
    test('gets, posts, uploads and asks for a head', async () => {
      const [options, url] = at();
      const report = async (args: readonly string[], input?: Buffer) =>
        /^x-report: (.*)\r$/im.exec(
          await curl([...options, '--dump-header', '-', ...args], input),
        )![1];
      expect(await report([`${url}/a%2Fb?c=d`])).toBe(`GET /a%2Fb?c=d ${caller} =`);
      expect(await report(['--head', `${url}/h`])).toBe(`HEAD /h ${caller} =`);
      expect(await report(['--data', 'abc', `${url}/p`])).toBe(`POST /p ${caller} =616263`);
      expect(await report(['--request', 'PROPFIND', `${url}/m`])).toBe(`PROPFIND /m ${caller} =`);
      // From its input, curl sends chunks, and of a large file it waits for 100 Continue.
      const shown = shownBody(LARGE);
      expect(await report(['--upload-file', '-', `${url}/c`], LARGE)).toBe(
        `PUT /c ${caller} ${shown}`,
      );
      expect(await report(['--upload-file', largeFile, `${url}/l`])).toBe(
        `PUT /l ${caller} ${shown}`,
      );
    });

    test('gets a large response, and uses its connection again', async () => {
      const [options, url] = at();
      const targets = ['/a', `/big?${LARGE.length}`, '/b', '/c'].flatMap((path) => [
        '--output',
        '/dev/null',
        `${url}${path}`,
      ]);
      const format = '%{http_code} %{size_download} %{num_connects}\\n';
      expect(await curl([...options, '--write-out', format, ...targets])).toBe(
        `200 3 1\n200 ${LARGE.length} 0\n200 3 0\n200 3 0\n`,
      );
    });
  });

  test('is refused without a certificate', async () => {
    const url = `https://127.0.0.1:${pod.servicePort}/`;
    await expect(curl(['--insecure', '--http1.1', url])).rejects.toThrow(
      /curl ended with (?:35|56)/,
    );
  });

  test('asks the readiness port', async () => {
    const url = `http://127.0.0.1:${pod.readinessPort}/ready`;
    expect(await curl(['--write-out', '%{http_code}', '--output', '/dev/null', url])).toBe('200');
  });
});

describe.each(['nginx', 'haproxy'] as const)('%s in front', (name) => {
  const isMissing = notTestedWithout(name) !== undefined;
  let front: PeerFront;
  beforeAll(async () => {
    if (isMissing) return;
    const own = join(folder, name);
    mkdirSync(own);
    front = await openFront(name, { folder: own, port: pod.servicePort, certificate: gatewayFile });
  });
  afterAll(async () => {
    await front?.end();
  });

  async function report(path: string, init: RequestInit = {}): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${front.port}${path}`, init);
    await response.arrayBuffer();
    return `${response.status} ${response.headers.get('x-report')}`;
  }

  test.skipIf(isMissing)('passes requests with and without bodies, and responses', async () => {
    expect(await report('/a%2Fb?c=d')).toBe('200 GET /a%2Fb?c=d internet =');
    expect(await report('/h', { method: 'HEAD' })).toBe('200 HEAD /h internet =');
    expect(await report('/p', { method: 'POST', body: LARGE })).toBe(
      `200 POST /p internet ${shownBody(LARGE)}`,
    );
    const stream = new Blob([LARGE]).stream();
    expect(await report('/c', { method: 'PUT', body: stream, duplex: 'half' })).toBe(
      `200 PUT /c internet ${shownBody(LARGE)}`,
    );
    const big = await fetch(`http://127.0.0.1:${front.port}/big?${LARGE.length}`);
    expect((await big.arrayBuffer()).byteLength).toBe(LARGE.length);
  });

  test.skipIf(isMissing)(
    'loses none of many requests on connections that it uses again',
    async () => {
      const targets = Array.from({ length: 400 }, (_, index) => `/n${index}`);
      const answers = new Map<string, string>();
      const waiting = [...targets];
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let target = waiting.shift(); target !== undefined; target = waiting.shift())
            answers.set(
              target,
              await report(target, target.endsWith('0') ? { method: 'POST', body: target } : {}),
            );
        }),
      );
      for (const target of targets)
        expect(answers.get(target)).toBe(
          target.endsWith('0')
            ? `200 POST ${target} internet ${shownBody(Buffer.from(target))}`
            : `200 GET ${target} internet =`,
        );
    },
  );

  test.skipIf(isMissing)(
    'P22: passes pipelined requests, and the responses in their order',
    async () => {
      const client = await dialTcp(front.port);
      onTestFinished(() => void client.socket.destroy());
      const targets = ['/1', '/2', '/3'];
      client.write(targets.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
      for (const target of targets) {
        const { lines } = await client.message();
        expect(lines.find((line) => /^x-report/i.test(line))).toMatch(`GET ${target} internet =`);
      }
    },
  );
});
