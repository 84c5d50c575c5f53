// Nodes of a service of which one has TLS and the other one does not, as processes with two shards.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { mountCertificates } from '../support/certificates/certificate-files.ts';
import {
  COUNTERS,
  gatewayTo,
  identifiedSettings,
} from '../support/certificates/identified-nodes.ts';
import { identifiedClusters, SOON } from '../support/certificates/identified-clusters.ts';
import { ca, CART, otherCa, textsOf } from '../support/certificates/test-identities.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const clusterOfCart = identifiedClusters();

test('a node without TLS and one with TLS do not reach each other, and both say why', async () => {
  const cluster = await clusterOfCart();
  const folder = temporaryFolder();
  mountCertificates(folder, await textsOf(CART, ca, [ca, otherCa]));
  const nodes = await Promise.all(
    [true, false].map((hasTls) =>
      cluster.start(String(hasTls), identifiedSettings(folder, hasTls)),
    ),
  );
  const silent = connect(nodes[0]!.remotingPort, '127.0.0.1');
  onTestFinished(() => void silent.destroy());
  const ended = once(silent, 'close');
  const reason = /SVC_REMOTING_FAILED.*svc\.remoting\.tls has to be the same in all nodes/;
  await Promise.all(nodes.map(({ svc }) => svc.logged(reason)));
  await expect.poll(async () => (await cluster.shares()).at(-1), SOON).toBeGreaterThan(400);
  const ask = await gatewayTo();
  const answers = async () =>
    new Set(await Promise.all(COUNTERS.map((id) => ask(nodes[0]!.url, id))));
  await expect.poll(answers, SOON).toEqual(new Set([200, 503]));

  // A stranger that says nothing is ended after five seconds.
  await ended;
  await nodes[0]!.svc.logged(/SVC_REMOTING_FAILED.*does not introduce itself/);
}, 60_000);
