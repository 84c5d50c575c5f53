// svc image push: which images it sends, with whose credentials, and what it says.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { registryOf } from '../../cli/platform/registry-access.ts';
import { writeLayoutArchive } from '../../oci/image-files.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { FakeRegistry } from '../oci/support/fake-registry.ts';
import { TINY_MODULE } from '../oci/support/test-image.ts';
import { runCommand } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });

async function archive(): Promise<string> {
  const file = join(temporaryFolder(), 'cart.tar');
  await writeLayoutArchive(image, 'latest', file);
  return file;
}

test('svc image push sends an image and prints its name with its digest', async () => {
  const registry = await FakeRegistry.start();
  const file = await archive();
  const name = `${registry.host}/shop/cart@${image.root.digest}`;
  const pushed = await runCommand(['image', 'push', file, `${registry.host}/shop/cart:4`]);
  expect(pushed).toEqual({ code: 0, stdout: `${name}\n`, stderr: '' });
  expect(registry.manifests.has('4')).toBe(true);
  const words = ['image', 'push', file, `${registry.host}/shop/cart:5`, '-o', 'json'];
  expect(JSON.parse((await runCommand(words)).stdout)).toEqual({ image: name, sentBytes: 0 });
});

test.each([
  ['a layout as the target', 'oci:images/cart', 'SVC_IMAGE_REFERENCE_INVALID'],
  ['a name that is none', 'https://a.b/c', 'SVC_IMAGE_REFERENCE_INVALID'],
])('svc image push refuses %s', async (_what, target, code) => {
  const { code: exit, stderr } = await runCommand(['image', 'push', await archive(), target]);
  expect(exit).toBe(1);
  expect(stderr).toContain(`[${code}]`);
});

test('svc image push sends nothing of a damaged image', async () => {
  const registry = await FakeRegistry.start();
  const file = join(temporaryFolder(), 'cart.tar');
  writeFileSync(file, 'no archive');
  const { code, stderr } = await runCommand(['image', 'push', file, `${registry.host}/a/b:4`]);
  expect(code).toBe(1);
  expect(stderr).toContain('[SVC_IMAGE_LAYER_DAMAGED]');
  expect(registry.requests).toEqual([]);
});

test('svc image push says what a registry refuses', async () => {
  const registry = await FakeRegistry.start();
  registry.intercept = (_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="a"' }).end();
    return true;
  };
  const { code, stderr } = await runCommand([
    'image',
    'push',
    await archive(),
    `${registry.host}/shop/cart:4`,
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('[SVC_REGISTRY_REFUSED]');
  expect(stderr).toContain('shop/cart');
});

test('the registry of an installation is where its control plane says by its name', () => {
  expect(registryOf('https://api.svc.localhost:8443')).toBe('registry.svc.localhost:8443');
  expect(registryOf('https://api.example.com')).toBe('registry.example.com');
  expect(registryOf('http://127.0.0.1:7640')).toBeUndefined();
});
