// PassedRequest: a request through the proxy of a pod, taken and answered at its process.
import { expect } from 'vitest';
import type { RawPeer } from '../../forward/support/raw-peer.ts';
import type { WebPod } from './web-pod.ts';

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
