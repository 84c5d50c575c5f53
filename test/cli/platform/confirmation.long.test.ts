// The question before something is deleted, on a terminal of its own (util-linux `script`).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiUnderTest } from '../../control-plane/endpoints/api-under-test.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const home = temporaryFolderOfFile();
const program = join(import.meta.dirname, '..', '..', '..', 'cli', 'bin', 'svc.js');
const isThere = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux');
if (!isThere) console.log('script of util-linux is not installed, so no terminal is tried.');
let api: ApiUnderTest;

beforeAll(async () => {
  api = await ApiUnderTest.start();
  await api.done('POST /organizations/acme', { as: 'ann', json: { name: 'Acme' } });
});
afterAll(() => api[Symbol.asyncDispose]());

/** Runs `svc org delete acme` on a terminal, and types the answer once the question is there. */
async function answered(answer: string): Promise<{ code: number | null; screen: string }> {
  const line = `'${process.execPath}' '${program}' org delete acme`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      XDG_CONFIG_HOME: home,
      NO_COLOR: '1',
      SVC_URL: api.control.url,
      SVC_TOKEN: await api.token('ann'),
    },
  });
  let screen = '';
  let isAnswered = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (isAnswered || !screen.includes('[y/N]')) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, screen };
}

async function isOrganization(): Promise<boolean> {
  return (await api.send('GET /organizations/acme', { as: 'ann' })).status === 200;
}

describe.skipIf(!isThere)('a command that deletes', () => {
  test.each([
    ['no', 'n\r'],
    ['nothing', '\r'],
    ['another word', 'yesterday\r'],
    ['the end of the input', '\u0004'],
  ])('deletes nothing if the answer is %s', async (_what, answer) => {
    const { code, screen } = await answered(answer);
    expect(screen).toMatch(/Delete the organization acme\?.* \[y\/N\]/);
    expect(screen).toContain('Nothing was deleted. Answer y, or give --yes. [SVC_NOT_CONFIRMED]');
    expect(code).toBe(1);
    expect(await isOrganization()).toBe(true);
  });

  test('deletes if the answer is yes', async () => {
    const { code, screen } = await answered('y\r');
    expect(screen).toContain('Deleted the organization acme.');
    expect(code).toBe(0);
    expect(await isOrganization()).toBe(false);
  });
});
