// Images of registries: what is read, with which requests, and how each kind of bad registry is refused.
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../oci/digest.ts';
import { moduleImage } from '../../oci/module-image.ts';
import { readModule } from '../../oci/module-reader.ts';
import { RegistryClient, type RegistryClientOptions } from '../../oci/registry-client.ts';
import { openRegistryImage } from '../../oci/registry-image.ts';
import { FakeRegistry } from './support/fake-registry.ts';
import { failureOf, TINY_MODULE } from './support/test-image.ts';

const image = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.0' });
const other = moduleImage({ module: TINY_MODULE, protocol: '0.2.0', runtime: '0.1.1' });
const PASSWORD = { kind: 'password', user: 'ann', password: 'secret' } as const;
const BASIC = `Basic ${Buffer.from('ann:secret').toString('base64')}`;

function clientOf(options: RegistryClientOptions = {}): RegistryClient {
  const client = new RegistryClient({
    mayBePrivate: () => true,
    ...options,
    limits: { retryPauseMs: 1, ...options.limits },
  });
  onTestFinished(async () => await client[Symbol.asyncDispose]());
  return client;
}

async function read(registry: FakeRegistry, client = clientOf(), wanted = registry.reference()) {
  return readModule(await openRegistryImage(wanted, client), 'amd64');
}

async function filled(): Promise<FakeRegistry> {
  const registry = await FakeRegistry.start();
  registry.add(image);
  return registry;
}

/** Answers each request for a manifest, instead of the registry. */
function answerManifests(
  registry: FakeRegistry,
  status: number,
  headers: Record<string, string> = {},
  content: Uint8Array | string = '',
): void {
  registry.intercept = ({ url }, response) => {
    if (!url!.includes('/manifests/')) return false;
    response.writeHead(status, headers).end(content);
    return true;
  };
}

describe('an image is read', () => {
  test('by its tag, which is resolved once', async () => {
    const registry = await filled();
    const opened = await openRegistryImage(registry.reference(), clientOf());
    registry.add(other);
    const found = await readModule(opened, 'amd64');
    expect(found.image).toBe(image.root.digest);
    expect(found.label?.runtime).toBe('0.1.0');
    expect(registry.requests.filter((line) => line.endsWith('/manifests/4'))).toHaveLength(1);
  });

  test('by its digest, whatever its tag names', async () => {
    const registry = await filled();
    registry.add(other, '5');
    const wanted = { ...registry.reference('5'), digest: image.root.digest };
    expect((await read(registry, clientOf(), wanted)).image).toBe(image.root.digest);
    expect(registry.requests.some((line) => line.endsWith('/manifests/5'))).toBe(false);
  });

  test('with Basic, once the registry has asked for it', async () => {
    const registry = await filled();
    registry.intercept = ({ headers }, response) => {
      if (headers.authorization === BASIC) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
      return true;
    };
    const client = clientOf({ credentialsOf: () => PASSWORD });
    expect((await read(registry, client)).image).toBe(image.root.digest);
    const { code } = await failureOf(read(registry));
    expect(code).toBe('SVC_REGISTRY_REFUSED');
  });

  test('with a token from where the registry gives them out, asked for its repository alone', async () => {
    const registry = await filled();
    const realm = `http://${registry.host}/token`;
    registry.intercept = ({ headers, url }, response) => {
      if (url!.startsWith('/token')) {
        const token = headers.authorization === BASIC ? 'abc' : 'anonymous';
        response.writeHead(200).end(JSON.stringify({ token }));
        return true;
      }
      if (headers.authorization === 'Bearer abc') return false;
      response
        .writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="shop, inc."` })
        .end();
      return true;
    };
    const client = clientOf({ credentialsOf: () => PASSWORD });
    expect((await read(registry, client)).image).toBe(image.root.digest);
    expect(registry.requests.filter((line) => line.includes('/token'))).toEqual([
      'GET /token?service=shop%2C+inc.&scope=repository%3Ashop%2Fcart%3Apull',
    ]);
  });

  test('after 429 and 503, once the time is over that the registry asked for', async () => {
    const registry = await filled();
    const answers = [429, 503];
    registry.intercept = (_request, response) => {
      const status = answers.shift();
      if (status === undefined) return false;
      response.writeHead(status, { 'retry-after': '0' }).end();
      return true;
    };
    expect((await read(registry)).image).toBe(image.root.digest);
  });

  test('through a redirect to another host, which does not get the credentials', async () => {
    const [registry, store] = [await filled(), await filled()];
    registry.intercept = ({ url }, response) => {
      if (!url!.includes('/blobs/')) return false;
      response.writeHead(307, { location: `http://${store.host}${url}` }).end();
      return true;
    };
    const client = clientOf({ credentialsOf: () => ({ kind: 'token', token: 'own' }) });
    expect((await read(registry, client)).image).toBe(image.root.digest);
    expect(new Set(registry.authorizations.slice(1))).toEqual(new Set(['Bearer own']));
    expect(new Set(store.authorizations)).toEqual(new Set([undefined]));
  });
});

