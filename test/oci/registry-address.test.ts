// Which addresses a registry may have.
import { expect, test } from 'vitest';
import { checkedLookup, isPublicAddress } from '../../oci/registry-address.ts';

test.each(['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.2',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  'fc00::1',
  'fe80::1%lo',
  'fe80::1',
  '2002:7f00:1::',
  '2001:db8::1',
  'no address',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

/** Resolves with the addresses, or the code of the failure. */
function resolved(hostname: string, isAllowed: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    const find = checkedLookup(hostname, () => isAllowed);
    find(hostname, { all: true }, (error, found) =>
      resolve(error === null ? found : (error as { code?: string }).code),
    );
  });
}

test('a name below localhost is this machine, and refused unless it is allowed', async () => {
  expect(await resolved('registry.svc.localhost', true)).toEqual([
    { address: '127.0.0.1', family: 4 },
  ]);
  expect(await resolved('registry.svc.localhost', false)).toBe('SVC_REGISTRY_ADDRESS_REFUSED');
});
