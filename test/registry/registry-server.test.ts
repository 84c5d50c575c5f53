// The registry over HTTP: pushing and pulling, who may, and what is deleted when.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { builtImageSource } from '../../oci/built-image-source.ts';
import { digestOf } from '../../oci/digest.ts';
import type { RegistryReference } from '../../oci/image-reference.ts';
import { manifestsOf } from '../../oci/image-source.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { RegistryClient } from '../../oci/registry-client.ts';
import type { RegistryCredentials } from '../../oci/registry-credentials.ts';
import { openRegistryImage } from '../../oci/registry-image.ts';
import { pushImage } from '../../oci/registry-push.ts';
import { failureOf, TINY_MODULE } from '../oci/support/test-image.ts';
import { PULL_TOKEN, refusalOf, RegistryUnderTest } from './registry-under-test.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });
const other = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.1' });
const HOUR_MS = 3_600_000;
const ANN: RegistryCredentials = { kind: 'token', token: 'ann' };
const BYTES = Buffer.from('0123456789');
const DIGEST = digestOf(BYTES);

function clientOf(credentials: RegistryCredentials | undefined = ANN): RegistryClient {
  const client = new RegistryClient({
    mayBePrivate: () => true,
    credentialsOf: () => credentials,
    limits: { retryPauseMs: 1, retryPauseMaxMs: 1 },
  });
  onTestFinished(async () => await client[Symbol.asyncDispose]());
  return client;
}

function named(
  registry: RegistryUnderTest,
  repository = 'shop/cart',
  tag = '4',
): RegistryReference {
  return { kind: 'registry', host: registry.host, repository, tag, digest: undefined };
}

async function push(registry: RegistryUnderTest, built = image, tag = '4', client = clientOf()) {
  return await pushImage(builtImageSource(built, 'cart'), named(registry, 'shop/cart', tag), {
    client,
  });
}

describe('images', () => {
  test('are pushed and pulled with a token, as Bearer and as the password of Basic', async () => {
    const registry = await RegistryUnderTest.start();
    const pushed = await push(registry);
    for (const credentials of [ANN, { kind: 'password', user: 'any', password: 'ann' } as const]) {
      const opened = await openRegistryImage(named(registry), clientOf(credentials));
      expect((await readModule(opened, 'amd64')).image).toBe(pushed.digest);
    }
    expect((await push(registry)).sentBytes).toBe(0);
    const tags = await registry.send('GET', 'shop/cart/tags/list');
    expect(await tags.json()).toEqual({ name: 'shop/cart', tags: ['4'] });
  });

  test('are there after a restart, with the uploads that were not finished', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const upload = await registry.begin();
    await registry.send('PATCH', upload, { body: BYTES.subarray(0, 4) });
    const before = (await registry.store.project('shop')).usage.bytes;
    await registry.restart();
    const { usage } = await registry.store.project('shop');
    expect({ bytes: usage.bytes, manifests: usage.manifests }).toEqual({
      bytes: before,
      manifests: 3,
    });
    const opened = await openRegistryImage(named(registry), clientOf());
    expect((await readModule(opened, 'amd64')).image).toBe(image.root.digest);
    const headers = { 'content-range': '4-9' };
    const ended = await registry.send('PUT', `${upload}?digest=${DIGEST}`, {
      headers,
      body: BYTES.subarray(4),
    });
    expect(ended.status).toBe(201);
  });

  test('of another repository of the project need not be sent again', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const layer = [...image.blobs.keys()][0]!;
    const mount = (repository: string, from: string) =>
      registry.send('POST', `${repository}/blobs/uploads/?mount=${layer}&from=${from}`);
    expect((await mount('shop/basket', 'shop/cart')).status).toBe(201);
    expect((await mount('depot/basket', 'shop/cart')).status).toBe(202);
  });

  test('are pulled by the orchestrator, which pushes and deletes nothing', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const orchestrator = clientOf({ kind: 'token', token: PULL_TOKEN });
    const opened = await openRegistryImage(named(registry), orchestrator);
    expect((await readModule(opened, 'amd64')).image).toBe(image.root.digest);
    expect((await failureOf(push(registry, other, '5', orchestrator))).code).toBe(
      'SVC_REGISTRY_REFUSED',
    );
    const deleted = await registry.send('DELETE', 'shop/cart/manifests/4', { token: PULL_TOKEN });
    expect(await refusalOf(deleted)).toEqual({ status: 403, code: 'DENIED' });
  });

  test('are deleted by tag and by digest', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    await push(registry, image, '5');
    expect((await registry.send('DELETE', 'shop/cart/manifests/4')).status).toBe(202);
    expect((await registry.send('GET', 'shop/cart/manifests/4')).status).toBe(404);
    expect((await registry.send('GET', 'shop/cart/manifests/5')).status).toBe(200);
    const { digest } = image.root;
    expect((await registry.send('DELETE', `shop/cart/manifests/${digest}`)).status).toBe(202);
    expect((await registry.send('GET', 'shop/cart/manifests/5')).status).toBe(404);
  });

  test('are deleted with the manifests that nothing else names, and count no longer after a day', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const { usage } = await registry.store.project('shop');
    const [one, two] = (await manifestsOf(builtImageSource(image, 'cart'))).map(
      (part) => part.digest,
    );
    const part = await registry.send('GET', `shop/cart/manifests/${one}`);
    const headers = { 'content-type': part.headers.get('content-type')! };
    const body = Buffer.from(await part.arrayBuffer());
    await registry.send('PUT', 'shop/cart/manifests/one', { headers, body });
    expect(usage.manifests).toBe(3);
    await registry.send('DELETE', `shop/cart/manifests/${image.root.digest}`);
    expect(usage.manifests).toBe(1);
    expect((await registry.send('GET', `shop/cart/manifests/${two}`)).status).toBe(404);
    expect((await registry.send('GET', 'shop/cart/manifests/one')).status).toBe(200);
    await registry.send('DELETE', `shop/cart/manifests/${one}`);
    expect(usage.manifests).toBe(0);
    expect(usage.bytes).toBeGreaterThan(0);
    registry.nowMs += 25 * HOUR_MS;
    await registry.store.sweep();
    expect(usage.bytes).toBe(0);
  });

  test('with more manifests than a project may have are refused', async () => {
    const registry = await RegistryUnderTest.start({ projectManifestsMax: 2 });
    const failure = await failureOf(push(registry));
    expect(failure.code).toBe('SVC_REGISTRY_REFUSED');
    expect(failure.message).toContain('DENIED: the project may have 2 manifests');
    expect((await registry.store.project('shop')).usage.manifests).toBe(2);
  });
});

