// What a host does with what it cannot use: one clear sentence that says what to do, a documented
// code, a non-zero exit, and nothing on disk harmed.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { componentEmbed, componentNew, parse } from '@bytecodealliance/jco';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { runSvc, SvcProcess, type Ended } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const path = (name: string) => join(folder, name);
const good = path('cart.wasm');

beforeAll(async () => writeFileSync(good, await compileFixture('shopping-cart')));

function expectRefusal({ code, stderr, stdout }: Ended, errorCode: string): void {
  expect(stdout).toBe('');
  expect(stderr).toMatch(new RegExp(`^svc: [^\\n]+\\. [^\\n]+ \\[${errorCode}\\]\\n$`));
  expect(code).toBe(1);
}

async function refusesModule(bytes: Uint8Array, errorCode: string): Promise<Ended> {
  writeFileSync(path('bad.wasm'), bytes);
  const ended = await runSvc(['run', path('bad.wasm'), '--port', '0', '--data', path('never')]);
  expectRefusal(ended, errorCode);
  expect(existsSync(path('never'))).toBe(false);
  const inspected = await runSvc(['inspect', path('bad.wasm')]);
  expect(inspected.code).toBe(1);
  expect(inspected.stdout).toContain(`[${errorCode}]`);
  return ended;
}

/** A component of the world that a WIT text declares, around an empty core module. */
async function emptyComponent(wit: string): Promise<Uint8Array> {
  const binary = await componentEmbed({ dummy: true, witSource: wit, world: 'w' });
  return componentNew(binary);
}

describe('a module', () => {
  test('that does not exist is refused', async () => {
    const ended = await runSvc(['run', path('nowhere.wasm')]);
    expectRefusal(ended, 'SVC_MODULE_UNREADABLE');
    expect(ended.stderr).toContain('nowhere.wasm');
  });

  test('that is not wasm is refused', async () => {
    for (const bytes of [Buffer.from('#!/bin/sh\necho hello\n'), Buffer.alloc(0)])
      expect((await refusesModule(bytes, 'SVC_MODULE_NOT_WASM')).stderr).toContain('svc build');
  });

  test('that is a core module and no component is refused', async () => {
    const core = await parse('(module)');
    expect((await refusesModule(core, 'SVC_MODULE_NOT_A_COMPONENT')).code).toBe(1);
  });

  test('that imports anything foreign is refused, and the import is named', async () => {
    const { stderr } = await refusesModule(
      await emptyComponent(
        'package a:b; world w { import wasi: interface { read: func() -> string; } import evil: func(); }',
      ),
      'SVC_MODULE_FOREIGN_IMPORT',
    );
    expect(stderr).toContain("'evil'");
    expect(stderr).toContain("'wasi'");
  });

  test('that is truncated is refused', async () => {
    const bytes = readFileSync(good);
    const half = bytes.subarray(0, bytes.length / 2);
    expect((await refusesModule(half, 'SVC_MODULE_MALFORMED')).code).toBe(1);
  });

  test('of another version of the WIT is refused, and both versions are named', async () => {
    const { stderr } = await refusesModule(
      await emptyComponent(
        'package svc:runtime@0.9.0; interface clock { now-ms: func() -> u64; } world w { import clock; }',
      ),
      'SVC_MODULE_OTHER_VERSION',
    );
    expect(stderr).toContain('0.9.0');
    expect(stderr).toContain('0.1.0');
  });
});

test('a module whose routes cannot be served is refused before anything is written', async () => {
  // Two routes of one shape: every check of the descriptor alone lets them pass.
  const bytes = readFileSync(good);
  const twin = Buffer.from(
    bytes.toString('latin1').replace('"method":"DELETE"', '"method":"GET"   '),
    'latin1',
  );
  expect(twin.length).toBe(bytes.length);
  expect(twin.equals(bytes)).toBe(false);
  writeFileSync(path('twin.wasm'), twin);
  const ended = await runSvc(['run', path('twin.wasm'), '--port', '0', '--data', path('never')]);
  expectRefusal(ended, 'SVC_MODULE_BAD_DESCRIPTOR');
  expect(existsSync(path('never'))).toBe(false);
});

test('a setting that the HTTP server cannot take is refused before anything is written', async () => {
  const ended = await runSvc([
    'run',
    good,
    '--port=0',
    '--data',
    path('never'),
    // Longer than a whole request may take.
    '--set=svc.http.headers-timeout-ms=900000',
  ]);
  expectRefusal(ended, 'SVC_SETTING_INVALID');
  expect(existsSync(path('never'))).toBe(false);
});

