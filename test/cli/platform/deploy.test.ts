// `svc deploy`: what it builds, stores and applies, what it prints, and what it refuses.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { moduleImage } from '@svc/oci/module-image';
import { version } from '../../../cli/version.ts';
import { digestOf } from '../../../oci/digest.ts';
import { FakeRegistry } from '../../oci/support/fake-registry.ts';
import { runCommand } from '../../support/command-line.ts';
import { DeployUnderTest, progressing } from './deploy-under-test.ts';

const under = new DeployUnderTest();

test('what the file leaves out comes from the module and from its name', async () => {
  const ended = await under.run();
  expect(ended).toMatchObject({ code: 0, stdout: '' });
  expect(ended.stderr).toMatch(
    /^Stored the image (oci:images\/shop\/cart:[0-9a-f]{16})\.\nApplied cart in the project shop: generation \d+\.\n[^]*\ncart is ready\.\n$/,
  );
  expect(under.desired!.descriptor).toEqual({
    name: 'cart',
    image: /oci:\S+(?=\.)/.exec(ended.stderr)![0],
    hosting: 'wasm',
    protocol: '0.2.0',
    runtime: version,
  });
});

test('an image that is there is not written again, except if it is damaged', async () => {
  await under.run();
  const layout = join(under.images, 'shop', 'cart');
  const { ino } = statSync(layout);
  expect((await under.run()).stderr).toContain('Found the image');
  expect(statSync(layout).ino).toBe(ino);
  const bytes = readFileSync(under.module);
  const image = moduleImage({ module: bytes, protocol: '0.2.0', runtime: version });
  for (const [digest, blob] of image.blobs)
    if (blob.length > bytes.length / 2)
      writeFileSync(join(layout, 'blobs', ...digest.split(':')), blob.fill(1, 600));
  expect((await under.run()).stderr).toContain('Stored the image');
});

test('a failed generation ends the command with the reason and the last lines of its instance', async () => {
  const output = Array.from({ length: 30 }, (_, at) => `line ${at}\u001b[2J\n`).join('');
  under.observed = {
    rollout: { kind: 'failed', reason: 'SVC_MODULE_START_FAILED: no' },
  };
  under.atStatus = () => {
    const { generation } = under.desired!;
    under.logs = [
      { instance: `cart-${generation}-aa`, output: 'of the older one\n', error: null },
      { instance: `cart-${generation}-bb`, output, error: null },
      { instance: `cart-${generation - 1}-cc`, output: 'of the former one\n', error: null },
    ];
  };
  const { code, stderr } = await under.run('-o', 'json');
  expect(code).toBe(1);
  expect(stderr).toMatch(/The last lines of cart-\d+-bb:\n {2}line 10\\u\{1b\}\[2J\n/);
  expect(stderr).toMatch(
    /failed: SVC_MODULE_START_FAILED: no\. Correct .*\[SVC_DEPLOY_FAILED\]\n$/,
  );
  expect(stderr).not.toMatch(/line 9\\|older|former one/);
});

test('--detach does not wait, and -o json prints the status alone', async () => {
  under.observed = progressing();
  const { code, stdout } = await under.run('--detach', '-o', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ name: 'cart', projectId: 'shop' });
  under.observed = undefined;
  const waited = await under.run('-o', 'json');
  // A status restates what is known if the orchestrator has not answered in time.
  const confirmed = expect.any(Boolean) as boolean;
  expect(JSON.parse(waited.stdout)).toEqual({ ...(await under.status()), confirmed });
});

function fourTimes(of: string): string {
  return Array.from({ length: 4 }, () => `*${of}`).join();
}

test('an installation with a base domain takes images in its registry, each once, with the token of the command', async () => {
  const registry = await FakeRegistry.start();
  const host = under.useRegistry(registry.host);
  const token = await under.api.token('ann');
  registry.intercept = ({ headers }, response) => {
    if (headers.authorization === `Bearer ${token}`) return false;
    response.writeHead(401, { 'www-authenticate': 'Bearer realm="https://elsewhere.test/"' }).end();
    return true;
  };
  const first = await under.run('--detach');
  expect(first.stderr).toMatch(
    /^Stored the image registry\.svc\.localhost:\d+\/shop\/cart:[0-9a-f]{16}\.\n/,
  );
  const { image } = await under.status();
  expect(image.startsWith(`${host}/shop/cart:`)).toBe(true);
  const { root } = moduleImage({
    module: readFileSync(under.module),
    protocol: '0.2.0',
    runtime: version,
  });
  const tag = image.slice(image.lastIndexOf(':') + 1);
  expect(digestOf(registry.manifests.get(tag)!.bytes)).toBe(root.digest);

  registry.requests.length = 0;
  expect((await under.run('--detach')).stderr).toContain('Found the image');
  expect(registry.requests.filter((line) => !line.startsWith('GET'))).toEqual([]);
});

