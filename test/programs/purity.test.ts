// A module whose handlers change the state they are given, run for real: on a developer's machine
// each such call is found; a deployed instance finds it by its sample, and when the entity leaves memory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'impure.wasm');
beforeAll(async () => {
  writeFileSync(module, await compileFixture('impure'));
});

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

async function run(...args: readonly string[]) {
  const svc = new SvcProcess(
    // prettier-ignore
    ['run', module, '--port', '0', '--host', '127.0.0.1', '--data', temporaryFolder(), '--log', 'json', ...args],
  );
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const url = await svc.listening();
  return {
    svc,
    post: async (path: string, body?: object) =>
      fetch(url + path, {
        method: 'POST',
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      }),
    get: async (path: string) => fetch(url + path),
    lines: () =>
      svc.stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine),
  };
}

describe("on a developer's machine", () => {
  test('each call that changes its state in place is 500, named in the log, and undone', async () => {
    const { svc, post, get, lines } = await run();
    for (const title of ['B', 'A']) await post('/shelves/s1/books', { title, copies: 1 });
    const answers = [
      [
        'command',
        'put-in-place',
        await post('/shelves/s1/books/in-place', { title: 'C', copies: 5 }),
      ],
      ['command', 'read-by', await post('/shelves/s1/read-by', { name: 'bob@example.org' })],
      ['query', 'sorted', await get('/shelves/s1/sorted')],
    ] as const;
    for (const [kind, name, answer] of answers) {
      expect(answer.status).toBe(500);
      const { errorId } = (await answer.json()) as { readonly errorId: string };
      await svc.logged(new RegExp(errorId));
      expect(lines().find((line) => line['errorId'] === errorId)).toMatchObject({
        level: 'warn',
        code: 'SVC_STATE_CHANGED',
        reason: expect.stringMatching(
          `^${kind} '${name}' of entity 's1' of component 'shelf' changed the state it was given, at .*; only apply may\\.`,
        ),
      });
      expect(lines().some((line) => line['handler'] === name)).toBe(true);
    }
    expect(svc.stderr).not.toContain('bob');
    expect(await (await get('/shelves/s1')).json()).toMatchObject({
      books: [
        { title: 'B', copies: 1 },
        { title: 'A', copies: 1 },
      ],
      readers: {},
    });
  });

  test('an apply that depends on its instance is found when the entity leaves memory', async () => {
    const { svc, post, lines } = await run();
    expect((await post('/shelves/s1/number')).status).toBe(204);
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(lines().find(({ code }) => code === 'SVC_STATE_CHANGED')).toMatchObject({
      component: 'shelf',
      entity: 's1',
      reason: expect.stringMatching(/at number\. While it was in memory ran: command 'number'\./),
    });
  });

  test('an interval of 0 turns the check off', async () => {
    const { post } = await run('--set', 'svc.engine.purity-check-interval=0');
    await post('/shelves/s1/books', { title: 'B', copies: 1 });
    const answer = await post('/shelves/s1/books/in-place', { title: 'C', copies: 5 });
    expect(answer.status).toBe(204);
  });
});

describe('a deployed instance', () => {
  test('looks at one call of the interval', async () => {
    const { get, post } = await run('--deployed', '--set', 'svc.engine.purity-check-interval=3');
    for (const title of ['B', 'A']) await post('/shelves/s1/books', { title, copies: 1 });
    expect((await get('/shelves/s1/sorted')).status).toBe(500);
    expect((await get('/shelves/s1/sorted')).status).toBe(200);
  });

  test('compares an entity that leaves memory with its events, and names what ran', async () => {
    const { svc, post, get, lines } = await run(
      '--deployed',
      '--set',
      'svc.engine.purity-refold-interval=1',
    );
    for (const title of ['B', 'A']) await post('/shelves/s1/books', { title, copies: 1 });
    expect((await get('/shelves/s1/sorted')).status).toBe(200);
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(lines().find(({ code }) => code === 'SVC_STATE_CHANGED')).toMatchObject({
      level: 'warn',
      component: 'shelf',
      entity: 's1',
      reason: expect.stringContaining(
        "at books[0].title. While it was in memory ran: command 'put', query 'sorted'.",
      ),
    });
  });
});
