// svc token: what it prints, and which files of claims it takes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const svc = (...args: readonly string[]) =>
  runSvc(['token', ...args], { cwd: folder, env: { HOME: folder } });

async function printed(...args: readonly string[]) {
  const { code, stdout, stderr } = await svc(...args);
  expect([code, stderr]).toEqual([0, '']);
  return decodeJwt(stdout.trim());
}

test('prints a token of the caller, with the claims of a file', async () => {
  writeFileSync(join(folder, 'claims.json'), '{"roles": ["admin"], "tenant": "acme", "sub": "x"}');
  expect(await printed('--subject', 'ada', '--claims', 'claims.json')).toMatchObject({
    sub: 'ada',
    roles: ['admin'],
    tenant: 'acme',
  });
  expect(await printed('--role', 'guest', '--claims', 'claims.json')).toMatchObject({
    sub: 'developer',
    roles: ['guest'],
  });
});

test.each([
  ['no JSON', '{'],
  ['a list', '[]'],
  ['too long a text', JSON.stringify({ text: 'x'.repeat(8 * 1024) })],
  ['thousands of lists in each other', `{"x":${'['.repeat(4_000)}${']'.repeat(4_000)}}`],
])('refuses a file of claims with %s', async (_what, content) => {
  writeFileSync(join(folder, 'bad.json'), content);
  const { code, stdout, stderr } = await svc('--claims', 'bad.json');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain("found another content in 'bad.json'");
  expect(stderr).not.toContain('bug');
});
