// A program that embeds the host: what it has answered is there again after it was killed, its folder is its
// own, and it ends in order when it is told to.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const example = join(import.meta.dirname, '..', '..', 'examples', '06-embedded', 'src', 'main.ts');

function start(cwd: string): SvcProcess {
  const service = new SvcProcess(['--port', '0', '--data', 'data'], { cwd, program: example });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return service;
}

const change = async (url: string, percentage: number) =>
  fetch(`${url}/flags/search`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ percentage, reason: 'a test' }),
  });

test('a killed program comes back with all that it answered', async () => {
  const cwd = temporaryFolder();
  const first = start(cwd);
  const firstUrl = await first.listening();
  for (const percentage of [10, 20, 30])
    expect((await change(firstUrl, percentage)).status).toBe(200);
  const unanswered = change(firstUrl, 40).catch(() => undefined);
  await first.end('SIGKILL');
  const wasAnswered = (await unanswered)?.status === 200;

  const second = start(cwd);
  const secondUrl = await second.listening();
  const { percentage } = (await (await fetch(`${secondUrl}/flags/search`)).json()) as {
    percentage: number;
  };
  expect(wasAnswered ? [40] : [30, 40]).toContain(percentage);
  const history = (await (await fetch(`${secondUrl}/flags/search/history`)).json()) as {
    seq: number;
  }[];
  expect(history.map(({ seq }) => seq)).toEqual(history.map((_step, index) => index + 1));
  expect((await change(secondUrl, 50)).status).toBe(200);

  const other = start(cwd);
  const { code, stderr } = await other.ended;
  expect(code).not.toBe(0);
  expect(stderr).toContain('SVC_DATA_IN_USE');

  const { code: ended } = await second.end('SIGTERM');
  expect(ended).toBe(0);
  const journal = spawnSync(
    process.execPath,
    [join(example, '../../../../cli/bin/svc.js'), 'journal', 'data', 'flag', 'search'],
    { cwd, encoding: 'utf8' },
  );
  expect(journal.stdout).toContain('"percentage":50');
});
