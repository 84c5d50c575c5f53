// checkPortFree checks that nobody listens on a port. Shards share a port through SO_REUSEPORT, and so would a second
// host that the same user starts on it: each of the two would get a part of the other's connections.
import { createServer } from 'node:net';
import { SvcError } from '@svc/kit/svc-error';
import type { Address } from './shard-messages.ts';

/** `option`: the one that chooses the port. Rejects with SVC_PORT_IN_USE. Any other reason not to listen is reported by the shard that listens. */
export async function checkPortFree({ host, port }: Address, option: string): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') return resolve();
    return reject(
      new SvcError(
        'SVC_PORT_IN_USE',
        `Port ${port} of ${host} is in use by another program. ` +
          `Stop that program, or choose another port with ${option}.`,
        { cause: error },
      ),
    );
  });
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  await promise;
}
