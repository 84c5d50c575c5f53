// A disk without room or with errors, which then is in order again: over HTTP, with the system calls of the real
// process failing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { FaultDisk, faultDiskProblem } from '../support/crash/fault-disk.ts';
import { SvcProcess, runSvc } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'counter.wasm');
let svc: SvcProcess | undefined;

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));
beforeAll(async () => writeFileSync(module, await compileFixture('counter')));
afterEach(async () => {
  await svc?.end('SIGKILL');
});

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly value?: number;
  readonly error?: string;
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Pick<Answer, 'value' | 'error'>;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ...body };
}
const valueOf = async (url: string, id: string) => answerOf(await fetch(`${url}/counters/${id}`));
const add = async (url: string, id: string) =>
  answerOf(
    await fetch(`${url}/counters/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount":1}',
    }),
  );

function failingDisk() {
  const scratch = temporaryFolder();
  const data = join(scratch, 'data');
  mkdirSync(data);
  const disk = new FaultDisk(data, scratch);
  const args = ['run', module, '--port', '0', '--data', data, '--log', 'json'];
  return {
    args,
    env: disk.env,
    noRoom: () => disk.control.fail({ mode: 'ENOSPC', kind: 'write', first: 1, last: 1e9 }),
    noSync: () => disk.control.fail({ mode: 'EIO', kind: 'sync', first: 1, last: 1e9 }),
    inOrder: () => disk.control.heal(),
  };
}

describe('a full disk', () => {
  test('refuses commands with 503, answers queries, and goes on by itself when there is room', async () => {
    const { args, env, noRoom, inOrder } = failingDisk();
    svc = new SvcProcess(args, { env });
    const url = await svc.listening();
    const ids = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const values = new Map<string, number>();
    for (const id of ids) values.set(id, (await add(url, id)).value!);
    expect([...values.values()]).toEqual(ids.map(() => 1));

    noRoom();
    const refused = await Promise.all([...ids, ...ids, 'new'].map((id) => add(url, id)));
    for (const answer of refused)
      expect(answer).toMatchObject({
        status: 503,
        retryAfter: '1',
        error: expect.stringContaining('SVC_DISK_FULL') as string,
      });
    for (const id of [...ids, 'new'])
      expect(await valueOf(url, id)).toMatchObject({ status: 200, value: values.get(id) ?? 0 });

    inOrder();
    for (const id of ids) {
      let answer = await add(url, id);
      while (answer.status === 503) answer = await add(url, id);
      expect(answer).toMatchObject({ status: 200, value: 2 });
    }
    await svc.logged(/Make room on the disk/);

    await svc.end('SIGKILL');
    svc = new SvcProcess(args, { env });
    const again = await svc.listening();
    for (const id of ids) expect(await valueOf(again, id)).toMatchObject({ value: 2 });
    expect(await valueOf(again, 'new')).toMatchObject({ value: 0 });
  });

  test('lets no host start, which says what to do, and changes nothing', async () => {
    const { args, env, noRoom, inOrder } = failingDisk();
    svc = new SvcProcess(args, { env });
    expect(await add(await svc.listening(), 'a')).toMatchObject({ value: 1 });
    await svc.end('SIGKILL');

    noRoom();
    const ended = await runSvc(args, { env });
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain('SVC_DISK_FULL');

    inOrder();
    svc = new SvcProcess(args, { env });
    expect(await valueOf(await svc.listening(), 'a')).toMatchObject({ value: 1 });
  });
});

test('a disk that reports errors refuses commands with 503, and nothing of them is there afterwards', async () => {
  const { args, env, noSync, inOrder } = failingDisk();
  svc = new SvcProcess(args, { env });
  const url = await svc.listening();
  for (const id of ['a', 'b']) expect(await add(url, id)).toMatchObject({ value: 1 });

  noSync();
  for (const answer of await Promise.all(['a', 'b', 'b', 'new'].map((id) => add(url, id))))
    expect(answer).toMatchObject({
      status: 503,
      retryAfter: '1',
      error: expect.stringContaining('SVC_JOURNAL_UNAVAILABLE') as string,
    });
  for (const id of ['a', 'b']) expect(await valueOf(url, id)).toMatchObject({ value: 1 });

  inOrder();
  expect(await add(url, 'a')).toMatchObject({ status: 200, value: 2 });
  await svc.end('SIGKILL');
  svc = new SvcProcess(args, { env });
  const again = await svc.listening();
  const values = await Promise.all(['a', 'b', 'new'].map(async (id) => valueOf(again, id)));
  expect(values.map(({ value }) => value)).toEqual([2, 1, 0]);
});
