// A service that runs a module and is given sockets: other services call it by one whose path is all that both sides share.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { mountCertificates } from '../support/certificates/certificate-files.ts';
import { GATEWAY, textsOf } from '../support/certificates/test-identities.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { ask, environmentOf, GivenProgram, idOf, openSockets } from '../support/given-program.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const HOST = join(import.meta.dirname, '..', '..', 'host', 'main.ts');
const isLinux = process.platform === 'linux';
if (!isLinux) console.log('Skipped: sockets of instances are for the namespaces of Linux.');

const module = join(temporaryFolderOfFile(), 'calling.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('calling')));

describe.runIf(isLinux)('a service that runs a module', () => {
  test('takes calls at the socket that it is given, by all of its shards, and says at its management socket that it is ready', async () => {
    const given = openSockets({ management: 'management', calls: 'calls' });
    const command = [process.execPath, HOST, module];
    const billing = new GivenProgram(command, await environmentOf('billing'), given.sockets);
    given.sockets[Symbol.dispose]();
    await billing.logs(/"message":"listening"/);
    const ready = await fetch(`http://${given.host}:${given.management}/ready`);
    expect(ready.status).toBe(200);
    expect(billing.output).toContain(`"port":${given.management},"message":"management listening"`);

    // The caller knows an address at which nobody listens, and reaches the socket that has its name.
    const services = { 'shop/billing': [`${given.host}:${given.http}`] };
    const servicesFile = join(temporaryFolder(), 'services.json');
    writeFileSync(servicesFile, JSON.stringify({ services }));
    const folder = temporaryFolder();
    mountCertificates(folder, await textsOf(idOf('caller')));
    const { svc } = await startDeployed(module, temporaryFolder(), [
      `svc.identity.folder=${folder}`,
      'svc.identity.trust-domain=td',
      `svc.identity.gateway=${GATEWAY}`,
      'svc.project=shop',
      'svc.name=caller',
      'svc.http.host=127.0.0.1',
      'svc.shards=1',
      `svc.calls.services-file=${servicesFile}`,
      `svc.calls.sockets-folder=${given.folder}`,
    ]);
    const url = new URL(await svc.listening());
    const call = { service: 'billing', method: 'GET', path: '/echo', headers: [], body: '' };
    const to = { host: '127.0.0.1', port: Number(url.port) };
    const calls = JSON.stringify({ ...call, times: 4 });
    const { body } = await ask(to, GATEWAY, '/calls/raw', calls);
    const answers = JSON.parse(body) as readonly { readonly body: string }[];
    expect(answers).toHaveLength(4);
    for (const { body: echo } of answers) expect(echo).toContain('caller: service shop/caller');
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(await billing.ends('SIGTERM')).toBe(0);
  });

  test('is not started with a socket for its port, which its shards cannot share', async () => {
    const { sockets } = openSockets({ http: 'http', calls: 'calls' });
    const command = [process.execPath, HOST, module];
    const billing = new GivenProgram(command, await environmentOf('billing'), sockets);
    expect(await billing.ends()).not.toBe(0);
    expect(billing.output).toContain('SVC_SETTING_INVALID');
  });
});
