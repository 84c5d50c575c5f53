// What somebody tries who is inside of a module and wants out: to the files, the environment and the memory
// of the host, to other services' events, or to what the process has only so many of. Nothing is reached.
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RoutedCase } from '../../fixtures/hostile/hostile-case.ts';
import { repeat, response } from '../../fixtures/hostile/result-text.ts';
import { dataText, word } from '../../fixtures/hostile/switchboard.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { within } from '../support/within.ts';
import { HostileHost } from './support/hostile-host.ts';
import { switchboardModule } from './support/run-routed.ts';
import { responseOf } from './support/send.ts';

const SECRET = 'a-secret-of-the-environment-7431';
const MARK = 'a-mark-of-an-entity';
const folder = temporaryFolderOfFile();
const attempt = (place: RoutedCase['place'], body: string, fields = ''): RoutedCase => ({
  kind: 'held',
  name: 'an attempt',
  place,
  body,
  fields,
  answer: { status: 200 },
});
/** Reads an entity of `component`, and answers how many events there were, or the error. */
const READ = `(call $read ${word('neighbour')} (i32.const 50000) (i32.const 1) (i64.const 0) (i32.const 1000) (i32.const 96))
  (if (i32.load8_u (i32.const 96)) (then (return (call $text (i32.load (i32.const 100)) (i32.load (i32.const 104))))))
  (call $text (call $digits (i32.load (i32.const 104))) (global.get $digits-length))`;
const ATTEMPTS = [
  // All of the memory that a handler has.
  attempt(
    'handle',
    `(drop (call $text (i32.const 0) (i32.mul (memory.size) (i32.const 65536)))) (i32.store8 (i32.const 32) (i32.const 3)) (i32.const 16)`,
  ),
  // An entity that leaves a mark in its memory.
  attempt(
    'command',
    `(memory.copy (i32.const 60000) (i32.const 52000) (i32.const ${MARK.length})) (call $effect (i32.const 0) (i32.const 0) ${word('null')})`,
    `(data (i32.const 52000) "${dataText(Buffer.from(MARK))}")`,
  ),
  attempt('handle', READ, '(data (i32.const 50000) "n")'),
  // As many reads as a request may have of them.
  attempt(
    'handle',
    `(local $i i32) ${repeat(200, `(call $read ${word('neighbour')} (i32.const 50000) (i32.const 1) (i64.const 0) (i32.const 1000) (i32.const 96))`)} (call $no-content)`,
  ),
  // As many traps of as many instances.
  attempt('handle', 'unreachable'),
  attempt(
    'handle',
    response({ status: 200, bodyKind: 1, body: [51_000, 26] }),
    `(data (i32.const 51000) "{\\"__proto__\\":{\\"owned\\":1}} ")`,
  ),
  // What chance it is given.
  attempt(
    'handle',
    `(i64.store (i32.const 53000) (local.get $seed)) ${response({ status: 200, bodyKind: 3, body: [53_000, 8] })}`,
  ),
] as const;
const [DUMP, MARKING, READING, MANY_READS, TRAP, PROTO, SEED] = [0, 1, 2, 3, 4, 5, 6] as const;

let module: Uint8Array;
let host: HostileHost;
let other: HostileHost;
const get = (path: string, of = host) => responseOf(of.url + path);
const add = (id: string, of = host) => responseOf(`${of.url}/neighbour/${id}`, { method: 'POST' });

const dump = async (of: HostileHost) =>
  Buffer.from(await (await get(`/case/${DUMP}`, of)).arrayBuffer());

function differentBits(hex: string, bytes: Buffer): number {
  let bits = 0n;
  const both = BigInt(`0x${hex}`) ^ BigInt(`0x${bytes.toString('hex')}`);
  for (let left = both; left > 0n; left >>= 1n) bits += left & 1n;
  return Number(bits);
}

/** Without what is the request's own: its trace, and the address that it was sent to. */
const plain = (memory: Buffer) =>
  memory.toString('latin1').replaceAll(/00-[0-9a-f]{32}-[0-9a-f]{16}|127\.0\.0\.1:\d+/g, '');

/** How many of them the host has. */
const held = (kind: 'fd' | 'task') => readdirSync(`/proc/${host.pid}/${kind}`).length;

/** Reads and traps of many instances, some at a time. */
const round = async () => {
  for (let left = 10; left > 0; left--)
    await Promise.all(
      [MANY_READS, TRAP, MANY_READS, TRAP, MANY_READS].map(async (index) => {
        const answer = await get(`/case/${index}`);
        expect(answer.status).toBe(index === TRAP ? 500 : 204);
        await answer.arrayBuffer();
      }),
    );
};

