// Pushing: what is sent, in which order, and what a registry refuses.
import { expect, onTestFinished, test } from 'vitest';
import { builtImageSource } from '../../oci/built-image-source.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { RegistryClient } from '../../oci/registry-client.ts';
import { openRegistryImage } from '../../oci/registry-image.ts';
import { pushImage, type PushStep } from '../../oci/registry-push.ts';
import { FakeRegistry } from './support/fake-registry.ts';
import { failureOf, TINY_MODULE } from './support/test-image.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });
const source = builtImageSource(image, 'cart');

function clientOf(token?: string): RegistryClient {
  const client = new RegistryClient({
    mayBePrivate: () => true,
    credentialsOf: () => (token === undefined ? undefined : { kind: 'token', token }),
    limits: { retryPauseMs: 1 },
  });
  onTestFinished(async () => await client[Symbol.asyncDispose]());
  return client;
}

test('an image is pushed as a whole, its tag last, and read again', async () => {
  const registry = await FakeRegistry.start();
  const steps: PushStep[] = [];
  const client = clientOf('own');
  const pushed = await pushImage(source, registry.reference(), {
    client,
    onStep: (step) => steps.push(step),
  });
  expect(pushed).toMatchObject({
    digest: image.root.digest,
    name: `${registry.host}/shop/cart@${image.root.digest}`,
  });
  expect(registry.requests.at(-1)).toBe('PUT /v2/shop/cart/manifests/4');
  expect(registry.requests.filter((line) => line.startsWith('PUT'))).toHaveLength(8);
  const bytes = steps.map((step) => step.bytes).at(-1);
  expect(bytes).toEqual({ done: pushed.sentBytes, all: pushed.sentBytes });
  expect(new Set(registry.authorizations.slice(1))).toEqual(new Set(['Bearer own']));
  const read = await readModule(await openRegistryImage(registry.reference(), client), 'arm64');
  expect(read.image).toBe(image.root.digest);
});

test('blobs that are there are not sent again', async () => {
  const registry = await FakeRegistry.start();
  const client = clientOf();
  await pushImage(source, registry.reference(), { client });
  registry.requests.length = 0;
  const again = await pushImage(source, registry.reference('5'), { client });
  expect(again.sentBytes).toBe(0);
  expect(registry.requests.some((line) => line.startsWith('POST'))).toBe(false);
});

test('a push waits when the registry is overloaded', async () => {
  const registry = await FakeRegistry.start();
  const answers = [429, 503];
  registry.intercept = ({ method }, response) => {
    const status = method === 'POST' ? answers.shift() : undefined;
    if (status === undefined) return false;
    response.writeHead(status, { 'retry-after': '0' }).end();
    return true;
  };
  const pushed = await pushImage(source, registry.reference(), { client: clientOf() });
  expect(pushed.digest).toBe(image.root.digest);
});

test('the login does not go to another host that takes the uploads', async () => {
  const [registry, store] = [await FakeRegistry.start(), await FakeRegistry.start()];
  registry.intercept = ({ method, url }, response) => {
    if (method !== 'POST') return false;
    response.writeHead(202, { location: `http://${store.host}${url}1` }).end();
    return true;
  };
  await pushImage(source, registry.reference(), { client: clientOf('own') });
  expect(store.requests.length).toBeGreaterThan(0);
  expect(new Set(store.authorizations)).toEqual(new Set([undefined]));
});

test.each([
  [403, 'SVC_REGISTRY_REFUSED', 'refuses the login'],
  [413, 'SVC_REGISTRY_REFUSED', 'TOOBIG: too much'],
  [500, 'SVC_REGISTRY_UNAVAILABLE', '500'],
])('a registry that answers %i to a blob is named', async (status, code, text) => {
  const registry = await FakeRegistry.start();
  registry.intercept = ({ method }, response) => {
    if (method !== 'PUT') return false;
    response.writeHead(status).end('{"errors":[{"code":"TOOBIG","message":"too much"}]}');
    return true;
  };
  const failure = await failureOf(
    pushImage(source, registry.reference(), { client: clientOf('a') }),
  );
  expect(failure).toEqual({ code, message: expect.stringContaining(text) as string });
});

test('a blob that is not what its digest says is not pushed', async () => {
  const registry = await FakeRegistry.start();
  const blobs = new Map(image.blobs);
  const largest = [...blobs].reduce((one, other) =>
    one[1].length > other[1].length ? one : other,
  );
  blobs.set(largest[0], Buffer.alloc(largest[1].length));
  const damaged = builtImageSource({ ...image, blobs }, 'cart');
  const failure = await failureOf(pushImage(damaged, registry.reference(), { client: clientOf() }));
  expect(failure.code).toBe('SVC_IMAGE_DIGEST_MISMATCH');
  expect(registry.manifests.size).toBe(0);
});

test('an image is not pushed under the digest of another one', async () => {
  const registry = await FakeRegistry.start();
  const reference = { ...registry.reference(), digest: `sha256:${'0'.repeat(64)}` as const };
  const failure = await failureOf(pushImage(source, reference, { client: clientOf() }));
  expect(failure.code).toBe('SVC_IMAGE_REFERENCE_INVALID');
});
