// PassedRequest: a request through the proxy of a pod, taken at its process, and answered there.
import { expect } from 'vitest';
import type { RawPeer } from '../../forward/support/raw-peer.ts';
import { GATEWAY_ID, type WebPod } from './web-pod.ts';

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Takes the request that arrives at the process, answers it, and returns its lines. */
export async function received(pod: WebPod, response = OK): Promise<readonly string[]> {
  const process = await pod.process.next();
  const lines = await process.head();
  process.write(response);
  // The next request gets a connection of its own.
  process.socket.end();
  return lines;
}

/** Sends a request, and returns what the process of the pod received; the client has its response. */
export async function passed(
  client: RawPeer,
  lines: readonly string[],
  to: WebPod,
): Promise<readonly string[]> {
  client.write(`${lines.join('\r\n')}\r\n\r\n`);
  const seen = await received(to);
  expect((await client.message()).lines).toEqual(['HTTP/1.1 200 OK', 'Content-Length: 2']);
  return seen;
}

/** Sends a request on a connection of its own. Returns the client, and the process once it has the head. */
export async function begin(pod: WebPod, request: string): Promise<readonly [RawPeer, RawPeer]> {
  const client = await pod.connectAs(GATEWAY_ID);
  client.write(request);
  const process = await pod.process.next();
  await process.head();
  return [client, process];
}

export function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
}

export function responseOf(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