describe('a caller', () => {
  test('without a token is told how to log in', async () => {
    const registry = await RegistryUnderTest.start();
    for (const path of ['/v2/', '/v2/shop/cart/manifests/4', '/anything']) {
      const answer = await registry.send('GET', path, { token: '' });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
      expect(await refusalOf(answer)).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    }
    expect(registry.asked).toBe(0);
    expect((await registry.send('GET', '/v2/')).status).toBe(200);
    expect((await registry.send('GET', '/v2/', { token: 'eve' })).status).toBe(401);
  });

  test('of another organization gets the same answer for what is there and what is not', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const ask = async (path: string) => {
      const answer = await registry.send('GET', path, { token: 'bob' });
      return { status: answer.status, text: await answer.text() };
    };
    const there = await ask('shop/cart/manifests/4');
    expect(there).toMatchObject({ status: 404 });
    for (const path of ['shop/cart/manifests/5', 'none/cart/manifests/4', 'shop/none/tags/list'])
      expect(await ask(path)).toEqual(there);
    expect(existsSync(join(registry.folder, 'projects', 'none'))).toBe(false);
  });

  test('of another organization pushes, mounts and deletes nothing', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const upload = await registry.begin();
    const [layer] = [...image.blobs.keys()];
    for (const [method, path] of [
      ['POST', 'shop/cart/blobs/uploads/'],
      ['PATCH', upload],
      ['PUT', `${upload}?digest=${DIGEST}`],
      ['DELETE', upload],
      ['PUT', 'shop/cart/manifests/4'],
      ['DELETE', `shop/cart/manifests/${image.root.digest}`],
    ] as const) {
      const body = method === 'DELETE' ? {} : { body: BYTES };
      const answer = await registry.send(method, path, { token: 'bob', ...body });
      expect(await refusalOf(answer)).toEqual({ status: 404, code: 'NAME_UNKNOWN' });
    }
    const path = `bank/cart/blobs/uploads/?mount=${layer}&from=shop/cart`;
    expect((await registry.send('POST', path, { token: 'bob' })).status).toBe(202);
    expect((await registry.send('GET', upload)).headers.get('range')).toBe('0-0');
    expect((await registry.send('GET', 'shop/cart/manifests/4')).status).toBe(200);
  });

  test('who is no longer a member is refused with the next request, also in an upload', async () => {
    const registry = await RegistryUnderTest.start();
    const upload = await registry.begin();
    registry.members.set('ann', []);
    const answer = await registry.send('PUT', `${upload}?digest=${DIGEST}`, { body: BYTES });
    expect(await refusalOf(answer)).toEqual({ status: 404, code: 'NAME_UNKNOWN' });
  });

  test('of a disabled organization pulls, and neither pushes nor deletes, also in an upload', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    const upload = await registry.begin();
    registry.isDisabled = true;
    const opened = await openRegistryImage(named(registry), clientOf());
    expect((await readModule(opened, 'amd64')).image).toBe(image.root.digest);
    const refused = { status: 403, code: 'DENIED' };
    for (const [method, path] of [
      ['POST', 'shop/cart/blobs/uploads/'],
      ['PATCH', upload],
      ['PUT', `${upload}?digest=${DIGEST}`],
      ['PUT', 'shop/cart/manifests/5'],
      ['DELETE', 'shop/cart/manifests/4'],
    ] as const) {
      const body = method === 'DELETE' ? {} : { body: BYTES };
      expect(await refusalOf(await registry.send(method, path, body))).toEqual(refused);
    }
    const failure = await failureOf(push(registry, other));
    expect(failure.code).toBe('SVC_REGISTRY_REFUSED');
    expect(failure.message).toContain('the organization is disabled');
    registry.isDisabled = false;
    expect((await push(registry, other)).sentBytes).toBeGreaterThan(0);
  });

  test('is asked to come again when the control plane gives no answer', async () => {
    const registry = await RegistryUnderTest.start();
    registry.isControlPlaneDown = true;
    const answer = await registry.send('GET', 'shop/cart/manifests/4');
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await refusalOf(answer)).toEqual({ status: 503, code: 'UNAVAILABLE' });
  });

  test('that sends too many requests is refused, and the orchestrator is not', async () => {
    const registry = await RegistryUnderTest.start({ requestsPerMinute: 3 });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++)
      statuses.push((await registry.send('GET', '/v2/')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const last = await registry.send('GET', '/v2/');
    expect(last.headers.has('retry-after')).toBe(true);
    expect(await refusalOf(last)).toEqual({ status: 429, code: 'TOOMANYREQUESTS' });
    expect((await registry.send('GET', '/v2/', { token: PULL_TOKEN })).status).toBe(200);
  });

  test('cannot leave the folder of its project by a name', async () => {
    const registry = await RegistryUnderTest.start();
    registry.members.set('ann', ['..', 'shop']);
    for (const path of [
      '/v2/%2e%2e/cart/manifests/4',
      '/v2/shop/%2e%2e/manifests/4',
      '/v2/shop/..%2f..%2fbank/manifests/4',
      '/v2/shop/cart/manifests/..%2f4',
      '/v2/shop/cart/manifests/%2e%2e',
      '/v2/shop/cart/blobs/sha256:..',
      '/v2/shop/cart/blobs/uploads/..%2f..%2fblobs',
    ])
      expect((await registry.send('GET', path)).status).toBeOneOf([400, 404]);
  });
});