describe('is refused:', () => {
  test.each<[string, (registry: FakeRegistry) => void, string]>([
    ['no image', (registry) => registry.manifests.clear(), 'SVC_IMAGE_MISSING'],
    [
      'a page of HTML',
      (registry) => answerManifests(registry, 200, { 'content-type': 'text/html' }, '<html>'),
      'SVC_REGISTRY_ANSWER_INVALID',
    ],
    [
      'a login that is refused',
      (registry) => answerManifests(registry, 403),
      'SVC_REGISTRY_REFUSED',
    ],
    [
      'a failure of the registry',
      (registry) => answerManifests(registry, 500),
      'SVC_REGISTRY_ANSWER_INVALID',
    ],
    [
      'a registry that asks to wait for an hour',
      (registry) => answerManifests(registry, 429, { 'retry-after': '3600' }),
      'SVC_REGISTRY_UNAVAILABLE',
    ],
    [
      'a registry that is overloaded each time',
      (registry) => answerManifests(registry, 503),
      'SVC_REGISTRY_UNAVAILABLE',
    ],
    [
      'another digest than the registry announces',
      (registry) => {
        const { mediaType, bytes } = registry.manifests.get('4')!;
        const headers = {
          'content-type': mediaType,
          'docker-content-digest': digestOf(TINY_MODULE),
        };
        // Only the answer for the tag is wrong: all that follows from it would be right.
        registry.intercept = ({ url }, response) => {
          if (!url!.endsWith('/manifests/4')) return false;
          response.writeHead(200, headers).end(bytes);
          return true;
        };
      },
      'SVC_IMAGE_DIGEST_MISMATCH',
    ],
    [
      'a manifest of 5 MiB',
      (registry) => {
        const { mediaType } = registry.manifests.get('4')!;
        answerManifests(registry, 200, { 'content-type': mediaType }, Buffer.alloc(5 << 20, ' '));
      },
      'SVC_IMAGE_TOO_LARGE',
    ],
    [
      'a blob with one other byte',
      (registry) => {
        for (const [digest, bytes] of registry.blobs)
          if (bytes.length > 2000) registry.blobs.set(digest, Buffer.alloc(bytes.length));
      },
      'SVC_IMAGE_DIGEST_MISMATCH',
    ],
    [
      'a blob that ends early',
      (registry) => {
        registry.intercept = ({ url }, response) => {
          if (!url!.includes('/blobs/')) return false;
          response.writeHead(200, { 'content-length': '1000' });
          response.write('{', () => response.destroy());
          return true;
        };
      },
      'SVC_REGISTRY_UNAVAILABLE',
    ],
    [
      'an endless redirect',
      (registry) => answerManifests(registry, 302, { location: '/v2/shop/cart/manifests/4' }),
      'SVC_REGISTRY_ANSWER_INVALID',
    ],
    [
      'a redirect that leaves encryption',
      (registry) => answerManifests(registry, 302, { location: 'http://registry.example/a' }),
      'SVC_REGISTRY_ADDRESS_REFUSED',
    ],
    [
      'a token that is no header',
      (registry) => {
        const challenge = `Bearer realm="http://${registry.host}/token"`;
        registry.intercept = ({ url }, response) => {
          const isToken = url!.startsWith('/token');
          response.writeHead(isToken ? 200 : 401, { 'www-authenticate': challenge });
          response.end(isToken ? '{"token":"a\\r\\nb: c"}' : '');
          return true;
        };
      },
      'SVC_REGISTRY_ANSWER_INVALID',
    ],
    [
      'a token that the registry does not take',
      (registry) => {
        const challenge = `Bearer realm="http://${registry.host}/token"`;
        registry.intercept = ({ url }, response) => {
          const isToken = url!.startsWith('/token');
          response.writeHead(isToken ? 200 : 401, { 'www-authenticate': challenge });
          response.end(isToken ? '{"token":"abc"}' : '');
          return true;
        };
      },
      'SVC_REGISTRY_REFUSED',
    ],
  ])('%s', async (_what, arrange, code) => {
    const registry = await filled();
    arrange(registry);
    expect((await failureOf(read(registry))).code).toBe(code);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['answers with HTML', (response) => response.end('<html>'), 'SVC_REGISTRY_ANSWER_INVALID'],
    [
      'answers with a token of 17 KiB',
      (response) => response.end(JSON.stringify({ token: 'x'.repeat(17 * 1024) })),
      'SVC_REGISTRY_ANSWER_INVALID',
    ],
    [
      'refuses the credentials',
      (response) => response.writeHead(403).end(),
      'SVC_REGISTRY_REFUSED',
    ],
    ['fails', (response) => response.writeHead(500).end(), 'SVC_REGISTRY_ANSWER_INVALID'],
    ['says nothing', () => {}, 'SVC_REGISTRY_UNAVAILABLE'],
    [
      'leads to a private address',
      (response) => response.writeHead(302, { location: 'https://10.0.0.1/token' }).end(),
      'SVC_REGISTRY_ADDRESS_REFUSED',
    ],
  ])('a registry that sends to a place for tokens which %s', async (_what, answer, code) => {
    const registry = await filled();
    const challenge = `Bearer realm="http://${registry.host}/token"`;
    registry.intercept = ({ url }, response) => {
      if (url!.startsWith('/token')) answer(response);
      else response.writeHead(401, { 'www-authenticate': challenge }).end();
      return true;
    };
    const limits = { answerTimeoutMs: 300, totalTimeoutMs: 3000, attemptsMax: 1 };
    const client = clientOf({ mayBePrivate: (host) => host === registry.host, limits });
    expect((await failureOf(read(registry, client))).code).toBe(code);
  });

  test.each(['https://10.0.0.1/token', 'https://localhost/token', 'http://registry.example/token'])(
    'a registry that sends to %s for tokens, and the password goes nowhere',
    async (realm) => {
      const registry = await filled();
      registry.intercept = (_request, response) => {
        response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end();
        return true;
      };
      const client = clientOf({
        mayBePrivate: (host) => host === registry.host,
        credentialsOf: () => PASSWORD,
      });
      expect((await failureOf(read(registry, client))).code).toBe('SVC_REGISTRY_ADDRESS_REFUSED');
      expect(registry.authorizations).toEqual([undefined]);
    },
  );

  test('a registry that takes the connection and says nothing', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const limits = { connectTimeoutMs: 50, answerTimeoutMs: 50, totalTimeoutMs: 5000 };
    const wanted = {
      kind: 'registry',
      host,
      repository: 'a',
      tag: 'b',
      digest: undefined,
    } as const;
    const failure = await failureOf(openRegistryImage(wanted, clientOf({ limits })));
    expect(failure.code).toBe('SVC_REGISTRY_UNAVAILABLE');
  });

  test('a registry whose blob never ends, once the time for the image is over', async () => {
    const registry = await filled();
    registry.intercept = ({ url }, response) => {
      if (!url!.includes('/blobs/')) return false;
      response.writeHead(200).write('{');
      return true;
    };
    const limits = { totalTimeoutMs: 300 };
    expect((await failureOf(read(registry, clientOf({ limits })))).code).toBe(
      'SVC_REGISTRY_UNAVAILABLE',
    );
  });

  test('an address of this machine or of a private network, also after a redirect', async () => {
    const registry = await filled();
    const strict = clientOf({ mayBePrivate: (host) => host === registry.host });
    for (const location of [
      'https://10.0.0.1/a',
      'https://[fd00::1]/a',
      'https://[::ffff:127.0.0.1]/a',
      'https://169.254.169.254/latest',
      'https://localhost/a',
      'https://registry.svc.localhost/a',
    ]) {
      answerManifests(registry, 302, { location });
      expect((await failureOf(read(registry, strict))).code).toBe('SVC_REGISTRY_ADDRESS_REFUSED');
    }
    expect((await failureOf(read(registry, clientOf({ mayBePrivate: () => false })))).code).toBe(
      'SVC_REGISTRY_ADDRESS_REFUSED',
    );
  });
});
