// The hostname of a request in the form in which hostnames are compared.
import { expect, test } from 'vitest';
import { publicAuthority, requestedHost, serverName } from '../../gateway/requested-host.ts';

test.each([
  ['cart.svc.test', 'cart.svc.test'],
  ['CART.svc.Test:8443', 'cart.svc.test'],
  ['cart.svc.test.', 'cart.svc.test'],
  ['cart.svc.test.:443', 'cart.svc.test'],
  ['cart.svc.test:', 'cart.svc.test'],
  ['127.0.0.1', '127.0.0.1'],
  ['', undefined],
  ['.', undefined],
  ['..', undefined],
  ['cart..test', undefined],
  ['cart.svc.test..', undefined],
  ['user@cart.svc.test', undefined],
  ['[::1]', undefined],
  ['cart.svc.test:12:13', undefined],
  ['cart.svc.test:port', undefined],
  ['*.svc.test', undefined],
  ['cart%2esvc.test', undefined],
])('%j is %j', (authority, hostname) => {
  expect(requestedHost(authority)).toBe(hostname);
});

test('a server name is compared in the same form, and one that was not sent is none', () => {
  expect(['Cart.Test', 'cart.test.'].map(serverName)).toEqual(['cart.test', 'cart.test']);
  expect([false, null, undefined, ''].map((name) => serverName(name as false))).toEqual(
    Array.from({ length: 4 }),
  );
});

test('the port of URLs is left out if it is the one of https', () => {
  expect(publicAuthority('a.test', 443)).toBe('a.test');
  expect(publicAuthority('a.test', 8443)).toBe('a.test:8443');
});