beforeAll(async () => {
  module = await switchboardModule(ATTEMPTS);
  const env = { SVC_TEST_SECRET: SECRET };
  mkdirSync(join(folder, 'beside'));
  writeFileSync(join(folder, 'beside', 'secret.txt'), SECRET);
  host = await HostileHost.start(folder, 'inside', module, { env });
  other = await HostileHost.start(folder, 'other-tenant', module, { env });
});
afterAll(async () => {
  await host.kill();
  await other.kill();
});

describe('from inside of a module', () => {
  test("the host's environment, paths and files are not in its memory", async () => {
    const memory = await dump(host);
    expect(memory.length).toBeGreaterThanOrEqual(2 * 65536);
    const texts = [SECRET, folder, process.execPath, process.cwd(), 'PATH=', 'node_modules'];
    const found = texts.filter((text) =>
      (['utf8', 'utf16le'] as const).some((encoding) =>
        memory.includes(Buffer.from(text, encoding)),
      ),
    );
    expect(found).toEqual([]);
  });

  test("an entity's memory is not a handler's", async () => {
    const act = await responseOf(`${host.url}/entity/c${MARKING}/act`, { method: 'POST' });
    expect(act.status).toBe(200);
    const memory = await dump(host);
    expect(memory.subarray(60_000, 60_000 + MARK.length).some((byte) => byte !== 0)).toBe(false);
  });

  test('there is no chance but the seed of a call: all else is the same, in every process', async () => {
    const dumps = [await dump(host), await dump(host), await dump(other)].map(plain);
    for (const later of dumps.slice(1)) expect(later === dumps[0]).toBe(true);
    const seeds = new Set<string>();
    for (let left = 64; left > 0; left--) {
      const seed = Buffer.from(await (await get(`/case/${SEED}`)).arrayBuffer());
      // None is the next one, nor near it: half of the bits are others.
      for (const known of seeds) expect(differentBits(known, seed)).toBeGreaterThan(8);
      seeds.add(seed.toString('hex'));
    }
    expect(seeds.size).toBe(64);
  });

  test("another service's events are not there, though component and entity have the same names", async () => {
    for (let count = 1; count <= 5; count++)
      expect(await (await add('n', other)).text()).toBe(String(count));
    expect(await (await get(`/case/${READING}`)).text()).toBe('0');
    expect(await (await add('n')).text()).toBe('1');
    expect(await (await get(`/case/${READING}`)).text()).toBe('1');
    expect(await (await get(`/case/${READING}`, other)).text()).toBe('5');
  });

  test('a text of JSON is passed on as text, and no object of the host learns of it', async () => {
    const answer = await get(`/case/${PROTO}`);
    expect(await answer.text()).toBe('{"__proto__":{"owned":1}} ');
    const missing = await get('/owned');
    expect(missing.status).toBe(404);
    expect(await missing.text()).not.toContain('owned');
  });

  test('names that are programs are names', async () => {
    for (const id of [
      'process.exit(7)',
      '${process.exit(7)}',
      "'];process.exit(7)//",
      '..%2F..%2Fetc%2Fpasswd',
    ])
      expect(await (await add(encodeURIComponent(id))).text()).toBe('1');
    expect(host.lives).toBe(true);
  });

  test('files that are open, and threads, do not become more, whatever is done', async () => {
    await round();
    const [files, threads] = [held('fd'), held('task')];
    for (let left = 3; left > 0; left--) await round();
    // A connection or two may be closing; what leaks would be hundreds.
    const FEW = 10;
    await expect.poll(() => held('task')).toBeLessThan(threads + FEW);
    await expect.poll(() => held('fd')).toBeLessThan(files + FEW);
  });

  test('nothing was written but the journal, and that in its own folder', () => {
    const files = readdirSync(host.dataFolder);
    expect(files.filter((file) => !/^(journal|lock|owner\.json)/.test(file))).toEqual([]);
    expect(readdirSync(join(folder, 'beside'))).toEqual(['secret.txt']);
    expect(statSync(join(folder, 'beside', 'secret.txt')).size).toBe(SECRET.length);
  });
});