describe('the sweep', () => {
  test('deletes blobs that no manifest refers to, after their time', async () => {
    const registry = await RegistryUnderTest.start();
    await push(registry);
    await registry.send('POST', `shop/cart/blobs/uploads/?digest=${DIGEST}`, { body: BYTES });
    registry.nowMs += 23 * HOUR_MS;
    await registry.store.sweep();
    expect((await registry.send('GET', `shop/cart/blobs/${DIGEST}`)).status).toBe(200);
    registry.nowMs += 2 * HOUR_MS;
    await registry.store.sweep();
    expect((await registry.send('GET', `shop/cart/blobs/${DIGEST}`)).status).toBe(404);
    const opened = await openRegistryImage(named(registry), clientOf());
    expect((await readModule(opened, 'amd64')).image).toBe(image.root.digest);
  });

  test('keeps a blob for whose presence somebody has asked, so that a push finds it', async () => {
    const registry = await RegistryUnderTest.start();
    await registry.send('POST', `shop/cart/blobs/uploads/?digest=${DIGEST}`, { body: BYTES });
    registry.nowMs += 25 * HOUR_MS;
    expect((await registry.send('HEAD', `shop/cart/blobs/${DIGEST}`)).status).toBe(200);
    await registry.store.sweep();
    expect((await registry.send('GET', `shop/cart/blobs/${DIGEST}`)).status).toBe(200);
  });

  test('deletes an image whose tag names another one, after its time, and counts its bytes no longer', async () => {
    const registry = await RegistryUnderTest.start({ untaggedHours: 10 });
    await push(registry, other);
    const { usage } = await registry.store.project('shop');
    const [bytes, manifests] = [usage.bytes, usage.manifests];
    await push(registry);
    const digest = other.root.digest;
    registry.nowMs += 9 * HOUR_MS;
    await registry.store.sweep();
    expect((await registry.send('GET', `shop/cart/manifests/${digest}`)).status).toBe(200);
    registry.nowMs += 25 * HOUR_MS;
    await registry.store.sweep();
    expect((await registry.send('GET', `shop/cart/manifests/${digest}`)).status).toBe(404);
    expect({ bytes: usage.bytes, manifests: usage.manifests }).toEqual({ bytes, manifests });
    const opened = await openRegistryImage(named(registry), clientOf());
    expect((await readModule(opened, 'amd64')).image).toBe(image.root.digest);
  });
});
