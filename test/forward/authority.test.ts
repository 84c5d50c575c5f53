// The address of which the process is informed, and `Host`: of requests from the internet, from services, on a developer's
// machine and under another service's mount.
import { describe, expect, test } from 'vitest';
import type { Arrival, OwnService } from '../../forward/arrival.ts';
import { headForProcess } from '../../forward/forwarded-head.ts';
import { FieldList } from '../../http1/index.ts';
import {
  FROM_INTERNET,
  FROM_LOCAL,
  FROM_SERVICE,
  SHOP,
  UNDER_MOUNT,
  headOf,
} from './support/heads.ts';

/** `Host`, and the three fields of the address; those that are absent are null. */
function addressOf(
  lines: readonly string[],
  arrival: Arrival,
  own: OwnService = SHOP,
): readonly (string | null)[] {
  const fields = new FieldList(headForProcess(headOf(lines), arrival, own).fields);
  return ['host', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto'].map((name) => {
    const values = fields.all(name);
    expect(values.length).toBeLessThanOrEqual(1);
    return values[0] ?? null;
  });
}

const get = (...lines: readonly string[]) => ['GET / HTTP/1.1', ...lines];

describe('P38: a request of the internet', () => {
  test.each([
    ['shop.example.com', 'shop.example.com', '443'],
    ['shop.example.com:443', 'shop.example.com', '443'],
    ['shop.example.com:', 'shop.example.com', '443'],
    ['shop.example.com:8443', 'shop.example.com:8443', '8443'],
    ['shop.example.com:08443', 'shop.example.com:8443', '8443'],
    ['shop.example.com:80', 'shop.example.com:80', '80'],
    ['SHOP.Example.COM', 'shop.example.com', '443'],
    ['shop.example.com.', 'shop.example.com', '443'],
    ['shop.example.com.:8443', 'shop.example.com:8443', '8443'],
    ['[2001:DB8::1]', '[2001:db8::1]', '443'],
    ['[2001:db8::1]:8443', '[2001:db8::1]:8443', '8443'],
    ['192.0.2.1:8443', '192.0.2.1:8443', '8443'],
  ])('to %s has the address %s', (host, authority, port) => {
    expect(addressOf(get(`Host: ${host}`), FROM_INTERNET)).toEqual([
      authority,
      authority,
      port,
      'https',
    ]);
  });

  test('has the authority of an absolute target rather than that of Host', () => {
    const lines = ['GET https://shop.example.com/x HTTP/1.1', 'Host: evil.example'];
    expect(addressOf(lines, FROM_INTERNET)).toEqual([
      'shop.example.com',
      'shop.example.com',
      '443',
      'https',
    ]);
  });

  test('at a hostname that is none of the service is one to the derived hostname, if the service has custom ones', () => {
    const own = { ...SHOP, hostnames: ['shop.example.com'] };
    const hostOf = (host: string) => addressOf(get(`Host: ${host}`), FROM_INTERNET, own)[0];
    expect(hostOf('SHOP.example.com.:8443')).toBe('shop.example.com:8443');
    expect(hostOf('web-shop.apps.example.com')).toBe('web-shop.apps.example.com');
    for (const host of ['evil.example', 'x.shop.example.com', '[2001:db8::1]'])
      expect(hostOf(host)).toBe('web-shop.apps.example.com');
  });

  test('without a host is one to the derived hostname', () => {
    expect(addressOf(['GET / HTTP/1.0'], FROM_INTERNET)).toEqual([
      'web-shop.apps.example.com',
      'web-shop.apps.example.com',
      '443',
      'https',
    ]);
    const own = { ...SHOP, baseDomain: 'apps.localhost:8443' };
    expect(addressOf(['GET / HTTP/1.0'], FROM_INTERNET, own)).toEqual([
      'web-shop.apps.localhost:8443',
      'web-shop.apps.localhost:8443',
      '8443',
      'https',
    ]);
  });

  test.each([':8443', 'a:99999', 'a:0', 'user@a', 'a b', ''])(
    'with the malformed host %j is one to the derived hostname',
    (host) => {
      expect(addressOf(get(`Host: ${host}`), FROM_INTERNET)[0]).toBe('web-shop.apps.example.com');
    },
  );
});

