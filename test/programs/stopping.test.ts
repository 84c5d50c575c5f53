// How a host ends: at a signal, whenever it comes, and not when somebody stops listening to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'counter.wasm');
const main = join(import.meta.dirname, '..', '..', 'host', 'main.ts');
const running: SvcProcess[] = [];

beforeAll(async () => writeFileSync(module, await compileFixture('counter')));
afterEach(async () => {
  await Promise.all(running.splice(0).map((svc) => svc.end('SIGKILL')));
});

function start(data: string): SvcProcess {
  const svc = new SvcProcess(['run', module, '--port', '0', '--data', join(folder, data)]);
  running.push(svc);
  return svc;
}

describe('a signal', () => {
  // The delays reach the start-up at all its points: reading, compiling, opening the journal, listening.
  test.each(Array.from({ length: 16 }, (_, index) => index * 30))(
    '%i ms after the start ends the host, and the journal can be opened again',
    async (delayMs) => {
      const data = `early-${delayMs}`;
      const svc = start(data);
      await new Promise((resolve) => {
        setTimeout(resolve, delayMs);
      });
      const { code, signal } = await svc.end('SIGTERM');
      // Before it has begun to listen to signals, it ends as any program does.
      expect([code, signal]).toEqual(code === 0 ? [0, null] : [null, 'SIGTERM']);
      const files = existsSync(join(folder, data)) ? readdirSync(join(folder, data)) : [];
      expect(files).not.toContain('owner.json');
      expect(files).not.toContain('journal.sqlite-wal');
    },
  );

  test('while the journal is opened ends the host', async () => {
    // Told to stop as soon as the data folder is there, which is before the journal's writer is.
    for (let round = 0; round < 3; round++) {
      const data = `opening-${round}`;
      const svc = start(data);
      while (!existsSync(join(folder, data)))
        await new Promise((resolve) => {
          setTimeout(resolve, 1);
        });
      expect(await svc.end('SIGTERM')).toMatchObject({ code: 0, stdout: '' });
    }
  });

  test('a second time ends the host at once', async () => {
    const svc = start('twice');
    const url = await svc.listening();
    // A request that never arrives whole keeps the first signal waiting.
    const stuck = new AbortController();
    const request = fetch(`${url}/counters/a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('{')) }),
      duplex: 'half',
      signal: stuck.signal,
    }).catch(() => {});
    while ((await fetch(`${url}/counters/b`)).status !== 200);
    svc.child.kill('SIGINT');
    await svc.logged(/stopping/);
    expect(await svc.end('SIGINT')).toMatchObject({ code: null, signal: 'SIGINT' });
    stuck.abort();
    await request;
  });
});

test('a reader of its output that goes away does not end the host', async () => {
  const child = spawn(
    process.execPath,
    [main, module, '--port', '0', '--data', join(folder, 'deaf'), '--log', 'json'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = String(line).trim();
  child.stdout.destroy();
  child.stderr.destroy();
  // Nobody reads the line about stopping, either.
  expect((await fetch(`${url}/counters/a`)).status).toBe(200);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('a host whose output nobody reads from the start serves all the same', async () => {
  const child = spawn(
    process.execPath,
    [main, module, '--port', '0', '--data', join(folder, 'unheard')],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  child.stdout.destroy();
  let heard = '';
  const url = Promise.withResolvers<string>();
  child.stderr.on('data', (chunk: Buffer) => {
    heard += String(chunk);
    const found = /is served at (\S+)/.exec(heard)?.[1];
    if (found !== undefined) url.resolve(found);
  });
  expect((await fetch(`${await url.promise}/counters/a`)).status).toBe(200);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
