// RequestBody: the body of a request, which may be refused before it has arrived as a whole.
//
// Invariants
// - The sender gets the answer. A connection that is closed while bytes arrive would lose it, so the rest is read and dropped, for a
//   limited time.
// - The request is not destroyed by a refusal, so that it is not taken for one that its sender has cut off.
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';

/** Time for which the rest of a refused body is read, in milliseconds. */
const REST_TIMEOUT_MS = 2000;

/** Passes the body on. Rejects with the error of `read`, and with that of the connection. */
export async function readBody<Value>(
  body: IncomingMessage,
  read: (chunks: AsyncIterable<Uint8Array>) => Promise<Value>,
): Promise<Value> {
  try {
    return await read(body.iterator({ destroyOnReturn: false }));
  } catch (error) {
    body.resume();
    await finished(body, { signal: AbortSignal.timeout(REST_TIMEOUT_MS) }).catch(() => {});
    throw error;
  }
}