/** A request whose body does not come, and what is answered to its head. */
async function hold(sockets: Socket[]): Promise<string> {
  const { hostname, port } = new URL(other.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket.on('error', () => {}));
  socket.write(
    `POST /neighbour/held HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  );
  const answered = once(socket.setEncoding('latin1'), 'data') as Promise<[string]>;
  const [head] = await within(60, 'an answer to a head', answered);
  return head.slice(0, head.indexOf('\r\n'));
}

describe('callers that hold requests open', () => {
  const IN_FLIGHT_MAX = 1_000;
  /** At a time: fewer than may wait to be accepted. */
  const WAVE = 100;

  test('are refused beyond a thousand, told when to try again, and leave no trace', async () => {
    const sockets: Socket[] = [];
    try {
      while (sockets.length < IN_FLIGHT_MAX) {
        const wave = await Promise.all(Array.from({ length: WAVE }, async () => hold(sockets)));
        // Who is told this has been counted.
        expect(new Set(wave)).toEqual(new Set(['HTTP/1.1 100 Continue']));
      }
      const refused = await add('one-more', other);
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      expect(await refused.text()).toContain('SVC_OVERLOADED');
      expect(await hold(sockets)).toBe('HTTP/1.1 503 Service Unavailable');
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    let status: number;
    do ({ status } = await add('one-more', other));
    while (status === 503);
    expect(status).toBe(200);
  });
});

describe('a service whose journal is full', () => {
  const BYTES_MAX = 2 * 1024 * 1024;

  test('refuses commands by name, answers queries, and has lost nothing when it gets more room', async () => {
    const large = await switchboardModule([
      attempt(
        'command',
        `(drop (memory.grow (i32.const 20))) (memory.fill (i32.const 131072) (i32.const 0x61) (i32.const 400000))
         (memory.copy (i32.const 131072) (i32.const 640) (i32.const 16))
         (i32.store8 (i32.const 531070) (i32.const 0x22)) (i32.store8 (i32.const 531071) (i32.const 0x7d))
         (drop (call $effect (i32.const 1) (i32.const 0) ${word('null')}))
         (i32.store (i32.const 1032) (i32.const 131072)) (i32.store (i32.const 1036) (i32.const 400000)) (i32.const 16)`,
      ),
    ]);
    const settings = [`svc.journal.bytes-max=${BYTES_MAX}`];
    const full = await HostileHost.start(folder, 'full', large, { settings });
    let stored = 0;
    try {
      expect(await (await add('n', full)).text()).toBe('1');
      let last: Response;
      do {
        last = await responseOf(`${full.url}/entity/c0/act`, { method: 'POST' });
        if (last.status === 200) stored++;
        expect(stored).toBeLessThan(20);
      } while (last.status === 200);
      expect(last.status).toBe(503);
      expect(last.headers.get('retry-after')).not.toBeNull();
      expect(await last.text()).toContain('SVC_JOURNAL_FULL');
      expect(await (await get('/neighbour/n', full)).text()).toBe('1');
    } finally {
      await full.stop();
    }
    expect(stored).toBeGreaterThan(0);
    const roomier = await HostileHost.start(folder, 'full', large);
    try {
      expect(await (await add('n', roomier)).text()).toBe('2');
      expect((await responseOf(`${roomier.url}/entity/c0/act`, { method: 'POST' })).status).toBe(
        200,
      );
    } finally {
      await roomier.kill();
    }
  });
});

describe('a module that floods the log', () => {
  test('is heard up to a rate, and what was not written is counted', async () => {
    const lines = `(local $i i32) (drop (memory.grow (i32.const 20))) ${repeat(
      900,
      `(i32.store (i32.add (i32.const 131072) (i32.mul (local.get $i) (i32.const 12))) (i32.const 1))
       (i32.store offset=4 (i32.add (i32.const 131072) (i32.mul (local.get $i) (i32.const 12))) (i32.const 256))
       (i32.store offset=8 (i32.add (i32.const 131072) (i32.mul (local.get $i) (i32.const 12))) (i32.const 4))`,
    )} (drop (call $clear)) (i32.store (i32.const 16) (i32.const 131072)) (i32.store (i32.const 20) (i32.const 900)) (i32.const 16)`;
    const flood = await switchboardModule([attempt('takeLog', lines)]);
    const loud = await HostileHost.start(folder, 'loud', flood);
    const REQUESTS = 20;
    try {
      for (let left = REQUESTS; left > 0; left--)
        expect((await get('/case/0', loud)).status).toBe(204);
      await loud.logged('the number of the lines that were dropped', ({ message }) =>
        message.includes('lines were not written'),
      );
      expect(loud.lines.length).toBeLessThan(REQUESTS * 900);
    } finally {
      await loud.kill();
    }
  });
});
