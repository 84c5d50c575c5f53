// Which addresses a registry may have.
import { expect, test } from 'vitest';
import { checkedLookup } from '../../oci/registry-address.ts';

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
