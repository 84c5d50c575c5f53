// Requests with an idempotency key against a real process: however often they are sent, and whatever ends in
// between, each is done once and answered as the first time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { Random } from '../support/random.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'counter.wasm');
const running: SvcProcess[] = [];

beforeAll(async () => writeFileSync(module, await compileFixture('counter')));
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(data: string, ...settings: string[]) {
  const process = new SvcProcess([
    'run',
    module,
    '--port',
    '0',
    '--data',
    join(folder, data),
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  running.push(process);
  return { process, url: await process.listening() };
}

async function add(url: string, id: string, amount: number, key: string) {
  const response = await fetch(`${url}/counters/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ amount }),
  });
  return { status: response.status, body: await response.text() };
}

async function valueOf(url: string, id: string): Promise<unknown> {
  return (await fetch(`${url}/counters/${id}`)).json();
}

test('a request that is repeated is answered as the first time, also by a process that was killed and started', async () => {
  const first = await start('repeated');
  const answer = await add(first.url, 'a', 5, 'k');
  expect(answer.status).toBe(200);
  expect(await add(first.url, 'a', 1, 'other')).not.toEqual(answer);
  expect(await add(first.url, 'a', 5, 'k')).toEqual(answer);
  await first.process.end('SIGKILL');
  const second = await start('repeated');
  expect(await add(second.url, 'a', 5, 'k')).toEqual(answer);
  const reused = await add(second.url, 'a', 6, 'k');
  expect(reused).toMatchObject({
    status: 422,
    body: expect.stringContaining('SVC_IDEMPOTENCY_KEY_REUSED') as string,
  });
  expect(await valueOf(second.url, 'a')).toEqual({ value: 6 });
});

test('an entity that has left memory still knows what it has answered', async () => {
  const { url } = await start('left', 'svc.engine.live-entities-max=1');
  const answer = await add(url, 'a', 5, 'k');
  for (const id of ['b', 'c', 'd']) await add(url, id, 1, 'k');
  expect(await add(url, 'a', 5, 'k')).toEqual(answer);
  expect(await valueOf(url, 'a')).toEqual({ value: 5 });
});

let onSent = (): void => undefined;

test('killed again and again under load that repeats what it was not answered, adds each amount once', async () => {
  const random = new Random(11);
  const ids = ['a', 'b', 'c'];
  const sums = new Map(ids.map((id) => [id, 0]));
  let sent = 0;
  let service = await start('killed');
  for (let round = 0; round < 4; round++) {
    const url = { now: service.url };
    const isOver = { now: false };
    const client = async (): Promise<void> => {
      while (!isOver.now) {
        const id = random.pick(ids);
        const amount = 1 + random.below(9);
        const key = `r${round}-${sent++}`;
        onSent();
        sums.set(id, sums.get(id)! + amount);
        for (;;)
          try {
            const { status } = await add(url.now, id, amount, key);
            if (status === 200) break;
          } catch {
            await new Promise(setImmediate);
          }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    const goal = sent + 60;
    const enough = Promise.withResolvers<void>();
    onSent = () => {
      if (sent >= goal) enough.resolve();
    };
    await enough.promise;
    await service.process.end('SIGKILL');
    service = await start('killed');
    url.now = service.url;
    isOver.now = true;
    await Promise.all(clients);
  }
  for (const id of ids) expect(await valueOf(service.url, id)).toEqual({ value: sums.get(id) });
});
