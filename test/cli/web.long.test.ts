// svc web, as a user starts and stops it.
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readArguments } from '../../cli/arguments.ts';
import { web } from '../../cli/commands/web.ts';
import { usageOf } from '../../cli/description.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SERVER = `const { createServer } = require('node:http');
createServer((request, response) => {
  request.resume().on('end', () => response.end(JSON.stringify({ url: request.url, headers: request.headers })));
}).listen(Number(process.env.PORT), '127.0.0.1');
console.log('the process is ' + process.pid);`;

function started(args: readonly string[], script = SERVER, env: NodeJS.ProcessEnv = {}) {
  const folder = temporaryFolder();
  const file = join(folder, 'server.cjs');
  writeFileSync(file, script);
  const svc = new SvcProcess(
    ['web', '--port', '0', '--name', 'shop', ...args, '--', process.execPath, file],
    { cwd: folder, env: { SVC_RUNNING_DIR: join(folder, 'running'), ...env } },
  );
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  return { svc, folder };
}

/** The process id that a process has printed. */
const printedPid = (text: string) => Number(/the process is (\d+)/.exec(text)?.[1]);

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'it prints its address once the process listens, and ends with it at %s',
  async (signal) => {
    const { svc } = started(['--log', 'text']);
    const url = await svc.listening();
    expect((await fetch(url)).status).toBe(200);
    const { code, stdout, stderr } = await svc.end(signal);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}\n` });
    expect(stderr).toMatch(/^shop \| the process is \d+$/m);
    expect(stderr).toContain(`is served at ${url}`);
    expect(isRunning(printedPid(stderr))).toBe(false);
  },
);

test('a second signal kills what does not end', async () => {
  const { svc } = started([], `process.on('SIGTERM', () => console.log('not yet'));\n${SERVER}`);
  await svc.listening();
  svc.child.kill('SIGINT');
  await svc.logged(/not yet/);
  const pid = printedPid(svc.stderr);
  // A signal that follows at once counts as a copy of the first.
  await expect
    .poll(
      () => {
        if (!isRunning(pid)) return 'killed';
        svc.child.kill('SIGINT');
        return 'runs';
      },
      { interval: 200, timeout: 9_000 },
    )
    .toBe('killed');
  expect((await svc.ended).code).toBe(0);
}, 20_000);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a request has the headers that say where it came from', async () => {
  const { svc } = started([]);
  const url = new URL(await svc.listening());
  const answer = await fetch(new URL('/a?b=c', url), {
    headers: { 'x-svc-caller': 'internet', 'x-forwarded-proto': 'https', traceparent: 'kept' },
  });
  const { url: target, headers } = (await answer.json()) as {
    url: string;
    headers: Record<string, string>;
  };
  expect(target).toBe('/a?b=c');
  expect(headers).toMatchObject({
    host: url.host,
    'x-svc-caller': 'local',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': url.host,
    'x-forwarded-port': url.port,
    traceparent: 'kept',
  });
});

test('the folder in which svc caches its own code is not that of the process', async () => {
  const script = `${SERVER}\nconsole.log('cache ' + process.env.NODE_COMPILE_CACHE);`;
  const own = join(temporaryFolder(), 'cache');
  for (const [given, expected] of [
    [undefined, 'undefined'],
    [own, own],
  ]) {
    const { svc } = started([], script, { NODE_COMPILE_CACHE: given });
    await svc.logged(/cache /);
    expect(svc.stderr).toContain(`cache ${expected}"`);
  }
});

test('the process calls other services, and mounts pass requests to them', async () => {
  const running = temporaryFolder();
  const env = { SVC_RUNNING_DIR: running };
  const cart = started(['--name', 'cart'], SERVER, env).svc;
  await cart.listening();
  const caller = `const { createServer } = require('node:http');
createServer(async (request, response) => {
  const answer = await fetch(process.env.SVC_SERVICES_URL + request.url);
  response.writeHead(answer.status, { 'x-from': answer.headers.get('x-svc-answered-by') ?? 'service' });
  response.end(await answer.text());
}).listen(Number(process.env.PORT), '127.0.0.1');`;
  const shop = started(['--mount', '/basket=cart'], caller, env).svc;
  const url = await shop.listening();
  const asked = async (path: string) => {
    const answer = await fetch(url + path);
    const { url: target, error } = (await answer.json()) as { url?: string; error?: string };
    return { status: answer.status, from: answer.headers.get('x-from'), target, error };
  };
  expect(await asked('/cart/items?a=b')).toMatchObject({
    status: 200,
    from: 'service',
    target: '/items?a=b',
  });
  expect(await asked('/basket/items')).toMatchObject({ status: 200, from: null, target: '/items' });
  // Both processes get the address to which the client has sent the request.
  const { headers } = (await (await fetch(`${url}/basket/items`)).json()) as {
    headers: Record<string, string>;
  };
  const { host, port } = new URL(url);
  expect(headers).toMatchObject({
    host,
    'x-svc-caller': 'local',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': host,
    'x-forwarded-port': port,
  });
  expect(await asked('/billing/x')).toMatchObject({
    status: 503,
    from: 'proxy',
    error: expect.stringContaining('billing'),
  });
  await cart.end('SIGTERM');
  await expect.poll(async () => (await asked('/cart/x')).status, { timeout: 10_000 }).toBe(503);
});

