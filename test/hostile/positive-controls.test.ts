// Each interface of WASI 0.2, used in earnest: under jco and preview2-shim with their defaults the controls
// read the file, open the socket, see the environment and the clock. Then svc is given the same component,
// and refuses it by the names of what it imports.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CONTROLS, controlComponent } from '../../fixtures/hostile/controls/controls.ts';
import { WASI_INTERFACES } from '../../fixtures/hostile/families/01-wasi-interfaces.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { within } from '../support/within.ts';
import { runToEnd } from './support/hostile-host.ts';

const RUNNER = join(import.meta.dirname, 'support', 'run-control.ts');
/** Beside node_modules, where what is generated finds the shim. */
const GENERATED = join(import.meta.dirname, '../../build/hostile/controls');
/** To transpile it and to run it, twice in one test, on a machine that has other work. */
const CONTROL_SECONDS = 50;
const folder = temporaryFolderOfFile();
const components = new Map<string, Uint8Array>();

beforeAll(async () => {
  for (const control of CONTROLS) {
    const bytes = await controlComponent(control);
    components.set(control.name, bytes);
    writeFileSync(join(folder, `${control.name}.wasm`), bytes);
  }
});

type Call = readonly [name: string, ...parameters: (number | string)[]];
interface Outcome {
  readonly answers: Readonly<Record<string, unknown>> | undefined;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  name: string,
  calls: readonly Call[],
  options: { preopen?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<Outcome> {
  const output = join(GENERATED, `${name}-${process.pid}`);
  mkdirSync(output, { recursive: true });
  const orders = JSON.stringify({ preopen: options.preopen, calls });
  const child = fork(RUNNER, [join(folder, `${name}.wasm`), output, orders], {
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...options.env },
  });
  let answers: Outcome['answers'];
  let stdout = '';
  let stderr = '';
  child.on('message', (message) => (answers = message as NonNullable<Outcome['answers']>));
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin!.end(options.input ?? '');
  const ended = once(child, 'close') as Promise<[number | null]>;
  const what = () => `the end of the control ${name}:\n${stderr}`;
  const [code] = await within(CONTROL_SECONDS, what, ended);
  return { answers, code, stdout, stderr };
}

describe('what other runtimes give a component', () => {
  test('the environment, the input, the output and the end of the process', async () => {
    const { answers, stdout, stderr } = await run(
      'cli',
      [['variables'], ['readInput'], ['writeOutput'], ['writeError']],
      { env: { SVC_TEST_SECRET: 'of the environment' }, input: 'typed in' },
    );
    expect(answers?.['variables']).toContainEqual(['SVC_TEST_SECRET', 'of the environment']);
    expect(answers?.['readInput']).toBe('typed in');
    expect([answers?.['writeOutput'], answers?.['writeError']]).toEqual([true, true]);
    expect(stdout).toContain('hello of a control');
    expect(stderr).toContain('hello of a control');
    const left = await run('cli', [['leave']]);
    expect([left.code, left.answers]).toEqual([1, undefined]);
  });

  test('the terminals and the clocks', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { answers } = await run('terminal-and-clocks', [
      ['terminals'],
      ['ticks'],
      ['waited'],
      ['seconds'],
    ]);
    const after = Math.floor(Date.now() / 1000);
    expect(answers?.['terminals']).toBe(7);
    expect(Number(answers?.['ticks'])).toBeGreaterThan(0);
    expect(Number(answers?.['waited'])).toBeGreaterThanOrEqual(2_000_000);
    const seconds = Number(answers?.['seconds']);
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(after);
  });

  test('files and chance', async () => {
    const preopen = join(folder, 'preopened');
    mkdirSync(preopen);
    writeFileSync(join(preopen, 'secret.txt'), 'in a file');
    const calls: Call[] = [['secret'], ['chance'], ['insecureChance'], ['seed']];
    const first = (await run('files-and-random', calls, { preopen })).answers;
    const second = (await run('files-and-random', calls, { preopen })).answers;
    expect(first?.['secret']).toBe('in a file');
    for (const name of ['chance', 'insecureChance', 'seed']) {
      expect(first?.[name]).not.toHaveProperty('error');
      expect([name, first?.[name]]).not.toEqual([name, second?.[name]]);
    }
  });

  test('sockets and the names of hosts', async () => {
    const server = createServer((socket) => socket.destroy());
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const connected = once(server, 'connection');
    const { port } = server.address() as AddressInfo;
    const { answers } = await run('sockets', [['connect', port], ['bind'], ['lookUp']]);
    expect(answers).toMatchObject({ connect: 0, lookUp: 0 });
    expect(answers?.['bind']).toBeGreaterThan(0);
    await within(20, 'the connection of the control', connected);
  });

  test('requests of HTTP', async () => {
    const server = createHttpServer((_request, response) => response.writeHead(218).end());
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { answers } = await run('http', [['fetch', `127.0.0.1:${port}`]]);
    expect(answers).toEqual({ fetch: 218 });
  });
});

describe('svc', () => {
  test.each(CONTROLS)('refuses the control $name, by name', async ({ name, interfaces }) => {
    const end = await runToEnd(folder, `svc-${name}`, components.get(name)!);
    expect(end.stderr).toMatch(/\[SVC_MODULE_FOREIGN_IMPORT\]\n$/);
    expect(interfaces.filter((found) => !end.stderr.includes(`'${found}@`))).toEqual([]);
  });

  test('has a control for each interface of WASI', () => {
    const controlled = new Set(CONTROLS.flatMap(({ interfaces }) => interfaces));
    // What serves HTTP exports this one; nothing gives it to a component that imports it.
    expect(WASI_INTERFACES.filter((name) => !controlled.has(name))).toEqual([
      'wasi:http/incoming-handler',
    ]);
  });
});
