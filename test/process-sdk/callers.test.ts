// Access tokens and configuration of a service whose code is in a process, as whole programs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineEndpoint, get } from '../../host/embed.ts';
import { developmentKeyFile } from '../../kit/development-key-file.ts';
import { developmentToken } from '../../tokens/development-tokens.ts';
import { SvcProcess } from '../support/host-process.ts';
import { python, PYTHON_ENVIRONMENT } from '../support/python.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HERE = import.meta.dirname;
const PROGRAMS: (readonly [language: string, command: string])[] = [
  ['TypeScript', `'${process.execPath}' '${join(HERE, 'typescript/support/members-program.ts')}'`],
];
if (python !== undefined)
  PROGRAMS.push(['Python', `'${python}' '${join(HERE, 'python/support/members_program.py')}'`]);

test.each(PROGRAMS)(
  'the runtime verifies the token, and the handler reads the principal and the configuration, in %s',
  async (_language, line) => {
    const env = { HOME: temporaryFolder(), ...PYTHON_ENVIRONMENT };
    const folder = temporaryFolder();
    const given = ['--name', 'members', '--port', '0', '--data', temporaryFolder()];
    const values = ['--configure', 'fee=2.50', '--configuration-folder', folder];
    const command = ['--process-command', line];
    const args = ['run', ...command, ...given, ...values, '--development-tokens'];
    writeFileSync(join(folder, 'apiKey'), 'of-the-bank');

    const svc = new SvcProcess(args, { env });
    onTestFinished(() => void svc.child.kill('SIGKILL'));
    const url = await svc.listening();
    const asked = async (path: string, token?: string) => {
      const headers = {
        'x-svc-principal':
          '{"subject":"forged","issuer":"","roles":["admin"],"scopes":[],"claims":"{}"}',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      };
      const response = await fetch(`${url}${path}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    const keyFile = developmentKeyFile(() => env.HOME);
    const token = async (subject: string, ...roles: readonly string[]) => {
      const caller = { subject, roles, scopes: [], claims: {}, lifetimeMs: 3_600_000 };
      return developmentToken(keyFile, caller, Date.now());
    };
    const plain = await token('ada', 'reader');
    expect((await asked('/members/me')).status).toBe(401);
    expect(await asked('/members/me', plain)).toEqual({
      status: 200,
      body: { subject: 'ada', roles: ['reader'], fee: '2.50', keyLength: 11, sawToken: false },
    });
    expect((await asked('/members/admin', plain)).status).toBe(403);
    expect((await asked('/members/admin', await token('grace', 'owner'))).status).toBe(200);
    expect((await asked('/visitors/me', plain)).body).toEqual({ isKnown: false });
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(svc.stderr).not.toContain('of-the-bank');
  },
  120_000,
);

test('an embedded service refuses a bearer rule: nothing there verifies tokens', async () => {
  const endpoint = defineEndpoint({
    prefix: '/members',
    access: 'local',
    routes: { me: get('/me', { bearer: { scopes: { all: ['a', 'b'] } } }, () => null) },
  });
  await expect(
    createService({ name: 'members', endpoints: [endpoint], http: false, journal: 'memory' }),
  ).rejects.toThrow(/bearer/);
});
