// Finding services by DNS: against a name server on loopback, and against a stand-in for what a name server seldom does.
import { describe, expect, test } from 'vitest';
import { DNS_FINDER_LIMITS, DnsFinder } from '../../forward/dns-finder.ts';
import { SystemResolver, type DnsResolver } from '../../forward/dns-resolver.ts';
import { NameServer, type Zone } from './support/name-server.ts';

const CART = 'cart.svc-shop.svc.cluster.local';
const ZONE: Zone = {
  srv: {
    [`_http._tcp.${CART}`]: [
      [0, 50, 9000, `a.${CART}`],
      [0, 50, 9000, `b.${CART}`],
    ],
    '_http._tcp.ledger.svc-bank.svc.cluster.local': [
      [0, 100, 443, 'ledger.svc-bank.svc.cluster.local'],
    ],
    '_http._tcp.empty.svc-shop.svc.cluster.local': [[0, 1, 9000, 'nowhere.example']],
  },
  a: {
    [`a.${CART}`]: ['127.0.0.2'],
    [`b.${CART}`]: ['127.0.0.3', '127.0.0.4'],
    'ledger.svc-bank.svc.cluster.local': ['127.0.0.5'],
  },
  ttl: 5,
};

/** A finder whose clock the test sets, and the failures that it has reported. */
function finderFor(resolver: DnsResolver, limits: Partial<typeof DNS_FINDER_LIMITS> = {}) {
  const clock = { ms: 0 };
  const failures: string[] = [];
  const finder = new DnsFinder({
    resolver,
    project: 'shop',
    limits: { ...DNS_FINDER_LIMITS, ...limits },
    now: () => clock.ms,
    random: () => 0.5,
    onFailure: ({ project, service }, reason) => failures.push(`${project}/${service} ${reason}`),
  });
  return { finder, clock, failures };
}

const cart = { service: 'cart', project: undefined };

describe('a name server', () => {
  test('gives the instances of a service with their ports', async () => {
    await using server = await NameServer.start(ZONE);
    const resolver = new SystemResolver({ timeoutMs: 2000, tries: 2, servers: [server.address] });
    const { finder } = finderFor(resolver);
    const found = await finder.find(cart);
    expect(found).toMatchObject({ kind: 'found', authority: `${CART}:9000` });
    expect(found.kind === 'found' && found.addresses.map(({ host }) => host).toSorted()).toEqual([
      '127.0.0.2',
      '127.0.0.3',
      '127.0.0.4',
    ]);
    expect(await finder.find({ service: 'ledger', project: 'bank' })).toEqual({
      kind: 'found',
      authority: 'ledger.svc-bank.svc.cluster.local',
      addresses: [{ host: '127.0.0.5', port: 443 }],
    });
    finder.close();
  });

  test('that knows no such service, or no address of it, finds nothing', async () => {
    await using server = await NameServer.start(ZONE);
    const resolver = new SystemResolver({ timeoutMs: 2000, tries: 2, servers: [server.address] });
    const { finder, failures } = finderFor(resolver);
    expect(await finder.find({ service: 'none', project: undefined })).toEqual({
      kind: 'not-found',
      reason: 'it has no port http in DNS',
    });
    expect(await finder.find({ service: 'empty', project: undefined })).toEqual({
      kind: 'not-found',
      reason: 'none of its instances has an address',
    });
    expect(failures).toEqual([]);
    finder.close();
  });

  test('is asked once for many requests, and again after the TTL', async () => {
    await using server = await NameServer.start(ZONE);
    const resolver = new SystemResolver({ timeoutMs: 2000, tries: 2, servers: [server.address] });
    const { finder, clock } = finderFor(resolver);
    const questions = () => server.asked.filter((name) => name.startsWith('_http')).length;
    await Promise.all(Array.from({ length: 50 }, async () => finder.find(cart)));
    clock.ms = 4999;
    await finder.find(cart);
    expect(questions()).toBe(1);
    server.zone = { ...ZONE, a: { ...ZONE.a, [`a.${CART}`]: ['127.0.0.9'] } };
    clock.ms = 5000;
    expect(await finder.find(cart)).toMatchObject({
      addresses: expect.arrayContaining([{ host: '127.0.0.9', port: 9000 }]) as unknown,
    });
    expect(questions()).toBe(2);
    finder.close();
  });

  test('that fails is reported, and the last answer is used for a while', async () => {
    await using server = await NameServer.start(ZONE);
    const resolver = new SystemResolver({ timeoutMs: 2000, tries: 1, servers: [server.address] });
    const { finder, clock, failures } = finderFor(resolver, { staleMsMax: 60_000 });
    await finder.find(cart);
    server.fault = 'failing';
    clock.ms = 10_000;
    expect(await finder.find(cart)).toMatchObject({ kind: 'found' });
    expect(failures).toEqual(['shop/cart ESERVFAIL']);
    clock.ms = 70_000;
    expect(await finder.find(cart)).toMatchObject({
      kind: 'not-found',
      reason: 'the name server failed (ESERVFAIL)',
    });
    server.fault = 'none';
    clock.ms = 72_000;
    expect(await finder.find(cart)).toMatchObject({ kind: 'found' });
    finder.close();
  });

  test('that does not answer fails within the time for it', async () => {
    await using server = await NameServer.start(ZONE);
    server.fault = 'silent';
    const resolver = new SystemResolver({ timeoutMs: 50, tries: 1, servers: [server.address] });
    const { finder, failures } = finderFor(resolver);
    expect(await finder.find(cart)).toMatchObject({ kind: 'not-found' });
    expect(failures).toEqual([expect.stringMatching(/^shop\/cart (?:ETIMEOUT|ECONNREFUSED)$/)]);
    finder.close();
  });
});