test('a registry that refuses the image ends the command before anything is applied', async () => {
  const registry = await FakeRegistry.start();
  under.useRegistry(registry.host);
  const before = await under.status();
  registry.intercept = ({ method }, response) => {
    if (method !== 'POST') return false;
    response.writeHead(403).end();
    return true;
  };
  const ended = await under.run();
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/\[SVC_REGISTRY_REFUSED\]\n$/);
  expect((await under.status()).generation).toBe(before.generation);
});

describe('the file', () => {
  test('of the project is taken, and what it says is applied with the image of the module', async () => {
    writeFileSync(under.file, 'name: cart\nresources: { memory: 512Mi }\nallow: [route-removed]\n');
    expect((await under.run('--detach')).code).toBe(0);
    expect(under.desired!.descriptor).toMatchObject({
      hosting: 'wasm',
      resources: { memory: '512Mi' },
      allow: ['route-removed'],
    });
  });

  test('with an image is applied as it is, and nothing is built', async () => {
    writeFileSync(under.file, 'name: cart\nimage: registry.test/cart:9\n');
    const ended = await runCommand(['deploy', under.home, '--detach']);
    expect(ended.code).toBe(0);
    expect((await under.status()).image).toBe('registry.test/cart:9');
    expect(ended.stderr).toMatch(/^Applied cart/);
  });

  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...Array.from('bcdefgh', (name, at) => `${name}: &${name} [${fourTimes('abcdefg'[at]!)}]`),
  ].join('\n');

  test.each([
    ['an alias bomb', bomb, /cannot be read as YAML/],
    ['a list', '- name: cart\n', /SVC_DESCRIPTOR_INVALID/],
    ['a name that climbs', 'name: ../../cart\n', /name is .*no name of a service/],
    ['a name that is no text', 'name: [cart]\n', /name is not a text/],
    ['another protocol', 'protocol: 0.1.0\n', /another protocol than 0\.2\.0/],
    [
      'another hosting without an image',
      'hosting: process\nprotocol: http/1.1\n',
      /push the image/,
    ],
    [
      'two problems',
      'port: 7626\ninstances: 99\n',
      /port is [^]*instances is|instances is [^]*port is/,
    ],
  ])('with %s is refused, and nothing is stored or applied', async (_what, text, message) => {
    rmSync(under.images, { recursive: true });
    writeFileSync(under.file, text);
    const before = await under.status();
    const ended = await under.run();
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).toMatch(/\[SVC_DESCRIPTOR_INVALID\]\n$/);
    expect(existsSync(under.images)).toBe(false);
    expect((await under.status()).generation).toBe(before.generation);
  });
});

describe('a refusal says what to do, with a code', () => {
  test('without a login, before anything is built', async () => {
    vi.stubEnv('SVC_TOKEN', undefined);
    const ended = await runCommand(['deploy', join(under.home, 'nowhere')]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/Log in with svc login\. \[SVC_NOT_LOGGED_IN\]\n$/);
  });

  test.each([
    [['--timeout', 'soon'], 2, /takes a duration such as 90s, 10m or 1h as --timeout/],
    [['--timeout', '2d'], 2, /takes a duration/],
    [['--timeout', '25h'], 2, /takes 1s to 24h as --timeout/],
    [['--project', 'nowhere'], 1, /answered 404: .*\[SVC_API_REFUSED\]/],
    [['--project', '../x'], 2, /takes the id of a project/],
    [['-f', 'none.yaml'], 1, /none\.yaml cannot be read \(ENOENT\)/],
  ])('svc deploy cart.wasm %j', async (args, code, message) => {
    const ended = await under.run(...args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(message);
  });

  test.each([
    [
      'nowhere',
      /There is nothing to build: there is no folder \S+nowhere\. .*\[SVC_BUILD_FAILED\]/,
    ],
    ['XDG_CONFIG_HOME', /has neither assembly\/index\.ts nor index\.ts\. .*\[SVC_BUILD_FAILED\]/],
    ['gone.wasm', /gone\.wasm.*\[SVC_MODULE_UNREADABLE\]/],
  ])('svc deploy %s, which is no project', async (name, message) => {
    const ended = await runCommand(['deploy', join(under.home, name)]);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
  });

  test('when the command does not know where images go', async () => {
    rmSync(join(under.home, 'XDG_CONFIG_HOME'), { recursive: true });
    const ended = await under.run();
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/svc context set NAME --images .*\[SVC_CONTEXT_INVALID\]\n$/);
  });

  test.each([
    ['images', /takes a folder such as images=\/srv\/images/],
    ['../x=/srv', /takes a folder such as/],
    ['images=/nowhere/at/all', /found no folder/],
  ])('svc context set x --images %s', async (given, message) => {
    const ended = await runCommand(['context', 'set', 'x', '--images', given]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
  });
});
