// SlowBodies: a request and its response through the real proxy and TLS, both with large bodies at the same time, to readers that
// take a limited number of bytes each second. Whoever writes does so as fast as it may.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { residentBytes } from './resident-memory.ts';
import { GATEWAY_ID, WebPod } from './web-pod.ts';

const PATTERN_BYTES = 64 * 1024;
/** Not a power of two, so that no buffer's size hides bytes that are lost. */
const PATTERN = Buffer.alloc(
  2 * PATTERN_BYTES,
  Buffer.from(Array.from({ length: 251 }, (_, byte) => byte)),
);
const PERIOD = 251;
/** Bytes that a reader may take at once. */
const PORTION_BYTES = 64 * 1024;
const LOOK_MS = 250;

export interface SlowBodiesOptions {
  /** An empty folder for the files of the pod. */
  readonly folder: string;
  /** Bytes of each of the two bodies. */
  readonly bytes: number;
  /** Bytes that each reader takes per second. */
  readonly bytesPerSecond: number;
  /** Bytes of each body after which the memory is measured for the first time. Default: as soon as both have begun. */
  readonly settledBytes?: number;
  readonly onProgress?: (measured: SlowBodiesMeasured) => void;
}

export interface SlowBodiesMeasured {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Memory of the proxy when it was measured first, and the most since. */
  readonly beginRssBytes: number;
  readonly mostRssBytes: number;
}

/** Resolves once both bodies have arrived as they were sent; rejects if they have not. */
export async function slowBodies(options: SlowBodiesOptions): Promise<SlowBodiesMeasured> {
  const { folder, bytes, bytesPerSecond, settledBytes = PORTION_BYTES, onProgress } = options;
  await using stack = new AsyncDisposableStack();
  const counts = { sent: 0, received: 0 };
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  // Without a limit of the time for a whole request.
  const server = createServer({ requestTimeout: 0 }, (incoming, response) => {
    response.writeHead(200, { 'Content-Length': bytes });
    const reading = readAll(incoming, bytesPerSecond, (count) => (counts.sent = count));
    // A response that ends before its request ends the connection, and the upload with it.
    Promise.all([reading, write(response, bytes - 1)])
      .then(() => response.end(PATTERN.subarray((bytes - 1) % PERIOD, ((bytes - 1) % PERIOD) + 1)))
      .catch(failed.reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });

  const authority = await CertificateAuthority.create('ca');
  const processPort = (server.address() as AddressInfo).port;
  const pod = await WebPod.start({ authority, folder, processPort });
  stack.defer(() => pod.end());
  const { certificate: cert, key } = await authority.issue({ uris: [GATEWAY_ID] });
  const sending = request({
    host: '127.0.0.1',
    port: pod.servicePort,
    method: 'POST',
    headers: { 'Content-Length': bytes },
    ca: authority.certificate,
    cert,
    key,
    checkServerIdentity: () => undefined,
  });
  // An error of the connection reaches whoever waits for the request or its response, if anybody still does.
  sending.on('error', () => undefined);
  stack.defer(() => void sending.destroy());
  sending.flushHeaders();
  const [response] = (await Promise.race([once(sending, 'response'), failed.promise])) as [
    IncomingMessage,
  ];
  const transfers = Promise.all([
    write(sending, bytes).then(() => sending.end()),
    readAll(response, bytesPerSecond, (count) => (counts.received = count)),
  ]);
  const over = Promise.race([transfers, failed.promise]).then(() => true);
  over.catch(() => undefined);
  const pid = pod.svc.child.pid!;
  // Memory that any request needs is not growth.
  while (Math.min(counts.received, counts.sent) < settledBytes)
    if (await Promise.race([over, sleep(LOOK_MS, false)])) break;
  const beginRssBytes = residentBytes(pid);
  let mostRssBytes = beginRssBytes;
  const measured = (): SlowBodiesMeasured => ({
    sentBytes: counts.sent,
    receivedBytes: counts.received,
    beginRssBytes,
    mostRssBytes,
  });
  while (!(await Promise.race([over, sleep(LOOK_MS, false)]))) {
    mostRssBytes = Math.max(mostRssBytes, residentBytes(pid));
    onProgress?.(measured());
  }
  if (counts.sent !== bytes || counts.received !== bytes)
    throw new Error(`of ${bytes} bytes, ${counts.sent} and ${counts.received} have arrived`);
  return measured();
}

/** Writes the first bytes of an endless pattern. */
async function write(stream: Writable, bytes: number): Promise<void> {
  for (let written = 0; written < bytes;) {
    const from = written % PERIOD;
    const chunk = PATTERN.subarray(from, from + Math.min(PATTERN_BYTES, bytes - written));
    written += chunk.length;
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
}

/** Reads a body and compares it with the pattern. Reports how many bytes have been read. */
async function readAll(
  stream: Readable,
  bytesPerSecond: number,
  onRead: (bytes: number) => void,
): Promise<void> {
  const beganMs = performance.now();
  let [read, portion] = [0, 0];
  for await (const piece of stream) {
    const chunk = piece as Buffer;
    const from = read % PERIOD;
    if (!chunk.equals(PATTERN.subarray(from, from + chunk.length)))
      throw new Error(`the bytes from ${read} on are others than were sent`);
    read += chunk.length;
    portion += chunk.length;
    onRead(read);
    if (portion < PORTION_BYTES) continue;
    portion = 0;
    const dueMs = beganMs + (read / bytesPerSecond) * 1000;
    await sleep(Math.max(0, dueMs - performance.now()));
  }
}
