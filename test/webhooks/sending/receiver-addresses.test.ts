// W10: to which addresses a delivery may go, in every spelling of a URL, and whatever name servers say.
import { expect, onTestFinished, test } from 'vitest';
import { VirtualClock } from '@svc/host/testing';
import { AttemptFailure } from '../../../webhooks/sending/attempt-error.ts';
import {
  type AdmittedReceivers,
  ReceiverAddresses,
} from '../../../webhooks/sending/receiver-addresses.ts';
import { NameServer } from '../../forward/support/name-server.ts';

const NOBODY: AdmittedReceivers = { networks: [], domains: [] };
const ZONE = {
  ttl: 0,
  srv: {},
  a: {
    'good.example': ['93.184.215.14', '1.1.1.1'],
    'private.example': ['10.0.0.1'],
    'mixed.example': ['93.184.215.14', '127.0.0.1'],
    'half.example': ['93.184.215.14'],
    'many.example': Array.from({ length: 20 }, (_, index) => `93.184.215.${index}`),
    'localhost.example': ['127.0.0.1'],
    'evilprivate.example': ['10.0.0.1'],
    'ninth.example': [
      ...Array.from({ length: 8 }, (_, index) => `93.184.215.${index}`),
      '10.0.0.1',
    ],
  },
  aaaa: {
    'half.example': ['fd00:0:0:0:0:0:0:1'],
    'ipv6.example': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
    'nat64.example': ['64:ff9b:0:0:0:0:7f00:1'],
  },
};

function addressesWith(
  admitted: AdmittedReceivers,
  nameServers: readonly string[] = ['127.0.0.1:1'],
): ReceiverAddresses {
  return new ReceiverAddresses({ admitted, addressesMax: 8, nameTimeoutMs: 100, nameServers });
}

