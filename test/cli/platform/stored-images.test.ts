// `svc image list` and `svc image delete` with a real control plane and a real registry: what they show, delete and refuse.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { RegistryUnderTest } from '../../registry/registry-under-test.ts';
import { runCommand } from '../../support/command-line.ts';
import { DeployUnderTest } from './deploy-under-test.ts';

const under = new DeployUnderTest();
let registry: RegistryUnderTest;

beforeEach(async () => {
  registry = await RegistryUnderTest.start({}, under.api.control.url);
  under.useRegistry(registry.host);
});

const svc = (line: string) => runCommand(line.split(' '));

/** Deploys the module, and returns the tag of its image. */
async function deployed(): Promise<string> {
  expect((await under.run('--detach')).code).toBe(0);
  const { image } = await under.status();
  return image.slice(image.lastIndexOf(':') + 1);
}

test('an image is listed with the service that names it, deleted with a warning, and pushed again', async () => {
  const tag = await deployed();
  const { stdout } = await svc('image list cart');
  expect(stdout).toMatch(
    new RegExp(`^TAGS +SERVICES +DIGEST\\n${tag} +cart +sha256:[0-9a-f]{64}\\n$`),
  );
  const listed = JSON.parse((await svc('image list cart -o json')).stdout) as { digest: string }[];
  expect(listed).toEqual([
    { digest: expect.any(String) as string, tags: [tag], services: ['cart'] },
  ]);

  const { digest } = listed[0]!;
  expect(await svc(`image delete cart:${tag} --yes`)).toEqual({
    code: 0,
    stdout: '',
    stderr:
      'cart of this project names it: what runs goes on, and applying that descriptor again will fail.\n' +
      `Deleted the image shop/cart@${digest} (${tag}).\n`,
  });
  expect((await registry.store.project('shop')).usage.manifests).toBe(0);
  expect((await svc(`image delete cart@${digest} --yes`)).stderr).toContain('[SVC_IMAGE_MISSING]');
  expect(await deployed()).toBe(tag);
});

test('an image that no service names is deleted without a warning', async () => {
  const tag = await deployed();
  await under.api.done('PUT /services/shop/cart', {
    as: 'ann',
    json: { name: 'cart', image: 'registry.test/cart:9' },
  });
  expect((await svc('image list cart')).stdout).toMatch(/ sha256:[0-9a-f]{64}\n$/);
  const { code, stderr } = await svc(`image delete cart:${tag} --yes`);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Deleted the image shop\/cart@\S+ \([0-9a-f]{16}\)\.\n$/);
});

describe('refused is', () => {
  test('a deletion that nobody has confirmed, and nothing is deleted', async () => {
    const tag = await deployed();
    const { code, stderr } = await svc(`image delete cart:${tag}`);
    expect(code).toBe(2);
    expect(stderr).toContain('Give --yes');
    expect((await registry.store.project('shop')).usage.manifests).toBe(3);
  });

  test('the name of all images of a service', async () => {
    const { code, stderr } = await svc('image delete cart --yes');
    expect(code).toBe(2);
    expect(stderr).toContain('svc image list cart lists them');
  });

  test.each([
    ['image delete none:4 --yes', 'SVC_IMAGE_MISSING'],
    ['image delete cart:.. --yes', 'SVC_IMAGE_REFERENCE_INVALID'],
    ['image list cart --project bank', 'SVC_API_REFUSED'],
  ])('svc %s', async (line, code) => {
    const ended = await svc(line);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`[${code}]`);
  });

  test('an installation without a base domain, which has no registry', async () => {
    vi.stubEnv('SVC_URL', under.api.control.url);
    expect((await svc('image list cart')).stderr).toContain('[SVC_CONTEXT_INVALID]');
  });

  test('a change by a member while the organization is disabled, who can still look', async () => {
    const tag = await deployed();
    under.api.knows({ subject: 'root', roles: ['platform-admin'] });
    await under.api.done('POST /organizations/acme/disable', { as: 'root' });
    try {
      expect((await svc('image list cart')).code).toBe(0);
      const refused = await svc(`image delete cart:${tag} --yes`);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('the organization is disabled');
      expect(refused.stderr).toContain('[SVC_REGISTRY_REFUSED]');
    } finally {
      await under.api.done('POST /organizations/acme/enable', { as: 'root' });
    }
    expect((await svc(`image delete cart:${tag} --yes`)).code).toBe(0);
  });
});

test('a service without images has none, and an image without a tag is deleted by its digest', async () => {
  const none = await svc('image list none');
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'shop/none has no images with a tag.\n' });
  const tag = await deployed();
  const [image] = JSON.parse((await svc('image list cart -o json')).stdout) as { digest: string }[];
  const headers = { authorization: `Bearer ${await under.api.token('ann')}` };
  await fetch(`${registry.url}/v2/shop/cart/manifests/${tag}`, { method: 'DELETE', headers });
  expect(JSON.parse((await svc('image list cart -o json')).stdout)).toEqual([]);
  expect((await svc(`image delete cart@${image!.digest} --yes`)).code).toBe(0);
  expect((await registry.store.project('shop')).usage.manifests).toBe(0);
});

test('an image of a service that was deleted can be listed and deleted', async () => {
  const tag = await deployed();
  await under.api.done('DELETE /services/shop/cart', { as: 'ann' });
  expect((await svc('image list cart')).stdout).toContain(tag);
  expect((await svc(`image delete cart:${tag} --yes`)).code).toBe(0);
});