describe('P37: without a base domain', () => {
  const own = { ...SHOP, baseDomain: undefined };

  test('a request of the internet has Host as it arrived, and no address, not even one that it brought', () => {
    const lines = [
      'Host: SHOP.example.com.:443',
      'X-Forwarded-Host: evil',
      'X-Forwarded-Proto: http',
    ];
    expect(addressOf(get(...lines), FROM_INTERNET, own)).toEqual([
      'SHOP.example.com.:443',
      null,
      null,
      null,
    ]);
  });

  test('a request of the internet keeps X-Forwarded-For', () => {
    const head = headOf(get('Host: a', 'X-Forwarded-For: 1.2.3.4'));
    expect(
      new FieldList(headForProcess(head, FROM_INTERNET, own).fields).all('x-forwarded-for'),
    ).toEqual(['1.2.3.4']);
  });

  test('a request of the internet without Host has that of the service', () => {
    expect(addressOf(['GET / HTTP/1.0'], FROM_INTERNET, own)).toEqual([
      'web.svc-shop.svc.cluster.local:9000',
      null,
      null,
      null,
    ]);
  });

  test('a request of a service has its address', () => {
    expect(addressOf(get('Host: a'), FROM_SERVICE, own)[1]).toBe(
      'web.svc-shop.svc.cluster.local:9000',
    );
  });
});

describe('a request of a service', () => {
  test.each(['evil.example', 'web', 'web.svc-shop.svc.cluster.local', ''])(
    'has the address within the cluster, whatever its Host says: %j',
    (host) => {
      expect(addressOf(get(`Host: ${host}`), FROM_SERVICE)).toEqual([
        'web.svc-shop.svc.cluster.local:9000',
        'web.svc-shop.svc.cluster.local:9000',
        '9000',
        'https',
      ]);
    },
  );

  test("to the scheme's own port has no port in its authority", () => {
    expect(addressOf(get('Host: a'), FROM_SERVICE, { ...SHOP, port: 443 })).toEqual([
      'web.svc-shop.svc.cluster.local',
      'web.svc-shop.svc.cluster.local',
      '443',
      'https',
    ]);
  });
});

describe("a request on a developer's machine", () => {
  const own = { service: 'web', project: undefined, port: 4321, baseDomain: undefined };

  test.each([
    ['localhost:4321', 'localhost:4321', '4321'],
    ['web.localhost', 'web.localhost', '80'],
    ['127.0.0.1:80', '127.0.0.1', '80'],
    ['', '127.0.0.1:4321', '4321'],
  ])('to %j has the address %s', (host, authority, port) => {
    expect(addressOf(get(`Host: ${host}`), FROM_LOCAL, own)).toEqual([
      authority,
      authority,
      port,
      'http',
    ]);
  });
});

describe('a request under the mount of another service', () => {
  const STATED = ['X-Forwarded-Host: shop.example.com:8443', 'X-Forwarded-Proto: https'];

  test('has the address that the proxy of that service stated', () => {
    const lines = [
      'Host: web.svc-shop.svc.cluster.local:9000',
      ...STATED,
      'X-Forwarded-Port: 8443',
    ];
    expect(addressOf(get(...lines), UNDER_MOUNT)).toEqual([
      'shop.example.com:8443',
      'shop.example.com:8443',
      '8443',
      'https',
    ]);
  });

  test('has Host as it arrived, and no address, if that proxy stated none or several', () => {
    const host = 'web.svc-shop.svc.cluster.local:9000';
    expect(addressOf(get(`Host: ${host}`), UNDER_MOUNT)).toEqual([host, null, null, null]);
    expect(addressOf(get(`Host: ${host}`, STATED[0]!, STATED[0]!), UNDER_MOUNT)).toEqual([
      host,
      null,
      null,
      null,
    ]);
  });
});