test('a request is answered 503 while the process does not listen, and reaches the next one', async () => {
  const running = temporaryFolder();
  const { svc } = started([], SERVER, { SVC_RUNNING_DIR: running });
  const url = await svc.listening();
  const pid = printedPid(svc.stderr);
  process.kill(pid, 'SIGKILL');
  const status = async () => (await fetch(url)).status;
  await expect.poll(() => svc.stderr.match(/the process is/g)?.length, { timeout: 10_000 }).toBe(2);
  await expect.poll(status, { timeout: 10_000 }).toBe(200);
  expect(printedPid(svc.stderr.slice(svc.stderr.lastIndexOf('the process is')))).not.toBe(pid);
});

test('a command that is not there is told at once', async () => {
  const { code, stdout, stderr } = await runSvc(
    ['web', '--port', '0', '--name', 'shop', '--', 'there-is-no-such-program'],
    { cwd: temporaryFolder() },
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /there-is-no-such-program was not started: .*\[SVC_COMMAND_NOT_STARTED\]\n$/,
  );
});

test('a process port that is taken is refused, and names --process-port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { svc } = started(['--process-port', String(port)]);
  const { code, stderr } = await svc.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('--process-port');
});

test.each([
  [[], "web takes COMMAND [ARGUMENT ...] behind '--'"],
  [['--'], "web takes COMMAND [ARGUMENT ...] behind '--'"],
  [['node', 'server.js'], "web takes COMMAND [ARGUMENT ...] behind '--'"],
  [['node', '--', 'node'], 'web takes no words, and found node'],
  [['--', ''], 'web takes no empty word as COMMAND'],
  [['--port', 'x', '--', 'a'], 'as --port'],
  [['--process-port', '0', '--', 'a'], 'from 1 to 65535 as --process-port'],
  [['--name', 'Shop', '--', 'a'], '--name is "Shop"'],
  [['--mount', '/cart', '--', 'a'], 'web takes /PATH=SERVICE as --mount'],
  [
    ['--mount', 'cart=cart', '--mount', '/x=Cart', '--', 'a'],
    /--mount cart=cart: the path .*; --mount \/x=Cart: the service /,
  ],
  [['--name', 'shop', '--mount', '/a=shop', '--', 'a'], 'is the service itself'],
  [['--watch', '--watsh', '--', 'a'], "Did you mean '--watch'?"],
])('what cannot be run is refused: %j', async (args, expected) => {
  const { code, stdout, stderr } = await runCommand(['web', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(expected instanceof RegExp ? expected : new RegExp(escaped(expected)));
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

test.each([
  [['--watch', '--', 'a'], ['.']],
  [['--watch', 'src', '--', 'a'], ['src']],
  [
    ['--watch', '--watch', 'b', '--', 'a'],
    ['.', 'b'],
  ],
  [['--watch=src', '--log', 'json', '--', 'a'], ['src']],
  [['--watch', '--log', 'json', '--', 'a', '--watch', 'x'], ['.']],
  [['--', 'a'], []],
])('the value of --watch may be left out: %j', (args, watched) => {
  const { words, options } = readArguments(web.description, args);
  expect(options['watch']).toEqual(watched);
  expect(words).toEqual(args.slice(args.indexOf('--') + 1));
});

test('the words of the command are passed on as they are', () => {
  const { words } = readArguments(web.description, ['--', 'a', '--port', '', '--', '-x']);
  expect(words).toEqual(['a', '--port', '', '--', '-x']);
  expect(usageOf(web.description)).toBe('svc web [OPTION ...] -- COMMAND [ARGUMENT ...]');
});
