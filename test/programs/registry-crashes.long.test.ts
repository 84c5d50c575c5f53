// The registry is killed while images are pushed: every image whose push was answered is there as a whole, and the folder has no
// blob with another digest than its name.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { builtImageSource } from '../../oci/built-image-source.ts';
import type { RegistryReference } from '../../oci/image-reference.ts';
import { type BuiltImage, moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { RegistryClient } from '../../oci/registry-client.ts';
import { openRegistryImage } from '../../oci/registry-image.ts';
import { pushImage } from '../../oci/registry-push.ts';
import { TINY_MODULE } from '../oci/support/test-image.ts';
import { SvcProcess } from '../support/host-process.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 8;
/** Time within which a round's kill comes after a push was answered, in milliseconds. */
const KILL_WITHIN_MS = 150;
const TOKEN = { kind: 'token', token: 'ann' } as const;

/** A control plane that lets everybody use every project. */
async function openControlPlane(): Promise<string> {
  const project = { id: 'shop', name: 'shop', organizationId: 'acme', services: 0 };
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(project)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An image of its own for each number, with a module of some hundred KiB. */
function imageOf(number: number): BuiltImage {
  const section = Buffer.alloc(300_000, number);
  return moduleImage({
    module: Buffer.concat([TINY_MODULE, section]),
    protocol: '0.2.0',
    runtime: `0.1.${number}`,
  });
}

async function pushUntilKilled(
  client: RegistryClient,
  referenceOf: (tag: string) => RegistryReference,
  pushed: Map<string, string>,
): Promise<void> {
  for (;;) {
    const tag = `t${pushed.size}`;
    const image = imageOf(pushed.size);
    try {
      await pushImage(builtImageSource(image, tag), referenceOf(tag), { client });
    } catch {
      return;
    }
    pushed.set(tag, image.root.digest);
  }
}

test('an image whose push was answered survives kills, and every blob is what its name says', async () => {
  const random = new Random(18);
  const [folder, controlPlane] = [temporaryFolder(), await openControlPlane()];
  const pushed = new Map<string, string>();
  for (let round = 0; round <= ROUNDS; round++) {
    const args = ['registry', '--control-plane', controlPlane, '--port=0', '--data', folder];
    const svc = new SvcProcess([...args, '--set', 'svc.registry.requests-per-minute=1000000']);
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const { host } = new URL(await svc.listening());
    const client = new RegistryClient({
      mayBePrivate: () => true,
      credentialsOf: () => TOKEN,
      limits: { attemptsMax: 1 },
    });
    const referenceOf = (tag: string): RegistryReference => ({
      kind: 'registry',
      host,
      repository: 'shop/cart',
      tag,
      digest: undefined,
    });
    for (const [tag, digest] of pushed) {
      const read = await readModule(await openRegistryImage(referenceOf(tag), client), 'amd64');
      expect(read.image).toBe(digest);
    }
    const pushing = pushUntilKilled(client, referenceOf, pushed);
    const before = pushed.size;
    await expect.poll(() => pushed.size, { timeout: 20_000 }).toBeGreaterThan(before);
    await sleep(random.below(KILL_WITHIN_MS));
    await svc.end('SIGKILL');
    await pushing;
    await client[Symbol.asyncDispose]();
    const blobs = join(folder, 'projects', 'shop', 'blobs');
    for (const name of readdirSync(blobs))
      expect(
        `sha256-${createHash('sha256')
          .update(readFileSync(join(blobs, name)))
          .digest('hex')}`,
      ).toBe(name);
  }
  expect(pushed.size).toBeGreaterThan(ROUNDS);
});
