// A service whose process the runtime starts itself, by the command in a file, as whole programs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../support/free-ports.ts';
import { SvcProcess } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'cart-program.ts');

/** Starts the runtime, which starts the command with its port. */
async function start(
  command: readonly string[],
  ...more: readonly string[]
): Promise<{ readonly runtime: SvcProcess; readonly port: number }> {
  const [port] = await freePorts(1);
  const file = join(temporaryFolder(), 'process.json');
  const env = { SVC_PROCESS_PORT: String(port) };
  writeFileSync(file, JSON.stringify({ command, env }));
  const words = ['--process', `127.0.0.1:${port}`, '--set', `svc.process.file=${file}`];
  const own = ['--name', 'carts', '--port', '0', '--data', temporaryFolder(), '--log', 'json'];
  const runtime = new SvcProcess(['run', ...words, ...own, ...more]);
  onTestFinished(() => void runtime.child.kill('SIGKILL'));
  return { runtime, port: port! };
}

const add = (url: string) =>
  fetch(`${url}/carts/c1/items`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sku: 'tea', quantity: 1 }),
  });

test('a process that ends is started again, the service goes on, and both end together', async () => {
  // The shell says its id, and becomes the process.
  const script = 'echo "I am $$"; exec "$0" "$@"';
  const { runtime } = await start(['/bin/sh', '-c', script, process.execPath, PROGRAM]);
  const url = await runtime.listening();
  expect((await add(url)).status).toBe(200);
  const ids = () =>
    [...runtime.stderr.matchAll(/"message":"I am (\d+)".*$|"I am (\d+)"/gm)].map((found) =>
      Number(found[1] ?? found[2]),
    );
  process.kill(ids()[0]!, 'SIGKILL');
  await expect.poll(ids, { timeout: 30_000 }).toHaveLength(2);
  await expect.poll(async () => (await add(url)).status, { timeout: 30_000 }).toBe(200);
  expect(await (await fetch(`${url}/carts/c1`)).json()).toMatchObject({
    items: [{ sku: 'tea', quantity: 2 }],
  });
  expect(runtime.stderr).toContain('the process has ended by SIGKILL; it is started again');
  expect(runtime.stderr).toMatch(/"from":"process"/);
  const [, second] = ids();
  expect(await runtime.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(() => process.kill(second!, 0)).toThrow(/ESRCH/);
}, 120_000);

test('a process that ends before it is there ends the service, with its last line', async () => {
  const { runtime } = await start([
    '/bin/sh',
    '-c',
    'echo begin; echo the disk is gone >&2; exit 4',
  ]);
  const { code, stderr } = await runtime.ended;
  expect(code).not.toBe(0);
  expect(stderr).toMatch(
    /The process has ended with exit code 4\. Look at its log, whose last line is: the disk is gone/,
  );
  expect(stderr).toContain('SVC_PROCESS_ENDED');
}, 60_000);

test('a process that ignores SIGTERM is killed', async () => {
  const ignoring = `process.on('SIGTERM', () => {}); process.argv.splice(1, 1); await import(${JSON.stringify(PROGRAM)});`;
  const command = [process.execPath, '--input-type=module', '-e', ignoring, 'x'];
  const { runtime } = await start(command);
  await runtime.listening();
  const { code, stderr } = await runtime.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toContain('the process did not end in time and was killed');
}, 60_000);

test('a command that does not exist ends the service', async () => {
  const { runtime } = await start(['/none']);
  const { code, stderr } = await runtime.ended;
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/SVC_COMMAND_NOT_STARTED/);
  expect(stderr).toContain('svc.process.file');
}, 60_000);

test('a deployed service ends with its process when that comes back with other code', async () => {
  // Each run has another version.
  const script = 'echo "I am $$"; echo >> "$2"; exec "$0" "$1" "$(wc -l < "$2")"';
  const runs = join(temporaryFolder(), 'runs');
  const deployed = '--deployed --host 127.0.0.1 --shards 1 --set svc.management.port=0'.split(' ');
  const command = ['/bin/sh', '-c', script, process.execPath, PROGRAM, runs];
  const { runtime } = await start(command, ...deployed);
  await runtime.listening();
  process.kill(Number(/I am (\d+)/.exec(runtime.stderr)![1]), 'SIGKILL');
  const { code, stderr } = await runtime.ended;
  expect(code).not.toBe(0);
  expect(stderr).toContain('SVC_PROCESS_REPLACED');
  const [, second] = [...stderr.matchAll(/"I am (\d+)"/g)].map((found) => Number(found[1]));
  expect(() => process.kill(second!, 0)).toThrow(/ESRCH/);
}, 120_000);
