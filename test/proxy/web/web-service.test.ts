// WebService with a real command: its environment, its registration as a console finds it, and its end.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RunningServices } from '../../../console/server/running-services.ts';
import { WebService, type WebServiceOptions } from '../../../proxy/web/web-service.ts';
import { schemaProblems } from '../../support/observed-process.ts';
import { openPlainForwarder } from '../../support/plain-forwarder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A server that answers with its environment, or with the text of a file that `ANSWER` names. */
const SERVER = `const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const answer = process.env.ANSWER ? readFileSync(process.env.ANSWER, 'utf8') : JSON.stringify(process.env);
createServer((_, r) => r.end(answer)).listen(Number(process.env.PORT), '127.0.0.1');
console.error('ready\\t\\x1b[31m\\u202e');`;

async function started(options: Partial<WebServiceOptions> = {}) {
  let log = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    log += String(text);
    return true;
  });
  onTestFinished(() => write.mockRestore());
  const folder = temporaryFolder();
  const runningFolder = join(folder, 'running');
  const service = await WebService.start({
    name: 'shop',
    command: [process.execPath, '-e', SERVER],
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: 'overwritten', OWN: 'kept' },
    port: 0,
    processPort: undefined,
    mounts: [{ path: '/cart', service: 'cart' }],
    watched: [],
    logFormat: 'text',
    runningFolder,
    runtimeVersion: '0.1.0',
    openForwarder: openPlainForwarder,
    ...options,
  });
  onTestFinished(async () => {
    service.kill();
    await service.stop();
  });
  return { service, folder, runningFolder, log: () => log };
}

const textOf = async (url: string) =>
  (await fetch(url, { headers: { connection: 'close' } })).text();

test('the process has the environment of svc with PORT and SVC_SERVICES_URL', async () => {
  const { service, log } = await started();
  await service.listening;
  const env = JSON.parse(await textOf(service.url)) as NodeJS.ProcessEnv;
  expect(env).toMatchObject({
    OWN: 'kept',
    PORT: expect.stringMatching(/^\d+$/),
    SVC_SERVICES_URL: 'http://127.0.0.1:1',
  });
  expect(log()).toContain(`is served at ${service.url} pid=`);
  expect(log()).toContain(`port=${env['PORT']}`);
});

test('both logs are prefixed, and nothing of the process reaches the terminal unescaped', async () => {
  const { service, log } = await started();
  await service.listening;
  await expect.poll(log).toContain(`shop | ready    ${String.raw`\u{1b}[31m\u{202e}`}\n`);
  expect(log()).toMatch(/^svc {2}\| \d\d:\d\d:\d\d info {2}shop is served at /m);
});

test('the log as JSON has the lines of the process, marked as such', async () => {
  const { service, log } = await started({ logFormat: 'json' });
  await service.listening;
  await expect.poll(log).toContain('"from"');
  const entries = log()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(entries).toContainEqual(
    expect.objectContaining({
      service: 'shop',
      message: 'ready\t\u001b[31m\u202e',
      from: 'process',
      stream: 'stderr',
    }),
  );
  for (const character of ['\u001b', '\u202e']) expect(log()).not.toContain(character);
});

test('a console finds and describes it, until it stops; nothing is left', async () => {
  const { service, runningFolder } = await started();
  await service.listening;
  const services = new RunningServices(runningFolder);
  await expect
    .poll(async () => (await services.list()).services, { timeout: 10_000 })
    .toHaveLength(1);
  const [listed] = (await services.list()).services;
  expect(listed).toMatchObject({ name: 'shop', address: service.url, state: 'running' });
  const answer = await fetch(`${listed!.observabilityAddress}/observability/service`);
  const description = (await answer.json()) as object;
  expect(schemaProblems('ServiceDescription', description)).toEqual([]);
  expect(description).toMatchObject({
    instanceId: listed!.instanceId,
    hosting: 'process',
    protocol: 'http/1.1',
    process: { isListening: true, restarts: 0 },
    mounts: [{ path: '/cart', service: 'cart' }],
    components: [],
    routes: [],
    module: null,
  });
  for (const path of ['live', 'traces', 'faults', 'openapi.json', 'service/more'])
    expect((await fetch(`${listed!.observabilityAddress}/observability/${path}`)).status).toBe(404);
  await service.stop();
  expect(readdirSync(runningFolder)).toEqual([]);
  await expect(fetch(service.url)).rejects.toThrow('fetch failed');
  await expect(fetch(`${listed!.observabilityAddress}/observability/service`)).rejects.toThrow(
    'fetch failed',
  );
});

test('a change of a watched file starts the command again, with the same address', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'answer.txt');
  writeFileSync(file, 'first');
  const { service, log } = await started({
    env: { ANSWER: file },
    watched: [folder],
  });
  await service.listening;
  expect(await textOf(service.url)).toBe('first');
  writeFileSync(join(folder, 'server.log'), 'written by the process');
  writeFileSync(file, 'second');
  await expect
    .poll(async () => textOf(service.url).catch(() => ''), { timeout: 10_000 })
    .toBe('second');
  expect(log()).toContain('answer.txt');
  expect(log()).not.toContain('server.log');
});

test('a watched file to which the output is redirected does not start the command again', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'output.txt');
  const output = openSync(file, 'w');
  onTestFinished(() => closeSync(output));
  const cli = join(import.meta.dirname, '..', '..', '..', 'cli', 'bin', 'svc.js');
  const program = "require('node:http').createServer().listen(process.env.PORT, '127.0.0.1')";
  const words = [
    'web',
    '--name',
    'shop',
    '--port',
    '0',
    '--watch',
    '--',
    process.execPath,
    '-e',
    program,
  ];
  const svc = spawn(process.execPath, [cli, ...words], {
    cwd: folder,
    env: { ...process.env, HOME: temporaryFolder() },
    stdio: ['ignore', output, output],
  });
  const ended = once(svc, 'exit');
  onTestFinished(async () => {
    svc.kill('SIGTERM');
    await ended;
  });
  const log = (): string => readFileSync(file, 'utf8');
  await expect.poll(log, { timeout: 20_000 }).toContain('is served at');
  writeFileSync(join(folder, 'source.js'), 'changed');
  await expect.poll(log, { timeout: 10_000 }).toContain('source.js');
  expect(log()).not.toContain('output.txt');
});

test.each([
  [
    'a command that is not there',
    { command: ['there-is-no-such-program'] },
    'SVC_COMMAND_NOT_STARTED',
  ],
  ['a path that is not there', { watched: ['there-is-no-such-path'] }, 'SVC_WATCH_FAILED'],
])('%s fails the start, and nothing is left', async (_what, options, code) => {
  const closed: string[] = [];
  const running = temporaryFolder();
  await expect(
    started({
      ...options,
      runningFolder: running,
      openForwarder: async (given) => {
        const forwarder = await openPlainForwarder(given);
        return { ...forwarder, close: async () => (closed.push('forwarder'), forwarder.close()) };
      },
    }),
  ).rejects.toMatchObject({ code });
  expect(closed).toEqual(code === 'SVC_WATCH_FAILED' ? [] : ['forwarder']);
  expect(readdirSync(running)).toEqual([]);
});

test('a port that is taken fails the start and names --port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  await expect(started({ port })).rejects.toMatchObject({
    code: 'SVC_PORT_IN_USE',
    message: expect.stringContaining('--port'),
  });
});
