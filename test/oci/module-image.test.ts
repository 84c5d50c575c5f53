// The images that are built: reproducible, readable from folder and archive, with the copy command for each architecture.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../oci/digest.ts';
import { layoutArchive, writeLayoutArchive, writeLayoutFolder } from '../../oci/image-files.ts';
import { parseConfig } from '../../oci/image-json.ts';
import { manifestsOf, readConfig, readPlatform } from '../../oci/image-source.ts';
import { openLayoutArchive } from '../../oci/layout-archive.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { failureOf, TINY_MODULE } from './support/test-image.ts';

const input = { module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' };
const image = moduleImage(input);

test('equal inputs give the same archive, byte for byte', () => {
  const archive = layoutArchive(image, 'latest');
  expect(Buffer.compare(archive, layoutArchive(moduleImage(input), 'latest'))).toBe(0);
  // The digest changes only if the form of images changes: then every image gets a new name.
  expect(image.root.digest).toMatchInlineSnapshot(
    `"sha256:e7850d5b29567bc31c00531ef88ef8bbd232ed8acfd057d1353fe98e36399017"`,
  );
});

describe.each(['folder', 'archive'])('an image in a layout as %s', (form) => {
  const open = async () => {
    const path = join(temporaryFolder(), form === 'folder' ? 'image' : 'image.tar');
    if (form === 'folder') await writeLayoutFolder(image, '4', path);
    else await writeLayoutArchive(image, '4', path);
    return form === 'folder'
      ? openLayoutFolder(path, { tag: '4' })
      : openLayoutArchive(path, { tag: '4' });
  };

  test('has the module, with its label', async () => {
    const { image: digest, bytes, label } = await readModule(await open(), 'arm64');
    expect(digest).toBe(image.root.digest);
    expect(Buffer.from(bytes).equals(TINY_MODULE)).toBe(true);
    expect(label).toEqual({
      path: 'module.wasm',
      digest: digestOf(TINY_MODULE),
      protocol: '0.2.0',
      runtime: '0.1.0',
    });
  });

  test('has a manifest for each architecture, and shares the layer of the module', async () => {
    const source = await open();
    expect((await manifestsOf(source)).map(({ platform }) => platform)).toEqual([
      { os: 'linux', architecture: 'amd64' },
      { os: 'linux', architecture: 'arm64' },
    ]);
    const [amd64, arm64] = [
      await readPlatform(source, 'amd64'),
      await readPlatform(source, 'arm64'),
    ];
    expect(amd64.manifest.layers[1]).toEqual(arm64.manifest.layers[1]);
    expect(amd64.manifest.layers[0]).not.toEqual(arm64.manifest.layers[0]);
    const { diffIds } = await readConfig(source, amd64.manifest);
    expect(diffIds).toEqual(amd64.manifest.layers.map(({ digest }) => digest));
  });

  test('is read for the first architecture if it has none for the one that is asked for', async () => {
    const source = await open();
    const { descriptor } = await readPlatform(source, 'riscv64');
    expect(descriptor.platform?.architecture).toBe('amd64');
  });
});

test('the config starts the copy command as user 1000, as images/module.Dockerfile does', () => {
  const dockerfile = readFileSync(
    join(import.meta.dirname, '..', '..', 'images', 'module.Dockerfile'),
    'utf8',
  );
  const configs = [...image.blobs.values()].filter((bytes) =>
    Buffer.from(bytes).includes('diff_ids'),
  );
  expect(configs).toHaveLength(2);
  for (const bytes of configs) {
    const { config } = JSON.parse(Buffer.from(bytes).toString()) as {
      config: { User: string; Entrypoint: readonly string[] };
    };
    expect(dockerfile).toContain(`USER ${config.User}\n`);
    expect(dockerfile).toContain(
      `ENTRYPOINT ${JSON.stringify(config.Entrypoint).replaceAll(',', ', ')}`,
    );
    expect(parseConfig(bytes, 'it').labels.has('io.svc.module')).toBe(true);
  }
});

test('a layout replaces a layout, and no other folder', async () => {
  const folder = join(temporaryFolder(), 'image');
  await writeLayoutFolder(image, '1', folder);
  await writeLayoutFolder(moduleImage({ ...input, runtime: '0.2.0' }), '2', folder);
  expect(
    (await readModule(await openLayoutFolder(folder, { tag: '2' }), 'amd64')).label?.runtime,
  ).toBe('0.2.0');
  writeFileSync(join(folder, 'notes'), 'mine');
  expect((await failureOf(writeLayoutFolder(image, '1', folder))).code).toBe(
    'SVC_IMAGE_UNWRITABLE',
  );
  expect(readdirSync(join(folder, '..'))).toEqual(['image']);
});

test('a tag that a layout does not have is refused', async () => {
  const file = join(temporaryFolder(), 'image.tar');
  await writeLayoutArchive(image, '4', file);
  expect((await failureOf(openLayoutArchive(file, { tag: '5' }))).code).toBe('SVC_IMAGE_MISSING');
  expect((await failureOf(openLayoutArchive(`${file}.gone`))).code).toBe('SVC_IMAGE_MISSING');
});
