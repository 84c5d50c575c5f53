// Programs of others read our images: skopeo and umoci; and svc reads what skopeo has written of them.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeLayoutArchive, writeLayoutFolder } from '../../oci/image-files.ts';
import { openLayoutArchive } from '../../oci/layout-archive.ts';
import { openLayoutFolder } from '../../oci/layout-folder.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TINY_MODULE } from './support/test-image.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });

function run(program: string, ...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

const missing = (program: string) => {
  const isMissing = run(program, '--version').status !== 0;
  if (isMissing) console.log(`not tested: there is no ${program} (Debian: ${program})`);
  return isMissing;
};
const noSkopeo = missing('skopeo');
const noUmoci = missing('umoci');

test.skipIf(noSkopeo)('skopeo names the digest of the index, and the label', async () => {
  const folder = join(temporaryFolder(), 'image');
  await writeLayoutFolder(image, '4', folder);
  const raw = run('skopeo', 'inspect', '--raw', `oci:${folder}:4`);
  expect(raw).toMatchObject({ status: 0 });
  expect(raw.stdout).toBe(Buffer.from(image.blobs.get(image.root.digest)!).toString());
  const arm = run('skopeo', '--override-arch', 'arm64', 'inspect', `oci:${folder}:4`);
  expect(JSON.parse(arm.stdout)).toMatchObject({
    Architecture: 'arm64',
    Os: 'linux',
    Labels: { 'io.svc.module': expect.stringContaining('module.wasm') as string },
  });
});

test.skipIf(noSkopeo)(
  'skopeo copies our archive as a whole, and what it writes is read',
  async () => {
    const folder = temporaryFolder();
    const [archive, copied] = [join(folder, 'image.tar'), join(folder, 'copied')];
    await writeLayoutArchive(image, 'latest', archive);
    const policy = ['--insecure-policy', 'copy', '--all', '--preserve-digests'];
    expect(run('skopeo', ...policy, `oci-archive:${archive}`, `oci:${copied}:4`)).toMatchObject({
      status: 0,
    });
    const whole = await readModule(await openLayoutFolder(copied, { tag: '4' }), 'arm64');
    expect(whole.image).toBe(image.root.digest);
    const packed = join(folder, 'packed.tar');
    const words = ['--insecure-policy', 'copy', '--dest-compress-format', 'zstd'];
    expect(run('skopeo', ...words, `oci:${copied}:4`, `oci-archive:${packed}:4`)).toMatchObject({
      status: 0,
    });
    const { bytes, label } = await readModule(await openLayoutArchive(packed), 'amd64');
    expect(Buffer.from(bytes).equals(TINY_MODULE)).toBe(true);
    expect(label?.protocol).toBe('0.2.0');
  },
);

test.skipIf(noUmoci || noSkopeo)('umoci unpacks what runs: owner, modes, entry point', async () => {
  const folder = temporaryFolder();
  const [layout, single] = [join(folder, 'image'), join(folder, 'single')];
  const bundle = join(folder, 'bundle');
  await writeLayoutFolder(image, '4', layout);
  // umoci knows no platforms: it gets the image of one.
  const words = ['--insecure-policy', '--override-arch', 'amd64', 'copy'];
  expect(run('skopeo', ...words, `oci:${layout}:4`, `oci:${single}:4`)).toMatchObject({
    status: 0,
  });
  const isRoot = process.getuid?.() === 0;
  const unpacked = run(
    'umoci',
    'unpack',
    ...(isRoot ? [] : ['--rootless']),
    '--image',
    `${single}:4`,
    bundle,
  );
  expect(unpacked).toMatchObject({ status: 0 });
  const root = join(bundle, 'rootfs');
  expect(readFileSync(join(root, 'module.wasm')).equals(TINY_MODULE)).toBe(true);
  expect(statSync(join(root, 'cp')).mode & 0o777).toBe(0o755);
  expect(statSync(join(root, 'module.wasm')).mode & 0o777).toBe(0o644);
  // Only root can give files to others.
  const uid = isRoot ? 1000 : process.getuid?.();
  expect(statSync(join(root, 'service')).uid).toBe(uid);
  const { process: started } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as {
    process: { args: readonly string[]; user: object };
  };
  expect(started.args).toEqual(['/cp', '/module.wasm', '/service/module.wasm']);
  expect(started.user).toMatchObject({ uid: 1000, gid: 1000 });
});
