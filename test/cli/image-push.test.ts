// svc image push: which images it sends, with whose credentials, and what it says.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { registryOf } from '../../cli/platform/registry-access.ts';
import { writeLayoutArchive } from '../../oci/image-files.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { FakeRegistry } from '../oci/support/fake-registry.ts';
import { fileEntry, layer, linkEntry } from '../oci/support/layer-entries.ts';
import { type TestLayer, TINY_MODULE, writeLayout } from '../oci/support/test-image.ts';
import { runCommand } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });

async function archive(): Promise<string> {
  const file = join(temporaryFolder(), 'cart.tar');
  await writeLayoutArchive(image, 'latest', file);
  return file;
}

/** Writes the image of a program, and returns its folder. */
function program(...layers: readonly TestLayer[]): string {
  return writeLayout(temporaryFolder(), layers, {
    config: { os: 'linux', architecture: 'arm64' },
    run: { Cmd: ['node', 'a b'] },
  });
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

describe('svc image push of the image of a program', () => {
  test('sends it, for whatever architecture it is, also from an archive', async () => {
    const registry = await FakeRegistry.start();
    const folder = program(layer(fileEntry('a', 'text'), linkEntry('b', 'a')));
    const file = join(temporaryFolder(), 'web.tar');
    execFileSync('tar', ['-C', folder, '-cf', file, '.']);
    for (const [name, tag] of [
      [folder, '1'],
      [file, '2'],
    ] as const) {
      const target = `${registry.host}/shop/web:${tag}`;
      const { code, stdout } = await runCommand(['image', 'push', name, target]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/shop\/web@sha256:[0-9a-f]{64}\n$/) as string,
      });
      expect(registry.manifests.has(tag)).toBe(true);
    }
  });

  test('shows what it is before', async () => {
    const folder = program(layer(fileEntry('a', 'text'), linkEntry('b', 'a')));
    const { stdout } = await runCommand(['image', 'inspect', folder]);
    expect(stdout).toMatch(/^image +sha256:[0-9a-f]{64}\n/);
    expect(stdout).toContain(
      "platforms  linux/arm64\ncommand    node 'a b'\nuser       root\nfolder     /\nfiles      2560 bytes\n",
    );
    const { program: found } = JSON.parse(
      (await runCommand(['image', 'inspect', folder, '-o', 'json'])).stdout,
    ) as { program: object };
    expect(found).toEqual({ command: ['node', 'a b'], user: '', workingDir: '/', bytes: 2560 });
  });

  test('sends nothing of one with a layer that was changed', async () => {
    const registry = await FakeRegistry.start();
    const folder = program({ ...layer(fileEntry('a')), unpacked: Buffer.from('other') });
    const { code, stderr } = await runCommand(['image', 'push', folder, `${registry.host}/a/b:4`]);
    expect(code).toBe(1);
    expect(stderr).toContain('[SVC_IMAGE_DIGEST_MISMATCH]');
    expect(registry.requests).toEqual([]);
  });

  test('of a layout with several images sends the one with the tag after the colon', async () => {
    const registry = await FakeRegistry.start();
    const folder = program(layer(fileEntry('a', 'text')));
    const index = join(folder, 'index.json');
    const { manifests } = JSON.parse(readFileSync(index, 'utf8')) as { manifests: object[] };
    const tagged = ['1', '2'].map((tag) => ({
      ...manifests[0],
      annotations: { 'org.opencontainers.image.ref.name': tag },
    }));
    writeFileSync(index, JSON.stringify({ schemaVersion: 2, manifests: tagged }));
    const { code, stderr } = await runCommand(['image', 'push', folder, `${registry.host}/a/b:4`]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `has 2 images instead of one. Name one of them by its tag, such as ${folder}:1: 1, 2.`,
    );
    const words = ['image', 'push', `${folder}:2`, `${registry.host}/a/b:4`];
    expect(await runCommand(words)).toMatchObject({ code: 0 });
    expect(registry.manifests.has('4')).toBe(true);
  });
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