/** Answers every question with the same address, and counts the services asked for. */
class ManyServices implements DnsResolver {
  asked = 0;
  readonly ttl: number;

  constructor(ttl: number) {
    this.ttl = ttl;
  }

  async services(name: string) {
    this.asked += 1;
    return Promise.resolve([{ name, port: 9000, priority: 0, weight: 0 }]);
  }

  async addresses() {
    return Promise.resolve([{ address: '127.0.0.1', ttl: this.ttl }]);
  }

  cancel() {}
}

/** A record of the service with a weight of 1. */
const record = (priority: number, name: string, port = 9000) => ({
  name,
  port,
  priority,
  weight: 1,
});

describe('what a finder remembers', () => {
  test.each([
    [0, 1000],
    [10, 10_000],
    [4_000_000, 30_000],
  ])('with a TTL of %d seconds lasts for %d ms', async (ttl, ms) => {
    const resolver = new ManyServices(ttl);
    const { finder, clock } = finderFor(resolver);
    await finder.find(cart);
    clock.ms = ms - 1;
    await finder.find(cart);
    expect(resolver.asked).toBe(1);
    clock.ms = ms;
    await finder.find(cart);
    expect(resolver.asked).toBe(2);
  });

  test('has a limited number of services', async () => {
    const resolver = new ManyServices(10);
    const { finder } = finderFor(resolver, { servicesMax: 10 });
    for (let index = 0; index < 50; index++)
      await finder.find({ service: `a${index}`, project: undefined });
    await finder.find({ service: 'a49', project: undefined });
    expect(resolver.asked).toBe(50);
    await finder.find({ service: 'a0', project: undefined });
    expect(resolver.asked).toBe(51);
  });

  test('comes of a limited number of lookups at the same time', async () => {
    const { promise, resolve } = Promise.withResolvers<never[]>();
    const { finder } = finderFor(
      { services: async () => promise, addresses: async () => promise, cancel: () => {} },
      { lookupsMax: 2 },
    );
    const waiting = ['a', 'b'].map(async (service) => finder.find({ service, project: undefined }));
    expect(await finder.find({ service: 'c', project: undefined })).toMatchObject({
      reason: 'too many lookups at the same time',
    });
    resolve([]);
    await Promise.all(waiting);
    expect(await finder.find({ service: 'c', project: undefined })).toMatchObject({
      reason: 'it has no port http in DNS',
    });
  });

  test('is used while there are too many lookups, but not for longer than while a name server fails', async () => {
    const { promise, resolve } = Promise.withResolvers<never[]>();
    const many = new ManyServices(10);
    const { finder, clock } = finderFor(
      {
        services: async (name) => (name.includes('slow') ? promise : many.services(name)),
        addresses: async () => many.addresses(),
        cancel: () => {},
      },
      { lookupsMax: 1, staleMsMax: 60_000 },
    );
    await finder.find(cart);
    const slow = finder.find({ service: 'slow', project: undefined });
    clock.ms = 59_999;
    expect(await finder.find(cart)).toMatchObject({ kind: 'found' });
    clock.ms = 60_000;
    expect(await finder.find(cart)).toEqual({
      kind: 'not-found',
      reason: 'too many lookups at the same time',
    });
    resolve([]);
    await slow;
    expect(await finder.find(cart)).toMatchObject({ kind: 'found' });
  });

  test('is in the order of the priorities, and has no record without a port or a name', async () => {
    const { finder } = finderFor({
      services: async () =>
        Promise.resolve([record(2, 'c'), record(0, 'a', 0), record(1, 'b'), record(0, '')]),
      addresses: async (name) => Promise.resolve([{ address: `127.0.0.${name}`, ttl: 1 }]),
      cancel: () => {},
    });
    expect(await finder.find(cart)).toMatchObject({
      addresses: [{ host: '127.0.0.b' }, { host: '127.0.0.c' }],
    });
  });
});
