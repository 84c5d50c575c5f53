// Bodies that are large in both directions at once, through a relay of TLS to TCP, to readers that are slow.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { connect, type ConnectionOptions } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { listening } from './raw-peer.ts';

const BYTES = 256 * 1024 * 1024;
const GROWTH_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes that a reader takes every `PAUSE_MS`: at most 25 MB each second. */
const PORTION_BYTES = 256 * 1024;
const PAUSE_MS = 10;

async function pause(ms: number): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return false;
}

/** Reads slowly, and returns how many bytes came. */
async function readSlowly(stream: Readable, bytesMax: number): Promise<number> {
  let [bytes, portion] = [0, 0];
  // The stream stays open: it may still be written to.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    const { length } = chunk as Buffer;
    bytes += length;
    portion += length;
    if (bytes >= bytesMax) break;
    if (portion < PORTION_BYTES) continue;
    portion = 0;
    await pause(PAUSE_MS);
  }
  return bytes;
}

const CHUNK = Buffer.alloc(64 * 1024, 'x');

async function write(
  stream: { write: (bytes: Buffer) => boolean } & NodeJS.EventEmitter,
  bytes: number,
): Promise<void> {
  for (let written = 0; written < bytes; written += CHUNK.length)
    if (!stream.write(CHUNK)) await once(stream, 'drain');
}

it('needs no more memory for large bodies than for small ones', async () => {
  let uploaded: Promise<number> | undefined;
  const target = createServer((request, response) => {
    response.writeHead(200, { 'Content-Length': BYTES });
    uploaded = readSlowly(request, BYTES);
    // A response that is complete before its request would end the connection, and the upload with it.
    void Promise.all([uploaded, write(response, BYTES - CHUNK.length)]).then(() =>
      response.end(CHUNK),
    );
  });
  const targetPort = await listening(target);
  const authority = await CertificateAuthority.create('ca');
  const { certificate, key } = await authority.issue({ dnsNames: ['localhost'] });
  const relay = fork(new URL('relay.ts', import.meta.url), [], {
    env: { ...process.env, TARGET_PORT: `${targetPort}`, KEY: key, CERTIFICATE: certificate },
    execArgv: [],
  });
  onTestFinished(() => void relay.kill());
  const [{ port }] = (await once(relay, 'message')) as [{ port: number }];
  const rssBytes = async (): Promise<number> => {
    relay.send('rss');
    const [answer] = (await once(relay, 'message')) as [{ rssBytes: number }];
    return answer.rssBytes;
  };

  const options: ConnectionOptions = { port, host: '127.0.0.1', ca: authority.certificate };
  const client = connect({ ...options, servername: 'localhost' });
  onTestFinished(() => void client.destroy());
  await once(client, 'secureConnect');
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BYTES}\r\n\r\n`);
  const head = 'HTTP/1.1 200 OK\r\n'.length;
  const writing = write(client, BYTES);
  const reading = readSlowly(client, BYTES + head);
  const over = reading.then(() => true);
  // Memory that the relay needs for any request is not growth.
  await pause(1_000);
  const before = await rssBytes();
  let most = before;
  while (!(await Promise.race([over, pause(50)]))) most = Math.max(most, await rssBytes());
  await writing;
  expect(await reading).toBeGreaterThanOrEqual(BYTES);
  expect(await uploaded).toBe(BYTES);
  expect(most - before).toBeLessThan(GROWTH_BYTES_MAX);
});
