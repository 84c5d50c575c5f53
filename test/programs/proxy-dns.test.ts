// The real program finds services by DNS: it asks for the SRV records of the port http, and then for the addresses of the names in them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NameServer } from '../forward/support/name-server.ts';
import { proxyAnswer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { OK, received } from '../support/web-pods/passed-request.ts';
import { WebPod } from '../support/web-pods/web-pod.ts';

const SRV = '_http._tcp.cart.svc-shop.svc.cluster.local';

test('P27: a called service is found by its SRV record and the addresses of the names in it', async () => {
  const names = await NameServer.start({ srv: {}, a: {}, ttl: 0 });
  onTestFinished(() => names[Symbol.asyncDispose]());
  const authority = await CertificateAuthority.create('ca');
  const folder = temporaryFolder();
  const start = async (service: string, settings: Readonly<Record<string, string>>) => {
    mkdirSync(join(folder, service));
    const pod = await WebPod.start({ authority, folder: join(folder, service), service, settings });
    onTestFinished(() => pod.end());
    return pod;
  };
  const cart = await start('cart', { 'svc.proxy.callers': 'web' });
  const web = await start('web', {
    'svc.proxy.services-file': '',
    'svc.proxy.name-servers': names.address,
  });
  const ask = async () => {
    const caller = await web.connectToCall();
    caller.write('GET /cart/items HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    return caller;
  };
  expect(await proxyAnswer(await ask())).toBe('503 The service cart cannot be found.');

  names.zone = {
    srv: { [SRV]: [[0, 1, cart.servicePort, 'a.cart.svc-shop.svc.cluster.local']] },
    a: { 'a.cart.svc-shop.svc.cluster.local': ['127.0.0.1'] },
    ttl: 0,
  };
  // That there is none is remembered for a second.
  await expect
    .poll(async () => {
      const caller = await ask();
      const answered = received(cart, OK);
      const [status] = await caller.head();
      return status === 'HTTP/1.1 200 OK' ? (await answered)[0] : status;
    })
    .toBe('GET /items HTTP/1.1');
  expect(names.asked).toContain(SRV);
});
