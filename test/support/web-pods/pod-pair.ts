// PodPair: two web-hosted pods of one project, `web` and `cart`, of which web mounts cart and may call it; for all tests of a
// file. web has a base domain and admits billing, cart has none and admits web.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { PodProcess, WebPod } from './web-pod.ts';

export interface PodPair {
  web: WebPod;
  cart: WebPod;
  authority: CertificateAuthority;
  /** A port on which nothing listens. */
  closedPort: number;
}

/** To be called outside of tests: starts the pods before them, and ends them after. */
export function podPairOfFile(): PodPair {
  const folder = temporaryFolderOfFile();
  const pair = {} as PodPair;
  beforeAll(async () => {
    pair.authority = await CertificateAuthority.create('ca');
    const start = (service: string, settings: Readonly<Record<string, string>>) => {
      mkdirSync(join(folder, service));
      const { authority } = pair;
      return WebPod.start({ authority, folder: join(folder, service), service, settings });
    };
    [pair.web, pair.cart] = await Promise.all([
      start('web', {
        'svc.proxy.base-domain': 'apps.example.com',
        'svc.proxy.callers': 'billing,ledger.finance',
        'svc.proxy.mounts': '/cart=cart,/cart/inner=web2,/gone=gone,/down=down',
      }),
      start('cart', { 'svc.proxy.callers': 'web' }),
    ]);
    const unused = await PodProcess.open();
    pair.closedPort = unused.port;
    unused.close();
    pair.web.locate({ 'shop/cart': pair.cart.servicePort, 'shop/down': pair.closedPort });
  });
  afterAll(async () => {
    await Promise.all([pair.web.end(), pair.cart.end()]);
  });
  return pair;
}
