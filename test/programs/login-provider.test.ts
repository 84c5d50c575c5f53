// `svc login-provider` as a process: its banner, its refusals, and how it stops.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function start(people: string): SvcProcess {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'people.yaml'), people);
  const svc = new SvcProcess(
    ['login-provider', '--people', 'people.yaml', '--audience', 'https://api.svc.test', '--port=0'],
    { cwd },
  );
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

test('it says at every start that it is for development only, and stops in order', async () => {
  const svc = start('people: [{subject: ann}]');
  const url = await svc.listening();
  expect((await fetch(`${url}/.well-known/openid-configuration`)).status).toBe(200);
  const { code, stdout, stderr } = await svc.end('SIGTERM');
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}\n` });
  const lines = stderr.trim().split('\n');
  const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages).toEqual([
    expect.stringContaining('for development only'),
    'listening',
    'stopping',
    'stopped',
  ]);
});

test('a file of people that cannot be used stops the start with all of its problems', async () => {
  const { code, stderr } = await start('people: [{name: Ann}, {subject: 7}]').ended;
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'SVC_SETTING_INVALID',
    message: expect.stringMatching(
      /people\/0\/subject is missing; people\/1\/subject has/,
    ) as string,
  });
});
