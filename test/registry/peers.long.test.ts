// Programs of others and our registry, and our client and the registry of others.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtImageSource } from '../../oci/built-image-source.ts';
import { writeLayoutFolder } from '../../oci/image-files.ts';
import { parseRegistryReference } from '../../oci/image-reference.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { RegistryClient } from '../../oci/registry-client.ts';
import { openRegistryImage } from '../../oci/registry-image.ts';
import { pushImage } from '../../oci/registry-push.ts';
import { failureOf, TINY_MODULE } from '../oci/support/test-image.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { RegistryUnderTest } from './registry-under-test.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });

const missing = (program: string) => {
  const isMissing = spawnSync(program, ['--version']).status !== 0;
  if (isMissing) console.log(`not tested: there is no ${program} (Debian: ${program})`);
  return isMissing;
};
const noSkopeo = missing('skopeo');
const noDockerRegistry = missing('docker-registry');

/** Runs skopeo without blocking the registry, which is in this process. */
async function skopeo(...words: readonly string[]): Promise<{ code: number | null; text: string }> {
  const child = spawn('skopeo', ['--insecure-policy', ...words]);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (text += part.toString()));
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  return { code: await promise, text };
}

function clientOf(): RegistryClient {
  const client = new RegistryClient({ mayBePrivate: () => true });
  onTestFinished(async () => await client[Symbol.asyncDispose]());
  return client;
}

/** Options of skopeo for one side of a copy: `dest-`, `src-`, or the only one. */
function login(side: string): readonly string[] {
  return [`--${side}creds`, 'ann:ann', `--${side}tls-verify=false`];
}

test.skipIf(noSkopeo)('skopeo pushes to our registry, inspects, pulls and deletes', async () => {
  const registry = await RegistryUnderTest.start();
  const folder = temporaryFolder();
  const [layout, copied] = [join(folder, 'image'), join(folder, 'copied')];
  await writeLayoutFolder(image, '4', layout);
  const there = `docker://${registry.host}/shop/cart:4`;
  const copy = ['copy', '--all', '--preserve-digests'];
  const pushed = await skopeo(...copy, ...login('dest-'), `oci:${layout}:4`, there);
  expect(pushed).toMatchObject({ code: 0 });
  const inspected = await skopeo('inspect', ...login(''), there);
  expect(JSON.parse(inspected.text)).toMatchObject({ RepoTags: ['4'], Digest: image.root.digest });
  const pulled = await skopeo(...copy, ...login('src-'), there, `oci:${copied}:4`);
  expect(pulled).toMatchObject({ code: 0 });
  const read = await readModule(await openLayoutFolder(copied, { tag: '4' }), 'arm64');
  expect(read.image).toBe(image.root.digest);
  const foreign = await skopeo('inspect', '--creds', 'a:bob', '--tls-verify=false', there);
  expect(foreign.code).not.toBe(0);
  expect(await skopeo('delete', ...login(''), there)).toMatchObject({ code: 0 });
  expect((await registry.send('GET', 'shop/cart/manifests/4')).status).toBe(404);
});

test.skipIf(noSkopeo)(
  'skopeo pushes compressed layers, out of which we read the module',
  async () => {
    const registry = await RegistryUnderTest.start();
    const layout = join(temporaryFolder(), 'image');
    await writeLayoutFolder(image, '4', layout);
    const target = `docker://${registry.host}/shop/cart:zstd`;
    const words = ['--dest-compress-format', 'zstd', '--dest-creds', 'ann:ann'];
    const pushed = await skopeo(
      'copy',
      ...words,
      '--dest-tls-verify=false',
      `oci:${layout}:4`,
      target,
    );
    expect(pushed).toMatchObject({ code: 0 });
    const client = new RegistryClient({
      mayBePrivate: () => true,
      credentialsOf: () => ({ kind: 'token', token: 'ann' }),
    });
    onTestFinished(async () => await client[Symbol.asyncDispose]());
    const reference = parseRegistryReference(`${registry.host}/shop/cart:zstd`);
    const { bytes } = await readModule(await openRegistryImage(reference, client), 'amd64');
    expect(Buffer.from(bytes).equals(TINY_MODULE)).toBe(true);
  },
);

/** Starts docker-registry, and returns its host once it answers. */
async function dockerRegistry(): Promise<string> {
  const folder = temporaryFolder();
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const host = `127.0.0.1:${port}`;
  mkdirSync(join(folder, 'images'));
  const config = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'images') } },
    http: { addr: host },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], {
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const answers = async () =>
    await fetch(`http://${host}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(answers, { timeout: 10_000 }).toBe(true);
  return host;
}

test.skipIf(noDockerRegistry)('we push to docker-registry, and read from it', async () => {
  const reference = parseRegistryReference(`${await dockerRegistry()}/shop/cart:4`);
  const client = clientOf();
  const pushed = await pushImage(builtImageSource(image, 'cart'), reference, { client });
  expect(pushed.sentBytes).toBeGreaterThan(0);
  const again = await pushImage(builtImageSource(image, 'cart'), reference, { client });
  expect(again.sentBytes).toBe(0);
  for (const named of [reference, { ...reference, digest: image.root.digest }]) {
    const read = await readModule(await openRegistryImage(named, client), 'amd64');
    expect(read.image).toBe(image.root.digest);
  }
  const absent = openRegistryImage({ ...reference, tag: '5' }, client);
  expect((await failureOf(absent)).code).toBe('SVC_IMAGE_MISSING');
});
