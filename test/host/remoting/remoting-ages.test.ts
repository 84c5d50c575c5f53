// Connections of nodes with mutual TLS have an age: they are made again, so that both sides are verified again, and end otherwise.
import { expect, test } from 'vitest';
import {
  type RemotingAges,
  RemotingTls,
  type SecureConnectResult,
} from '../../../host/remoting/remoting-tls.ts';
import type { NodeService } from '../../../host/remoting/remoting-server.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import {
  ca,
  CART,
  generationsOf,
  otherCa,
  RULES,
  textsOf,
} from '../../support/certificates/test-identities.ts';
import {
  callOf,
  outcomeOf,
  remotePair,
  reply,
  servingNode,
  until,
} from '../../support/remoting/remote-pair.ts';

const HOUR_MS = 3_600_000;
const agesOf = (ageMs: number, formerMsMax: number): RemotingAges => ({
  connection: { ageMs, spread: 0 },
  formerMsMax,
});
const NEVER = agesOf(HOUR_MS, HOUR_MS);

test('a connection is made again at its age, and no call is lost', async () => {
  const answers: (() => void)[] = [];
  const serve: NodeService['serve'] = ([, name]) =>
    name === 'waits'
      ? new Promise((resolve) => {
          answers.push(() => resolve(reply('"late"')));
        })
      : reply(`"${name}"`);
  const source = generationsOf(await textsOf(CART));
  const { serving, calling, peer } = await remotePair({
    servingTls: new RemotingTls(source, RULES, NEVER),
    callingTls: new RemotingTls(source, RULES, agesOf(300, HOUR_MS)),
    service: { serve },
  });
  const late = outcomeOf(() => peer.call(callOf('waits')));
  await until('the call', () => answers.length === 1);
  await until('another connection', () => calling.nodes.peer(1) !== peer);
  expect(await outcomeOf(() => calling.nodes.peer(1)!.call(callOf('add')))).toEqual(reply('"add"'));
  answers[0]!();
  expect(await late).toEqual(reply('"late"'));
  const warnings = [...serving.log, ...calling.log].filter(({ level }) => level !== 'info');
  expect(warnings).toEqual([]);
});

test('a node ends a connection of another one that is not made again', async () => {
  const source = generationsOf(await textsOf(CART));
  const { serving, calling, peer } = await remotePair({
    servingTls: new RemotingTls(source, RULES, agesOf(100, 100)),
    callingTls: new RemotingTls(source, RULES, NEVER),
  });
  await until('the end', () => calling.nodes.peer(1) !== peer);
  expect(serving.log[0]?.fields?.['reason']).toBe('the other side was verified too long ago');
});

test.each([
  ['its age', agesOf(200, 200), false],
  ['the removal of an authority', agesOf(HOUR_MS, 200), true],
])(
  'a node ends its own connection after %s if no other one can be made',
  async (_, ages, removes) => {
    const callers = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
    const servers = generationsOf(await textsOf(CART, otherCa, [ca, otherCa]));
    const distrusting = await textsOf(CART, ca, [ca]);
    const third = await CertificateAuthority.create('third');
    const distrusted = await textsOf(CART, third, [ca, otherCa]);
    const { calling, peer } = await remotePair({
      servingTls: new RemotingTls(servers, RULES, NEVER),
      callingTls: new RemotingTls(callers, RULES, ages),
    });
    // From now on the server shows a certificate that the caller does not trust.
    if (removes) callers.offer(distrusting, Date.now());
    else servers.offer(distrusted, Date.now());
    expect(calling.nodes.peer(1)).toBe(peer);
    await until('the end', () => calling.nodes.peer(1) === undefined);
    expect(calling.nodes.unreachable).toEqual([1]);
    expect(await outcomeOf(() => peer.call(callOf('add')))).not.toEqual(reply('"add"'));
  },
);

test('a connection whose handshake began before an authority was removed is not used', async () => {
  const callers = generationsOf(await textsOf(CART, ca, [ca, otherCa]));
  const servers = generationsOf(await textsOf(CART, otherCa, [ca, otherCa]));
  const { port } = await servingNode({ servingTls: new RemotingTls(servers, RULES, NEVER) });
  const renewed = await textsOf(CART, ca, [ca]);
  const result = new Promise<SecureConnectResult>((resolve) => {
    new RemotingTls(callers, RULES, NEVER).connect({ host: '127.0.0.1', port }, resolve);
  });
  callers.offer(renewed, Date.now());
  expect(await result).toEqual({
    problem: 'was verified before a certificate authority was removed',
  });
});
