// `svc control-plane` with its journal in PostgreSQL: it comes back with everything after it was killed, in another folder, and is the
// only one that uses its database.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { DatabaseSource } from '../../host/storage/postgres/database-source.ts';
import { COMPONENTS, ControlPlaneProcess } from '../support/control-plane-process.ts';
import { runSvc } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let provider: IdentityProvider;
let server: PostgresServer;

beforeAll(async () => {
  [provider, server] = await Promise.all([IdentityProvider.start(), PostgresServer.shared('18')]);
});
afterAll(() => provider.stop());

function start(source: DatabaseSource) {
  if (source.kind !== 'file') throw new TypeError('a database of a test has a file');
  const args = ['--log', 'json', '--set', `svc.database.url-file=${source.path}`];
  const svc = new ControlPlaneProcess(provider, temporaryFolder(), { args });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

test('it has what it answered after it was killed, and a second one is refused', async () => {
  const { source, url } = await server.freshDatabase();
  const first = start(source);
  await first.listening();
  expect((await first.send('POST /organizations/acme', 'ann', { name: 'Acme' })).status).toBe(204);

  const second = await start(source).ended;
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toContain('SVC_DATA_IN_USE');
  await first.end('SIGKILL');

  const next = start(source);
  // It takes the place of the one that was killed once the lease of that one has ended.
  await next.listening();
  expect(await next.send('GET /auth/whoami', 'ann')).toMatchObject({
    status: 200,
    body: { organizations: [{ id: 'acme' }] },
  });
  const place = source.kind === 'file' ? `url-file:${source.path}` : '';
  const shown = await runSvc(['entity', place, 'organization', 'acme', '--program', COMPONENTS]);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Acme') as string });
  const ended = await next.end('SIGTERM');
  expect(ended.code).toBe(0);
  expect(first.stderr + second.stderr + ended.stderr).not.toContain(url);
}, 120_000);
