// What a module can do wrong, and what the host makes of it: the caller gets 500 or 504 with an error
// id and nothing more, the log gets the module's own words, and the state comes back.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'faulty.wasm');
let svc: SvcProcess;
let url: string;

beforeAll(async () => {
  writeFileSync(module, await compileFixture('faulty'));
  svc = new SvcProcess([
    'run',
    module,
    '--port',
    '0',
    '--data',
    join(folder, 'data'),
    '--log',
    'json',
  ]);
  url = await svc.listening();
});
afterAll(async () => {
  await svc.end('SIGTERM');
});

const post = async (path: string, body?: object) =>
  fetch(url + path, {
    method: 'POST',
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
const count = async (id: string, amount: number) => {
  const response = await post(`/faulty/count/${id}/${amount}`);
  return { status: response.status, body: (await response.json()) as { count: number } };
};

const ask = async () =>
  (await (await fetch(`${url}/faulty/ambient`)).json()) as Record<
    'dateMs' | 'random' | 'random2',
    number
  >;

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}
const logLines = (): LogLine[] =>
  svc.stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);

describe('a handler that', () => {
  test('throws answers 500 with an error id; its message and place are in the log under that id', async () => {
    const secret = 'boom \u001b[31m with a secret';
    const response = await post('/faulty/boom', { text: secret });
    const body = (await response.json()) as { status: number; error: string; errorId: string };
    expect(response.status).toBe(500);
    expect(Object.keys(body).toSorted()).toEqual(['error', 'errorId', 'status']);
    expect(JSON.stringify(body)).not.toMatch(/boom|secret|index\.ts/);
    await svc.logged(new RegExp(body.errorId));
    const line = logLines().find(({ errorId }) => errorId === body.errorId);
    expect(line).toMatchObject({ level: 'warn', code: 'trap' });
    expect(line!['guestMessage']).toMatch(/^abort: boom .* with a secret at .*index\.ts:\d+:\d+$/);
    expect(svc.stderr).not.toContain('\u001b');
  });

  test.each([
    ['spin', 504],
    ['recurse', 500],
    ['hog', 500],
  ])('does not end well (%s) answers %i, and the next request is served', async (path, status) => {
    const response = await fetch(`${url}/faulty/${path}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ status, errorId: expect.any(String) });
    expect((await fetch(`${url}/faulty/requests`)).status).toBe(200);
  });

  test('keeps something for the next request finds it gone', async () => {
    for (let i = 0; i < 5; i++)
      expect(await (await fetch(`${url}/faulty/requests`)).json()).toBe(1);
  });

  test('answers far more than an instance began with is served, and leaves nothing behind', async () => {
    const large = await (await fetch(`${url}/faulty/large/400000`)).text();
    expect(large).toBe('x'.repeat(400_000));
    expect(await (await fetch(`${url}/faulty/requests`)).json()).toBe(1);
  });

  test('writes to the log is heard, as data and under its own name', async () => {
    await fetch(`${url}/faulty/log/${encodeURIComponent('line\nbreak')}`);
    await svc.logged(/break from local/);
    expect(logLines().find(({ message }) => message.startsWith('line'))).toMatchObject({
      level: 'info',
      message: 'line\nbreak from local',
      from: 'endpoint FaultyEndpoint',
    });
  });

  test("asks for the time gets the runtime's, and random numbers that differ from call to call", async () => {
    const before = Date.now();
    const [first, second] = [await ask(), await ask()];
    expect(first.dateMs).toBeGreaterThanOrEqual(before);
    expect(first.dateMs).toBeLessThanOrEqual(Date.now());
    expect(first.random).not.toBe(first.random2);
    expect(first.random).not.toBe(second.random);
  });
});

describe('an entity whose command', () => {
  test.each([
    ['boom', 500],
    ['recurse', 500],
    ['hog', 500],
    ['call-out', 500],
    ['spin', 504],
  ])(
    'goes wrong (%s) comes back from the journal as it was, and so do its neighbours',
    async (name, status) => {
      const [id, neighbour] = [`hurt-${name}`, `neighbour-${name}`];
      expect(await count(id, 2)).toEqual({ status: 200, body: { count: 2 } });
      expect(await count(neighbour, 30)).toEqual({ status: 200, body: { count: 30 } });
      const response = await post(`/faulty/entity/${id}/${name}`);
      expect(response.status).toBe(status);
      const answer = await response.text();
      expect(JSON.parse(answer)).toMatchObject({ status, errorId: expect.any(String) });
      expect(answer).not.toMatch(/abort|index\.ts/);
      expect(await count(id, 3)).toEqual({ status: 200, body: { count: 5 } });
      expect(await count(neighbour, 1)).toEqual({ status: 200, body: { count: 31 } });
    },
  );

  test('persists what its own fold cannot take is refused, and nothing is persisted', async () => {
    expect((await count('poisoned', 1)).status).toBe(200);
    expect((await post('/faulty/entity/poisoned/poison')).status).toBe(500);
    expect(await count('poisoned', 1)).toEqual({ status: 200, body: { count: 2 } });
  });
});

test('many components calls of one request are made one after the other', async () => {
  const response = await post('/faulty/count-with-calls/many/50');
  expect(await response.json()).toEqual({ count: 50 });
});

test('requests at the same time each have an instance to themselves', async () => {
  const answers = await Promise.all(
    Array.from(
      { length: 40 },
      async (_, index) => (await count(`parallel-${index % 4}`, 1)).status,
    ),
  );
  expect(answers.every((status) => status === 200)).toBe(true);
  expect((await count('parallel-0', 0)).body.count).toBe(10);
});
