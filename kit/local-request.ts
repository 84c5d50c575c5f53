// LocalRequest: one request to a service of this machine. It has a deadline and accepts a response of a
// bounded size; it follows no redirect, and ignores the proxy settings of the environment.
import { Agent, request, type IncomingMessage } from 'node:http';
import type { LoopbackAddress } from './loopback-address.ts';

export interface LocalRequest {
  readonly method: string;
  /** Path with its query, percent-encoded. */
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type LocalAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: Buffer;
    }
  /**
   * No program listens at the address, the connection broke, the program does not speak HTTP or switched to another
   * protocol, or the caller aborted the request. `reason`: an error code such as ECONNREFUSED, or a message.
   */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The response was not complete at the deadline. */
  | { readonly kind: 'late' }
  /** The body is longer than ANSWER_BYTES_MAX. */
  | { readonly kind: 'too-large' };

export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export async function send(
  { host, port }: LoopbackAddress,
  { method, path, headers = [], body, deadlineMs, signal }: LocalRequest,
): Promise<LocalAnswer> {
  const { promise, resolve } = Promise.withResolvers<LocalAnswer>();
  const deadline = AbortSignal.timeout(deadlineMs);
  const failed = (error: NodeJS.ErrnoException) =>
    resolve(
      deadline.aborted
        ? { kind: 'late' }
        : { kind: 'unreachable', reason: error.code ?? error.message },
    );
  // Without the header content-length, Node sends an empty body in chunks.
  const hasLength = body !== undefined || (method !== 'GET' && method !== 'HEAD');
  // Each request has its own connection: on a connection that the service is closing, a request may be lost, or
  // executed without an answer.
  const agent = new Agent({ keepAlive: false });
  const outgoing = request({
    host,
    port,
    method,
    path,
    headers: [
      'host',
      `${host.includes(':') ? `[${host}]` : host}:${port}`,
      ...headers.flat(),
      ...(hasLength ? ['content-length', String(body?.length ?? 0)] : []),
    ],
    setHost: false,
    agent,
    signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
  });
  outgoing.on('error', failed);
  // No response follows when the peer switches to another protocol: the request would end only at its deadline.
  outgoing.on('upgrade', (_incoming, socket) => {
    socket.destroy();
    resolve({ kind: 'unreachable', reason: 'it speaks another protocol than HTTP' });
  });
  outgoing.on('response', (incoming: IncomingMessage) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on('error', failed);
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= ANSWER_BYTES_MAX) return;
      resolve({ kind: 'too-large' });
      outgoing.destroy();
    });
    incoming.on('end', () =>
      resolve({
        kind: 'answer',
        status: incoming.statusCode!,
        headers: pairsOf(incoming.rawHeaders),
        body: Buffer.concat(chunks),
      }),
    );
  });
  outgoing.end(body);
  return promise;
}

function pairsOf(raw: readonly string[]): (readonly [name: string, value: string])[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]!] as const] : []));
}
