// CallerAddress: which address a request counts to, and what nobody can make of it by a header.
import { describe, expect, test } from 'vitest';
import { FieldList } from '@svc/http1';
import { GATEWAY, INTERNET, LOCAL } from '../../../host/http/access.ts';
import { callerAddress, networkOf } from '../../../host/http/caller-address.ts';

const forwarded = (...values: readonly string[]) =>
  new FieldList(values.flatMap((value) => ['X-Forwarded-For', value]));
const NONE = forwarded();

describe('the address of a request is', () => {
  test('that of its connection, whatever a header says', () => {
    const fields = forwarded('203.0.113.9');
    expect(callerAddress(INTERNET, fields, '198.51.100.7', false)).toBe('198.51.100.7');
    expect(callerAddress(LOCAL, fields, '127.0.0.1', false)).toBe('127.0.0.1');
    expect(callerAddress(LOCAL, fields, '127.0.0.1', true)).toBe('127.0.0.1');
  });

  test('behind the gateway what the gateway has appended, not what the client has sent', () => {
    const fields = forwarded('10.0.0.1, 10.0.0.2', '10.0.0.3,  203.0.113.9 ');
    for (const caller of [INTERNET, GATEWAY])
      expect(callerAddress(caller, fields, '10.9.9.9', true)).toBe('203.0.113.9');
  });

  test('unknown where nothing says it', () => {
    expect(callerAddress(INTERNET, NONE, '10.9.9.9', true)).toBe('unknown');
    expect(callerAddress(INTERNET, forwarded('_hidden'), '10.9.9.9', true)).toBe('unknown');
    expect(callerAddress(INTERNET, NONE, undefined, false)).toBe('unknown');
  });

  test('the name of a service of the installation', () => {
    const billing = { kind: 'service', project: 'shop', service: 'billing' } as const;
    expect(callerAddress(billing, forwarded('203.0.113.9'), '10.9.9.9', true)).toBe(
      'service shop/billing',
    );
  });
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::FFFF:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', 'unknown'],
  ['203.0.113.9:80', 'unknown'],
  ['x'.repeat(10_000), 'unknown'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
