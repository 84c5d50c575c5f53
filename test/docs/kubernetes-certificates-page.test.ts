// docs/how-to/kubernetes.md makes an authority that the control plane takes, and asks cert-manager for what the control plane makes by itself.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KUBERNETES_DEFAULTS } from '../../control-plane/kubernetes/kubernetes-section.ts';
import { identitySecretName } from '../../control-plane/kubernetes/manifests/object-names.ts';
import { serviceId } from '../../identity/spiffe-id.ts';
import { withoutOpenssl } from '../control-plane/authorities/openssl.ts';
import { GivenFolder } from '../support/certificates/given-folder.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/kubernetes.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, of]) => of === language)
    .map(([, , text]) => text!);

test.skipIf(withoutOpenssl !== undefined)(
  'its authority is one that the control plane takes',
  async () => {
    const folder = new GivenFolder();
    const block = blocks('sh').find((text) => text.startsWith('openssl req'))!;
    const command = block.slice(0, block.indexOf('\nkubectl'));
    expect(spawnSync('sh', ['-c', command], { cwd: folder.folder })).toMatchObject({ status: 0 });
    folder.nowMs += 60_000;
    const authority = await folder.open();
    expect(authority.trusted()).toBe(readFileSync(join(folder.folder, 'tls.crt'), 'utf8'));
  },
);

test('its Certificates have the names, the id and the times of what the control plane makes', () => {
  const key = { project: 'shop', service: 'cart' };
  const [cart, gateway] = blocks('yaml').filter((text) => text.includes('kind: Certificate'));
  expect(cart).toContain(`secretName: ${identitySecretName(key)}\n`);
  expect(cart).toContain(`uris: ['${serviceId('example.org', key)}']\n`);
  const hours = KUBERNETES_DEFAULTS.identityLifetimeMs / 3_600_000;
  for (const text of [cart, gateway])
    expect(text).toContain(`duration: ${hours}h\n  renewBefore: ${hours / 2}h\n`);
  expect(gateway).toContain('secretName: gateway-identity\n');
});
