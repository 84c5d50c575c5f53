// A deployed service with an identity, as a process with two shards: callers by certificate, and certificates that are renewed.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/certificates/asked-service.ts';
import { mountCertificates } from '../support/certificates/certificate-files.ts';
import {
  ca,
  CART,
  GATEWAY,
  ORDERS,
  otherCa,
  textsOf,
} from '../support/certificates/test-identities.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'cart.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('routes')));

const settingsOf = (folder: string) => [
  `svc.identity.folder=${folder}`,
  'svc.identity.trust-domain=td',
  `svc.identity.gateway=${GATEWAY}`,
  'svc.project=shop',
];

describe('a deployed service with an identity', () => {
  test('admits the services that a rule names, and takes renewed certificates into use in all shards', async () => {
    const folder = temporaryFolder();
    const first = await textsOf(CART, ca, [ca, otherCa]);
    mountCertificates(folder, first);
    const { svc } = await startDeployed(module, temporaryFolder(), [
      ...settingsOf(folder),
      'svc.shards=2',
      'svc.http.host=127.0.0.1',
    ]);
    const url = await svc.listening();
    expect(url).toMatch(/^https:/);
    const orders = await textsOf(ORDERS);
    const stock = await textsOf(ORDERS.replace('orders', 'stock'));
    const gateway = await textsOf(GATEWAY);
    const old = await textsOf(ORDERS, otherCa, [ca]);

    expect(await ask(`${url}/access/inherited`, orders)).toMatchObject({ status: 200 });
    expect(await ask(`${url}/access/inherited`, stock)).toMatchObject({ status: 403 });
    expect(await ask(`${url}/access/services`, stock)).toMatchObject({ status: 200 });
    expect(await ask(`${url}/access/services`, gateway)).toMatchObject({ status: 403 });
    expect(await ask(`${url}/requests/caller`, gateway)).toMatchObject({ body: 'internet' });
    const { body, leaf } = await ask(`${url}/requests/caller`, old);
    expect(body).toBe('service shop/orders');
    expect(leaf).toBe(first.certificate);

    const renewed = await textsOf(CART, ca, [ca]);
    mountCertificates(folder, renewed);
    await svc.logged(/New certificates are in use/);
    // The system gives a connection to any of the shards, and each is told of new certificates by itself.
    let renewedInARow = 0;
    while (renewedInARow < 20) {
      const answer = await ask(`${url}/requests/caller`, orders);
      renewedInARow = answer.leaf === renewed.certificate ? renewedInARow + 1 : 0;
    }
    await expect(ask(`${url}/requests/caller`, old)).rejects.toBeInstanceOf(Error);
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  });

  test('does not start without a file, or with the certificate of another service', async () => {
    const folder = temporaryFolder();
    const start = (name: string) =>
      runSvc(
        [
          'run',
          '--deployed',
          module,
          '--data',
          temporaryFolder(),
          '--port',
          '0',
          '--name',
          name,
        ].concat(settingsOf(folder).flatMap((setting) => ['--set', setting])),
      );
    mountCertificates(folder, await textsOf(CART));
    const other = await start('stock');
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('"SVC_CERTIFICATE_UNUSABLE"');
    expect(other.stderr).toContain(`names ${CART}, and has to name`);
    rmSync(join(folder, 'ca.crt'));
    const missing = await start('cart');
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('"SVC_CERTIFICATE_MISSING"');
  });
});
