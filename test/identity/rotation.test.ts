// P32 in small: leaf and authority are replaced while clients ask all the time, and no request fails. Each side takes the steps of a
// rotation in order: trust both authorities, present a certificate of the new one, trust the new one alone.
import { expect, test } from 'vitest';
import { connectionTerm, hasToClose } from '../../identity/connection-age.ts';
import type { SecureConnection } from '../../identity/client-tls.ts';
import {
  ca,
  CART,
  generationsOf,
  ORDERS,
  otherCa,
  textsOf,
} from '../support/certificates/test-identities.ts';
import { answerOf, askRaw, connectTo, startServer } from './tls-harness.ts';

test('no request fails while leaf and authority are replaced, and the removed authority is refused', async () => {
  const serverSource = generationsOf(await textsOf(CART));
  const clientSource = generationsOf(await textsOf(ORDERS));
  const { port, sockets } = await startServer(serverSource);
  const rotation = new AbortController();
  let asked = 0;

  // A client keeps its connection, and leaves it when it has to close.
  const client = async (): Promise<void> => {
    let connection: SecureConnection | undefined;
    while (!rotation.signal.aborted) {
      if (connection === undefined) {
        const result = await connectTo(clientSource, port);
        if (result.kind === 'failed') throw new Error(JSON.stringify(result.failure));
        connection = result;
      }
      expect(await answerOf(connection.socket)).toContain('"service":"orders"');
      asked++;
      const term = connectionTerm(connection.generation, 0, 0);
      if (hasToClose(term, clientSource.current, 0)) {
        connection.socket.destroy();
        connection = undefined;
      }
    }
  };
  const clients = Promise.all([client(), client(), client()]);
  const someRequests = async (): Promise<void> => {
    const before = asked;
    await expect.poll(() => asked, { interval: 1 }).toBeGreaterThan(before + 10);
  };
  for (const [issuer, trusted] of [
    [ca, [ca, otherCa]],
    [otherCa, [ca, otherCa]],
    [otherCa, [otherCa]],
  ] as const)
    for (const [source, id] of [
      [serverSource, CART],
      [clientSource, ORDERS],
    ] as const) {
      await someRequests();
      expect(source.offer(await textsOf(id, issuer, trusted), Date.now())).toBeUndefined();
    }
  await someRequests();
  rotation.abort();
  await clients;

  // Each of the three clients has made a connection anew after the removal, with the new certificate.
  expect(sockets).toHaveLength(6);
  expect(serverSource.current).toMatchObject({ number: 4, authorityRemovedIn: 4 });
  const { certificate: cert, key } = await textsOf(ORDERS);
  expect(await askRaw(port, { cert, key })).toBe('closed');
});
