// A program that is given its sockets: it is reached by them from here though it has a network of its own.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GATEWAY } from '../support/certificates/test-identities.ts';
import { ask, environmentOf, GivenProgram, idOf, openSockets } from '../support/given-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NAMESPACE = ['--user', '--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
const LAUNCHER = ['sh', '-c', 'export LISTEN_PID=$$; exec "$@"', 'sh'];
const hasNamespaces =
  process.platform === 'linux' && spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;
if (!hasNamespaces)
  console.log('Skipped: this user may make no network namespaces here (unshare --user --net).');

/** A program that answers with its caller and with the sockets that a child of it is given, as the file descriptors and by the variables. */
function program(): string {
  const file = join(temporaryFolder(), 'program.ts');
  const host = JSON.stringify(join(import.meta.dirname, '..', '..', 'host', 'embed.ts'));
  writeFileSync(
    file,
    `import { execFileSync } from 'node:child_process';
    import { createService, defineEndpoint, get } from ${host};
    import { Type } from ${JSON.stringify(import.meta.resolve('typebox'))};
    const seen = () => execFileSync('sh', ['-c', 'echo "$LISTEN_PID$LISTEN_FDS$LISTEN_FDNAMES"; ls -l /proc/self/fd']);
    const endpoint = defineEndpoint({
      prefix: '/seen',
      access: { services: ['caller'] },
      routes: {
        callers: get('/caller', { reply: Type.Array(Type.String()) }, ({ caller }) => [caller, String(seen())]),
      },
    });
    await createService({ name: 'seen', endpoints: [endpoint], deployed: 'environment' });`,
  );
  return file;
}

describe.runIf(hasNamespaces)('a program in a network of its own', () => {
  test('serves the sockets that it is given, knows its callers, and gives no child a socket', async () => {
    const given = openSockets({ http: 'http', management: 'management', calls: 'calls' });
    const command = [
      'unshare',
      ...NAMESPACE,
      ...LAUNCHER,
      process.execPath,
      program(),
      '--standby',
    ];
    const started = new GivenProgram(command, await environmentOf('seen'), given.sockets);
    given.sockets[Symbol.dispose]();
    await started.logs(new RegExp(`https://${given.host}:${given.http}`));
    const ready = await fetch(`http://${given.host}:${given.management}/ready`);
    expect(ready.status).toBe(200);
    const byAddress = { host: given.host, port: given.http };
    const bySocket = { path: given.file };
    const answers = await Promise.all(
      [byAddress, bySocket, bySocket, bySocket].map((to) =>
        ask(to, idOf('caller'), '/seen/caller'),
      ),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      const [caller, seen = ''] = JSON.parse(body) as readonly string[];
      expect(caller).toBe('service shop/caller');
      expect(seen).toMatch(/^\n/);
      expect(seen).not.toMatch(/ [345] -> socket/);
      expect(seen).toContain(' 1 -> ');
    }
    expect(await ask(bySocket, GATEWAY, '/seen/caller')).toMatchObject({ status: 403 });
    expect(await ask(bySocket, idOf('orders'), '/seen/caller')).toMatchObject({ status: 403 });
  });
});