async function nameServer(): Promise<NameServer> {
  const server = await NameServer.start(ZONE);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** Resolves with the addresses, or with the reason of the failure. */
function found(addresses: ReceiverAddresses, name: string): Promise<unknown> {
  return new Promise((resolve) => {
    addresses.lookup(name, { all: true }, (error, list) => {
      if (error === null) resolve((list as { address: string }[]).map(({ address }) => address));
      else resolve(error instanceof AttemptFailure ? error.reason : error);
    });
  });
}

test.each([
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://017700000001/',
  'http://①②⑦.0.0.1/',
  'http://127.0.0.1./',
  'http://0/',
  'http://10.0.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://user@127.0.0.1/',
  'http://93.184.215.14@127.0.0.1/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://93.184.215.14:25/',
  'https://good.example:22/',
  'http://good.example:1023/',
])('%s is blocked before anybody is asked', (url) => {
  expect(() => addressesWith(NOBODY).check(new URL(url))).toThrow(
    expect.objectContaining({ reason: 'blocked_address' }),
  );
});

test.each([
  'http://93.184.215.14/',
  'https://93.184.215.14/',
  'http://93.184.215.14:1024/',
  'http://good.example:443/',
  'https://good.example:8443/',
  'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
])('%s is not', (url) => {
  expect(() => addressesWith(NOBODY).check(new URL(url))).not.toThrow();
});

test.each([
  ['good.example', ['93.184.215.14', '1.1.1.1']],
  ['ipv6.example', ['2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
  ['private.example', 'blocked_address'],
  ['mixed.example', 'blocked_address'],
  ['ninth.example', 'blocked_address'],
  ['half.example', 'blocked_address'],
  ['nat64.example', 'blocked_address'],
  ['localhost.example', 'blocked_address'],
  ['nobody.example', 'dns'],
])('%s leads to %s', async (name, expected) => {
  const server = await nameServer();
  expect(await found(addressesWith(NOBODY, [server.address]), name)).toEqual(expected);
});

test('a connection is tried to a limited number of addresses', async () => {
  const server = await nameServer();
  expect(await found(addressesWith(NOBODY, [server.address]), 'many.example')).toHaveLength(8);
});

test.each(['silent', 'failing'] as const)(
  'a name server that is %s leads to nobody',
  async (fault) => {
    const server = await nameServer();
    server.fault = fault;
    expect(await found(addressesWith(NOBODY, [server.address]), 'good.example')).toBe('dns');
  },
);

test.each(['localhost', 'api.localhost'])('%s is this machine, and blocked', async (name) => {
  const server = await nameServer();
  expect(await found(addressesWith(NOBODY, [server.address]), name)).toBe('blocked_address');
  expect(server.asked).toEqual([]);
});

test('an operator admits networks', async () => {
  const server = await nameServer();
  const addresses = addressesWith({ networks: ['10.0.0.0/8', 'fd00::/8'], domains: [] }, [
    server.address,
  ]);
  expect(await found(addresses, 'private.example')).toEqual(['10.0.0.1']);
  expect(await found(addresses, 'half.example')).toEqual(['93.184.215.14', 'fd00::1']);
  expect(await found(addresses, 'mixed.example')).toBe('blocked_address');
  expect(() => addresses.check(new URL('http://10.1.2.3/'))).not.toThrow();
  expect(() => addresses.check(new URL('http://11.1.2.3:25/'))).toThrow(AttemptFailure);
});

test.each(['10.0.0.0', '10.0.0.0/', '/8', 'example.com/8', '10.0.0.0/8/9'])(
  '%s is no network, rather than all of them',
  (network) => {
    expect(() => addressesWith({ networks: [network], domains: [] })).toThrow('is no network');
  },
);

test.each(['', '.example', 'example.'])('"%s" is no domain', (domain) => {
  expect(() => addressesWith({ networks: [], domains: [domain] })).toThrow('is no domain');
});

test('who admits the loopback of IPv4 alone is sent there by localhost', async () => {
  const addresses = addressesWith({ networks: ['127.0.0.0/8'], domains: [] });
  expect(await found(addresses, 'localhost')).toEqual(['127.0.0.1']);
});

test('an operator admits the names of a domain, with any address', async () => {
  const server = await nameServer();
  const addresses = addressesWith({ networks: [], domains: ['private.example', 'LOCALHOST'] }, [
    server.address,
  ]);
  expect(await found(addresses, 'private.example')).toEqual(['10.0.0.1']);
  expect(await found(addresses, 'shop.localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await found(addresses, 'localhost.example')).toBe('blocked_address');
  expect(await found(addresses, 'evilprivate.example')).toBe('blocked_address');
  expect(() => addresses.check(new URL('http://127.0.0.1/'))).toThrow(AttemptFailure);
});

test('the addresses of this machine are blocked although they are public, unless they are admitted', async () => {
  const server = await nameServer();
  const options = {
    addressesMax: 8,
    nameTimeoutMs: 100,
    nameServers: [server.address],
    machineAddresses: () => ['1.1.1.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  };
  const strict = new ReceiverAddresses({ ...options, admitted: NOBODY });
  for (const url of ['http://1.1.1.1/', 'http://[::ffff:1.1.1.1]/'])
    expect(() => strict.check(new URL(url))).toThrow(AttemptFailure);
  expect(await found(strict, 'good.example')).toBe('blocked_address');
  expect(await found(strict, 'ipv6.example')).toBe('blocked_address');
  expect(await found(strict, 'many.example')).toHaveLength(8);
  const admitted = { networks: ['1.1.1.1/32'], domains: [] };
  const open = new ReceiverAddresses({ ...options, admitted });
  expect(await found(open, 'good.example')).toEqual(['93.184.215.14', '1.1.1.1']);
});

test('a name whose other family is not answered goes to the addresses that are known', async () => {
  const clock = new VirtualClock();
  const answers = { four: ['93.184.215.14'], six: ['fd00::1'] };
  let lateMs = 499;
  const addresses = new ReceiverAddresses({
    admitted: NOBODY,
    addressesMax: 8,
    nameTimeoutMs: 100,
    clock,
    resolver: {
      cancel: () => undefined,
      resolve4: () => Promise.resolve(answers.four),
      resolve6: () =>
        new Promise((resolve) => void clock.after(lateMs, () => resolve(answers.six))),
    },
  });
  const intime = found(addresses, 'a.example');
  await clock.advance(1_000);
  expect(await intime).toBe('blocked_address');
  lateMs = 501;
  const late = found(addresses, 'a.example');
  await clock.advance(500);
  expect(await late).toEqual(['93.184.215.14']);
  await clock.advance(1_000);
  expect(clock.waiting).toBe(0);
});
