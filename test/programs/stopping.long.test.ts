// How a host ends: at a signal, whenever it comes, and not when somebody stops listening to it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { OWN_PLACES, stopForGood, SvcProcess } from '../support/host-process.ts';
import { stuckRequest } from '../support/stuck-request.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'counter.wasm');
const root = join(import.meta.dirname, '..', '..');
const main = join(root, 'host', 'main.ts');
const cli = join(root, 'cli', 'bin', 'svc.js');
const running: SvcProcess[] = [];
const ENV = { ...process.env, ...OWN_PLACES };

beforeAll(async () => writeFileSync(module, await compileFixture('counter')));
afterEach(async () => {
  await Promise.all(running.splice(0).map((svc) => svc.end('SIGKILL')));
});

function start(data: string, env: NodeJS.ProcessEnv = {}): SvcProcess {
  const words = ['run', module, '--port', '0', '--data', join(folder, data)];
  const svc = new SvcProcess(words, { env });
  running.push(svc);
  return svc;
}

/** Has the main thread of the host run a program first, so that what it does is timed from within. */
function inHost(program: string): NodeJS.ProcessEnv {
  const preload = `import { isMainThread } from 'node:worker_threads';
    if (isMainThread && process.argv[1] === ${JSON.stringify(main)}) {${program}}`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preload)}` };
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
    const svc = start(
      'opening',
      inHost(`
        const fs = process.getBuiltinModule('node:fs');
        const { mkdirSync } = fs;
        fs.mkdirSync = (path, ...how) => {
          const made = mkdirSync(path, ...how);
          if (path === ${JSON.stringify(join(folder, 'opening'))}) process.kill(process.pid, 'SIGTERM');
          return made;
        };
        process.getBuiltinModule('node:module').syncBuiltinESMExports();`),
    );
    expect(await svc.ended).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(join(folder, 'opening'))).toBe(true);
  });

  test('that another process of the group passes on ends the host in good order', async () => {
    // From within: what comes from here may come too late for a signal that is passed on.
    const svc = start(
      'passed-on',
      inHost(`
        process.once('SIGTERM', () => {
          const sinceMs = performance.now();
          setTimeout(() => {
            if (performance.now() - sinceMs < 500) process.kill(process.pid, 'SIGTERM');
            process.stderr.write('passed on\\n');
          }, 100);
        });`),
    );
    const release = await stuckRequest(`${await svc.listening()}/counters/a`);
    svc.child.kill('SIGTERM');
    await svc.logged(/stopping/);
    await svc.logged(/passed on/);
    await release();
    expect(await svc.ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/"?stopped"?/),
    });
  });

  test('a second time ends the host at once', async () => {
    const svc = start('twice');
    const url = await svc.listening();
    const release = await stuckRequest(`${url}/counters/a`);
    svc.child.kill('SIGINT');
    await svc.logged(/stopping/);
    const again = setInterval(() => svc.child.kill('SIGINT'), 100);
    expect(await svc.ended).toMatchObject({ code: null, signal: 'SIGINT' });
    clearInterval(again);
    await release();
  });
});

/** As npm's shell has it where it does not become the command. Killed, it passes nothing on. */
function startInShell(data: string, env: NodeJS.ProcessEnv) {
  const script = `"$0" "$1" run "$2" --port 0 --data "$3"; true`;
  const words = [process.execPath, cli, module, join(folder, data)];
  const shell = spawn('/bin/sh', ['-c', script, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...ENV, npm_lifecycle_event: undefined, ...env },
  });
  return { shell, log: text(shell.stderr) };
}

function pidIn(data: string): number {
  const owner = readFileSync(join(folder, data, 'owner.json'), 'utf8');
  return (JSON.parse(owner) as { pid: number }).pid;
}

describe('a service that npm started', () => {
  test('ends in good order when the shell between them ends', async () => {
    const { shell, log } = startInShell('orphan', { npm_lifecycle_event: 'start' });
    await once(shell.stdout, 'data');
    const pid = pidIn('orphan');
    onTestFinished(() => stopForGood(pid));
    expect(pid).not.toBe(shell.pid);
    shell.kill('SIGTERM');
    // The service holds the other end of this pipe.
    expect(await log).toMatch(/has ended.*"stopping"[^]*"stopped"/);
    expect(readdirSync(join(folder, 'orphan'))).not.toContain('owner.json');
  });

  test('is the only one that does: of another shell it outlives the end', async () => {
    // Reports in its own event loop, so that a watch that is there has had its turn before.
    const outlives = `const parent = process.ppid;
      const watch = setInterval(() => {
        if (process.ppid === parent) return;
        clearInterval(watch);
        setTimeout(() => process.stderr.write('outlives its parent\\n'), 500);
      }, 20).unref();`;
    const { shell } = startInShell('daemon', {
      SVC_PARENT_PID: '1',
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(outlives)}`,
    });
    const outlived = Promise.withResolvers<void>();
    shell.stderr.on('data', (chunk: Buffer) => {
      if (String(chunk).includes('outlives its parent')) outlived.resolve();
    });
    const [line] = (await once(shell.stdout, 'data')) as [Buffer];
    const pid = pidIn('daemon');
    onTestFinished(() => stopForGood(pid));
    shell.kill('SIGTERM');
    await outlived.promise;
    expect((await fetch(`${String(line).trim()}/counters/a`)).status).toBe(200);
  });
});