describe('a data folder', () => {
  test('of a newer svc is refused and left as it is', async () => {
    const data = path('newer');
    await makeJournal(data);
    const database = new DatabaseSync(join(data, 'journal.sqlite'));
    database.exec('PRAGMA user_version = 999');
    database.close();
    const before = readFileSync(join(data, 'journal.sqlite'));
    expectRefusal(await runSvc(['run', good, '--port', '0', '--data', data]), 'SVC_JOURNAL_NEWER');
    expect(readFileSync(join(data, 'journal.sqlite')).equals(before)).toBe(true);
  });

  test('in use by another host is refused, its process is named, and the other goes on', async () => {
    const data = path('in-use');
    const first = new SvcProcess(['run', good, '--port', '0', '--data', data]);
    const url = await first.listening();
    const second = await runSvc(['run', good, '--port', '0', '--data', data]);
    expectRefusal(second, 'SVC_DATA_IN_USE');
    expect(second.stderr).toContain(String(first.child.pid));
    expect((await fetch(`${url}/carts/x`)).status).toBe(200);
    expect((await first.end('SIGTERM')).code).toBe(0);
  });

  test('that is a file is refused', async () => {
    writeFileSync(path('file'), 'not a folder');
    expectRefusal(
      await runSvc(['run', good, '--port', '0', '--data', path('file')]),
      'SVC_DATA_UNUSABLE',
    );
    expect(readFileSync(path('file'), 'utf8')).toBe('not a folder');
  });

  test('whose journal is no journal is refused and left as it is', async () => {
    const data = path('not-a-journal');
    mkdirSync(data);
    writeFileSync(join(data, 'journal.sqlite'), 'once upon a time '.repeat(500));
    expectRefusal(
      await runSvc(['run', good, '--port', '0', '--data', data]),
      'SVC_JOURNAL_CORRUPT',
    );
    expect(readFileSync(join(data, 'journal.sqlite'), 'utf8')).toBe(
      'once upon a time '.repeat(500),
    );
  });

  test('with a flipped byte in a stored event answers 500 for that entity and harms nothing', async () => {
    const data = path('flipped');
    await makeJournal(data);
    const file = join(data, 'journal.sqlite');
    const database = new DatabaseSync(file);
    database.exec(`UPDATE journal SET json = replace(json, 'apple', 'appla')`);
    database.close();
    const before = path('flipped-copy.sqlite');
    copyFileSync(file, before);
    const svc = new SvcProcess(['run', good, '--port', '0', '--data', data, '--log', 'json']);
    const url = await svc.listening();
    const answer = await fetch(`${url}/carts/c1`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('appla');
    await svc.logged(/SVC_JOURNAL_CORRUPT/);
    expect((await fetch(`${url}/carts/other`)).status).toBe(200);
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(readFileSync(file).equals(readFileSync(before))).toBe(true);
  });
});

test('a port in use is refused, and the port is named', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const ended = await runSvc(['run', good, '--port', String(port), '--data', path('port')]);
  server.close();
  expectRefusal(ended, 'SVC_PORT_IN_USE');
  expect(ended.stderr).toContain(String(port));
});

test('an address that this machine does not have is refused', async () => {
  const ended = await runSvc([
    'run',
    good,
    '--host',
    '192.0.2.1',
    '--port',
    '0',
    '--data',
    path('host'),
  ]);
  expectRefusal(ended, 'SVC_ADDRESS_UNAVAILABLE');
  expect(ended.stderr).toContain('192.0.2.1');
});

test.each([
  [['run'], 'takes one MODULE.wasm'],
  [['run', 'a.wasm', '--prot', '1'], 'prot'],
  [['rnu'], "Did you mean 'run'?"],
  [['build'], 'takes FILE.ts'],
  [['inspect', 'a', 'b'], 'takes [MODULE.wasm]'],
  [['build', 'a.ts', '--ouput', 'x'], "Did you mean '--output'?"],
])(
  'words that make no sense exit with 2 and say what was expected: svc %j',
  async (args, message) => {
    const { code, stderr, stdout } = await runSvc(args, { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(readdirSync(folder)).not.toContain('.svc');
  },
);

/** A journal with one cart in it, closed in good order. */
async function makeJournal(data: string): Promise<void> {
  const svc = new SvcProcess(['run', good, '--port', '0', '--data', data]);
  const url = await svc.listening();
  const response = await fetch(`${url}/carts/c1/items`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sku: 'apple', quantity: 1 }),
  });
  expect(response.status).toBe(200);
  expect((await svc.end('SIGTERM')).code).toBe(0);
}
