// Nodes of a service that call each other with mutual TLS, as processes with two shards.
import { connect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { type CertificateTexts, contextOptions } from '../../identity/certificates.ts';
import { mountCertificates } from '../support/certificates/certificate-files.ts';
import { ca, CART, ORDERS, otherCa, textsOf } from '../support/certificates/test-identities.ts';
import {
  COUNTERS,
  gatewayTo,
  identifiedSettings,
} from '../support/certificates/identified-nodes.ts';
import { identifiedClusters, SOON } from '../support/certificates/identified-clusters.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const clusterOfCart = identifiedClusters();

/** Resolves once a port has disconnected a client with these certificates, with the bytes and the certificate that it has shown. */
async function disconnected(port: number, texts: CertificateTexts) {
  let received = '';
  let leaf = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  const options = { ...contextOptions(texts), checkServerIdentity: () => undefined };
  const socket = connect({ port, host: '127.0.0.1', ...options }, () => {
    leaf = socket.getPeerX509Certificate()!.toString();
  });
  onTestFinished(() => void socket.destroy());
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  socket.on('error', () => {}).on('close', () => resolve());
  await promise;
  return { received, leaf };
}

test('nodes call each other with TLS, also with renewed certificates, and admit nobody else', async () => {
  const cluster = await clusterOfCart();
  const folder = temporaryFolder();
  const former = await textsOf(CART, ca, [ca, otherCa]);
  mountCertificates(folder, former);
  const settings = identifiedSettings(folder, true);
  const [first, second] = await Promise.all([
    cluster.start('first', settings),
    cluster.start('second', settings),
  ]);
  await expect.poll(async () => (await cluster.shares()).at(-1), SOON).toBeGreaterThan(400);
  const ask = await gatewayTo();
  const statuses = async () =>
    (
      await Promise.all([first, second].flatMap(({ url }) => COUNTERS.map((id) => ask(url, id))))
    ).filter((status) => status !== 200);
  await expect.poll(statuses, SOON).toEqual([]);
  for (const node of [first, second])
    for (const kind of ['sent', 'served'])
      await expect
        .poll(async () => {
          // What was asked before may have met a node that had just taken over what it was asked for.
          await statuses();
          return (await cluster.metrics(node)).get(`svc_cluster_calls_total{kind="${kind}"}`);
        }, SOON)
        .toBeGreaterThan(0);

  const orders = await textsOf(ORDERS, otherCa, [ca, otherCa]);
  expect(await disconnected(first.remotingPort, orders)).toEqual({
    received: '',
    leaf: former.certificate,
  });
  await first.svc.logged(new RegExp(`SVC_REMOTING_FAILED.*is ${ORDERS}, and not this service`));

  // Nothing that was trusted before is trusted any more.
  const renewed = await textsOf(CART, otherCa, [otherCa]);
  mountCertificates(folder, renewed);
  await Promise.all([first, second].map(({ svc }) => svc.logged(/New certificates are in use/)));
  for (const { remotingPort } of [first, second]) {
    const leaf = async () => (await disconnected(remotingPort, orders)).leaf;
    await expect.poll(leaf, SOON).toBe(renewed.certificate);
  }
  for (const { remoting } of [first, second]) remoting.reset();
  await expect.poll(statuses, SOON).toEqual([]);
}, 60_000);
