// A service whose code is in a process that the runtime starts itself, as whole programs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandWords } from '../../../host/hosting/process/command-words.ts';
import { isProcessAlive } from '../../../kit/process-life.ts';
import { SvcProcess } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'cart-program.ts');
const SDK = join(import.meta.dirname, '../../../process-sdk/typescript/index.ts');

/**
 * A folder with a program that serves the cart in the version of the file `version`, and has written its process id to the file `pid`. Where
 * the version is `broken`, it ends at once; where it is `empty`, it has no components.
 */
function programFolder(): { readonly folder: string; readonly file: (name: string) => string } {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  writeFileSync(file('version.txt'), '1');
  writeFileSync(
    file('main.ts'),
    `import { readFileSync, writeFileSync } from 'node:fs';
    const version = readFileSync(${JSON.stringify(file('version.txt'))}, 'utf8');
    if (version === 'broken') throw new Error('it is broken');
    writeFileSync(${JSON.stringify(file('main.pid'))}, String(process.pid));
    process.argv[2] = version;
    if (version === 'empty') {
      const { serveProcess } = await import(${JSON.stringify(SDK)});
      await serveProcess({});
    } else await import(${JSON.stringify(PROGRAM)});
    `,
  );
  return { folder, file };
}

function started(command: 'run' | 'dev', folder: string, ...more: readonly string[]): SvcProcess {
  const line = `'${process.execPath}' "${join(folder, 'main.ts')}"`;
  const own = ['--name', 'carts', '--port', '0', '--data', temporaryFolder()];
  const env = command === 'dev' ? { SVC_DEPLOYED: 'true' } : {};
  const svc = new SvcProcess([command, ...more, '--process-command', line, ...own], { env });
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  return svc;
}

const added = async (url: string, sku: string) => {
  const body = JSON.stringify({ sku, quantity: 1 });
  const headers = { 'content-type': 'application/json' };
  try {
    return (await fetch(`${url}/carts/c1/items`, { method: 'POST', headers, body })).status;
  } catch {
    // The service begins again.
    return 0;
  }
};
const skus = async (url: string) => {
  const cart = (await (await fetch(`${url}/carts/c1`)).json()) as {
    readonly items: readonly { readonly sku: string }[];
  };
  return cart.items.map(({ sku }) => sku);
};

test('a command is words without a shell: quotes keep spaces, and one that is not closed is refused', () => {
  expect(commandWords(`python3 'my main.py' --name="a b"  x`)).toEqual([
    'python3',
    'my main.py',
    '--name=a b',
    'x',
  ]);
  expect(commandWords('node main.ts > $HOME/x; `y`')).toEqual([
    'node',
    'main.ts',
    '>',
    '$HOME/x;',
    '`y`',
  ]);
  const refused = ['', '  ', `node 'main.ts`, `node "a`, `''`];
  expect(refused.filter((line) => commandWords(line) !== undefined)).toEqual([]);
});

test('the runtime starts the process, starts it again when it is killed, and begins again with other code', async () => {
  const { folder, file } = programFolder();
  const svc = started('run', folder);
  const pid = () => Number(readFileSync(file('main.pid'), 'utf8'));
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  expect(svc.stderr).toContain('"from":"process"');

  const first = pid();
  process.kill(first, 'SIGKILL');
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(pid()).not.toBe(first);
  expect(svc.stderr).not.toContain('begins again');

  writeFileSync(file('version.txt'), '2');
  process.kill(pid(), 'SIGKILL');
  await svc.logged(/the service begins again/);
  await expect.poll(() => added(url, 'c'), { timeout: 30_000 }).toBe(200);
  expect(await skus(url)).toEqual(['a', 'b', 'c']);

  const last = pid();
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(isProcessAlive(last)).toBe(false);
}, 120_000);

test('svc dev starts the process again when a file changes, and waits for code that works', async () => {
  const { folder, file } = programFolder();
  writeFileSync(file('version.txt'), 'broken');
  const svc = started('dev', folder, folder);
  await svc.logged(/it is broken/);
  writeFileSync(file('version.txt'), '1');
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  writeFileSync(file('version.txt'), '2');
  await svc.logged(/the service begins again/);
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(await skus(url)).toEqual(['a', 'b']);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 120_000);

test('svc dev waits when the code does not read what is stored, and serves code that comes while it still fails', async () => {
  const { folder, file } = programFolder();
  const svc = started('dev', folder, folder);
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  writeFileSync(file('version.txt'), 'empty');
  await svc.logged(/Waiting for a change/);
  expect(svc.stderr).toContain('SVC_MANIFEST_UNREADABLE');

  writeFileSync(file('version.txt'), '2');
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(await skus(url)).toEqual(['a', 'b']);

  writeFileSync(file('version.txt'), 'empty');
  await svc.logged(/(begins again[^]*){2}/);
  writeFileSync(file('version.txt'), '3');
  await expect.poll(() => added(url, 'c'), { timeout: 30_000 }).toBe(200);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 180_000);

test.each([
  ['--process-command=  ', /a program and its arguments/],
  ["--process-command='node", /a program and its arguments/],
  ['--process-command=no-such-program-here', /SVC_COMMAND_NOT_STARTED|was not started/],
  ['--process-command=node --process=127.0.0.1:9010', /--process and --process-command/],
  ['--set=svc.process.watch=.', /add --process-command/],
])('run %s is refused with a sentence', async (given, words) => {
  const svc = new SvcProcess([
    'run',
    ...given.split(' --').map((one, i) => (i ? `--${one}` : one)),
  ]);
  const { code, stderr } = await svc.ended;
  expect(code).not.toBe(0);
  expect(stderr).toMatch(words);
});