test('the host listens for signals before it loads anything that takes time', async () => {
  const probe = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (/\\/(?:host|kit)\\/.*\\.ts$/.test(url))
        process.stderr.write(\`loads \${url.split('/').at(-1)}, listens \${process.listenerCount('SIGTERM')}\\n\`);
      return next(url, context);
    } });`;
  const svc = new SvcProcess(['run', join(folder, 'none.wasm')], {
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(probe)}` },
  });
  const { stderr } = await svc.ended;
  const loads = stderr.split('\n').filter((line) => line.startsWith('loads '));
  // Before, the command line has loaded what it shows text with.
  const first = loads.findIndex((line) => line.startsWith('loads main.ts'));
  expect(loads.slice(first, first + 3)).toEqual([
    'loads main.ts, listens 0',
    'loads stop-request.ts, listens 0',
    'loads run-service.ts, listens 1',
  ]);
});

// Only root may make a space of process numbers.
const noNamespace =
  spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0
    ? undefined
    : 'not tested: this user cannot start a process 1 (unshare --pid)';
if (noNamespace !== undefined) console.log(noNamespace);

test.skipIf(noNamespace !== undefined)(
  'as process 1, for which a signal does nothing of itself, the host ends all the same',
  async () => {
    const words = [process.execPath, cli, 'run', module, '--port', '0', '--deployed'];
    const svc = spawn(
      'unshare',
      ['--pid', '--fork', '--kill-child', ...words, '--data', join(folder, 'first')],
      { stdio: ['ignore', 'pipe', 'pipe'], env: ENV },
    );
    const [line] = (await once(svc.stdout, 'data')) as [Buffer];
    const release = await stuckRequest(`${String(line).trim()}/counters/a`);
    const first = Number(readFileSync(`/proc/${svc.pid}/task/${svc.pid}/children`, 'utf8'));
    onTestFinished(() => void svc.kill('SIGKILL'));
    process.kill(first, 'SIGTERM');
    const stopping = Promise.withResolvers<void>();
    let said = '';
    svc.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      if (said.includes('"stopping"')) stopping.resolve();
    });
    await stopping.promise;
    const exited = once(svc, 'exit');
    const again = setInterval(
      () => existsSync(`/proc/${first}`) && process.kill(first, 'SIGTERM'),
      100,
    );
    expect(await exited).toEqual([143, null]);
    clearInterval(again);
    await release();
  },
);

test('a reader of its output that goes away does not end the host', async () => {
  const child = spawn(
    process.execPath,
    [main, module, '--port', '0', '--data', join(folder, 'deaf'), '--log', 'json'],
    { stdio: ['ignore', 'pipe', 'pipe'], env: ENV },
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
    { stdio: ['ignore', 'pipe', 'pipe'], env: ENV },
  );
  child.stdout.destroy();
  let heard = '';
  const url = Promise.withResolvers<string>();
  child.stderr.on('data', (chunk: Buffer) => {
    heard += String(chunk);
    const found = /"url":"([^"]+)"/.exec(heard)?.[1];
    if (found !== undefined) url.resolve(found);
  });
  expect((await fetch(`${await url.promise}/counters/a`)).status).toBe(200);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
