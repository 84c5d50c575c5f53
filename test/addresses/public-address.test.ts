// Which addresses are of the internet: every network of IANA's special-purpose registries at both of its ends, and the addresses of IPv6
// that stand for one of IPv4.
import { expect, test } from 'vitest';
import { isPublicAddress } from '../../addresses/public-address.ts';

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.215.14',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
  '3ffe::1',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.0',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.170',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.168.0.0',
  '192.168.255.255',
  '192.175.48.1',
  '198.18.0.0',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::8.8.8.8',
  '::ffff:8.8.8.8',
  '::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::8.8.8.8',
  '100::1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:20::1',
  '2001:1ff:ffff::1',
  '2001:db8::1',
  '2002:808:808::',
  '2620:4f:8000::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fdff:ffff::1',
  'fe80::1',
  'fe80::1%lo',
  '2606:2800::1%lo',
  'fec0::1',
  'ff02::1',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['', 'localhost', '[2606:2800::1]', '8.8.8', '8.8.8.8:80', '0x8.8.8.8', '08.8.8.8'])(
  '"%s" is no address, and not public',
  (text) => {
    expect(isPublicAddress(text)).toBe(false);
  },
);
