// The gateway as it is installed in a cluster: with the variables of its container, and its files as a cluster mounts them.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import { certify, install, TestGateway } from '../../support/gateway/test-gateway.ts';
import { INSTALLATION_FOLDER, objectsIn } from '../../support/kubernetes/installation-files.ts';
import { podOf } from '../../support/kubernetes/read-manifests.ts';
import { containerEnvironment } from '../../support/kubernetes/watched-environment.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Lets the files of a folder be links to those of another one, as they are in a mounted volume. */
function mounted(folder: string): void {
  const version = join(folder, '..version');
  mkdirSync(version);
  for (const name of readdirSync(folder).filter((one) => !one.startsWith('..')))
    renameSync(join(folder, name), join(version, name));
  symlinkSync('..version', join(folder, '..data'));
  for (const name of readdirSync(version)) symlinkSync(join('..data', name), join(folder, name));
}

test('the gateway serves the hostname of the API, and answers 404 for those of services', async () => {
  const manifests = objectsIn(readFileSync(join(INSTALLATION_FOLDER, 'svc.yaml'), 'utf8'));
  const env = containerEnvironment(
    podOf(manifests).containers.find(({ name }) => name === 'gateway')!,
  );
  const installation = await install(temporaryFolder(), 'spiffe://example.org/gateway');
  const { folder } = installation;
  await certify(installation, 'default', { dnsNames: ['*.example.org'] });
  const routes = manifests.find(({ metadata }) => metadata.name === 'gateway-routes')!;
  mkdirSync(join(folder, 'routes'));
  for (const [name, text] of Object.entries(routes['data'] as JsonObject))
    writeFileSync(join(folder, 'routes', name), text as string);
  for (const name of ['identity', 'certificates', 'routes']) mounted(join(folder, name));
  const gateway = await TestGateway.start(installation, {
    // There is no socket of an orchestrator.
    'svc.gateway.routes-socket': '',
    ...settingsOf(env, folder),
    // A port of this machine at which nothing listens.
    'svc.gateway.api-url': 'http://127.0.0.1:1',
  });
  onTestFinished(() => void gateway.svc.end('SIGKILL'));
  const answerOf = async (hostname: string) => {
    const { status, body } = await gateway.get(hostname);
    return { status, ...(JSON.parse(body) as object) };
  };
  expect(await answerOf('cart-shop.example.org')).toEqual({
    status: 404,
    error: expect.stringContaining('exposed'),
  });
  expect(await answerOf('api.example.org')).toEqual({
    status: 503,
    error: expect.stringContaining('platform'),
  });
});

/** Returns the settings of variables, with the folder in which their files are here. */
function settingsOf(
  env: Readonly<Record<string, string>>,
  folder: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const [svc, section, ...words] = name.toLowerCase().split('_');
      const dotted = [svc, section, ...(words.length === 0 ? [] : [words.join('-')])].join('.');
      return [dotted, value.replace('/etc/svc', folder)];
    }),
  );
}
