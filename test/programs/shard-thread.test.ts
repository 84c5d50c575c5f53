// What the thread is that runs a module, seen from within it: a host is started whose shard first runs a
// probe of this test.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();

/** Runs in the shard before anything else, and tells stderr what it finds. */
const PROBE = `
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  import vm from 'node:vm';
  const tell = (found) => writeSync(2, 'probe ' + JSON.stringify(found) + '\\n');
  const ways = {
    'eval': () => eval('1'),
    'indirect eval': () => (0, eval)('1'),
    'Function': () => new Function('return 1'),
    'AsyncFunction': () => new (async () => {}).constructor('return 1'),
    'GeneratorFunction': () => new (function* () {}).constructor('return 1'),
    'node:vm': () => vm.runInThisContext('1'),
    'WebAssembly.Module': () =>
      new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))),
  };
  for (const [way, attempt] of Object.entries(ways)) {
    try {
      attempt();
      tell({ way, outcome: 'done' });
    } catch (error) {
      tell({ way, outcome: error.name });
    }
  }
  tell({ env: Object.keys(process.env) });
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const source = loaded.source === undefined || loaded.source === null ? '' : String(loaded.source);
      tell({ loads: url, generates: /\\beval\\(|\\bFunction\\(|node:vm|node:inspector|\\bimport\\((?!'\\.)/.test(source) });
      return loaded;
    },
  });`;

/** Runs in the main thread, and hands the probe to the shard. */
const PRELOAD = `
  import workers from 'node:worker_threads';
  import { syncBuiltinESMExports } from 'node:module';
  const { Worker } = workers;
  workers.Worker = class extends Worker {
    constructor(file, options) {
      const execArgv = ['--import', ${JSON.stringify(pathToFileURL(join(folder, 'probe.mjs')).href)}];
      super(file, options.name === 'shard' ? { ...options, execArgv } : options);
    }
  };
  syncBuiltinESMExports();`;

interface Found {
  readonly way?: string;
  readonly outcome?: string;
  readonly env?: readonly string[];
  readonly loads?: string;
  readonly generates?: boolean;
}

let svc: SvcProcess;
let url: string;
const found = (): Found[] =>
  svc.stderr
    .split('\n')
    .filter((line) => line.startsWith('probe '))
    .map((line) => JSON.parse(line.slice('probe '.length)) as Found);

beforeAll(async () => {
  const module = join(folder, 'counter.wasm');
  writeFileSync(module, await compileFixture('counter'));
  writeFileSync(join(folder, 'probe.mjs'), PROBE);
  writeFileSync(join(folder, 'preload.mjs'), PRELOAD);
  const preload = pathToFileURL(join(folder, 'preload.mjs')).href;
  svc = new SvcProcess(['run', module, '--port', '0', '--data', join(folder, 'data')], {
    env: { NODE_OPTIONS: `--import ${preload}`, SECRET_OF_THE_HOST: 'x' },
  });
  url = await svc.listening();
});
afterAll(async () => {
  await svc.end('SIGTERM');
});

test('a shard of such a host serves', async () => {
  const response = await fetch(`${url}/counters/a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":5}',
  });
  expect(response.status).toBe(200);
});

test('a shard cannot make code of a string, and compiles WebAssembly all the same', () => {
  const outcomes = found().flatMap(({ way, outcome }) =>
    way === undefined ? [] : [[way, outcome]],
  );
  expect(Object.fromEntries(outcomes)).toEqual({
    eval: 'EvalError',
    'indirect eval': 'EvalError',
    Function: 'EvalError',
    AsyncFunction: 'EvalError',
    GeneratorFunction: 'EvalError',
    // The flag does not know it: no source that a shard loads may use it, as the last test here shows.
    'node:vm': 'done',
    'WebAssembly.Module': 'done',
  });
});

test('a shard has nothing of the environment but the place of compiled code', () => {
  const env = found().find((line) => line.env !== undefined)!.env!;
  expect(env.filter((name) => name !== 'NODE_COMPILE_CACHE')).toEqual([]);
});

test("a shard loads the host's own sources and no package, so no generator of code", () => {
  const loaded = found().flatMap(({ loads, generates }) =>
    loads === undefined || loads.startsWith('node:') ? [] : [{ loads, generates }],
  );
  const names = loaded.map(({ loads }) => loads.slice(loads.lastIndexOf('/') + 1));
  expect(names).toEqual(
    expect.arrayContaining(['shard.ts', 'http-server.ts', 'attached-journal.ts', 'wasm-guest.ts']),
  );
  expect(loaded.filter(({ loads }) => loads.includes('/node_modules/'))).toEqual([]);
  // It is the only one, and forwards nothing.
  expect(
    names.filter((name) => /^(shard-router|peer-protocol|ring-transport|frame)\./.test(name)),
  ).toEqual([]);
  expect(loaded.filter(({ generates }) => generates)).toEqual([]);
});
