// Snapshots as a service has them, in a real process. What is used of the file is told by states in it that
// are whole and are not what the events make.
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { snapshotChecksum, snapshotPath } from '../../host/storage/sqlite/snapshot-file.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'counter.wasm');
/** The same code in another file. */
const otherModule = join(folder, 'other.wasm');
const running: SvcProcess[] = [];
/** A section of the component that says nothing. */
const EMPTY_SECTION = Uint8Array.of(0, 5, 4, ...Buffer.from('note'));

beforeAll(async () => {
  const bytes = await compileFixture('counter');
  writeFileSync(module, bytes);
  writeFileSync(otherModule, Buffer.concat([bytes, EMPTY_SECTION]));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(data: string, ...more: readonly string[]) {
  const [file = module, ...settings] = more;
  const set = ['svc.engine.snapshot-interval-events=4', ...settings].flatMap((one) => [
    '--set',
    one,
  ]);
  const svc = new SvcProcess(['run', file, '--port', '0', '--data', data, '--deployed', ...set]);
  running.push(svc);
  const url = await svc.listening();
  return {
    svc,
    get: async (id: string) => valueOf(await fetch(`${url}/counters/${id}`)),
    add: async (id: string, amount: number) =>
      valueOf(
        await fetch(`${url}/counters/${id}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ amount }),
        }),
      ),
  };
}

async function valueOf(response: Response): Promise<number> {
  expect(response.status).toBe(200);
  return ((await response.json()) as { value: number }).value;
}

interface Row {
  readonly eno: number;
  readonly seq: number;
  readonly fingerprint: string;
  readonly state: string;
  readonly record_crc: number;
}

function rows(data: string): readonly Row[] {
  const database = new DatabaseSync(snapshotPath(data), { readOnly: true });
  const found = database.prepare('SELECT * FROM snapshot ORDER BY eno').all();
  database.close();
  return found as unknown as readonly Row[];
}

/** The file may be in the making. */
function hasRows(data: string): boolean {
  try {
    return rows(data).length > 0;
  } catch {
    return false;
  }
}

/** Puts another value into the first snapshot, as if the module had made it. */
function forge(data: string, id: string, value: number): void {
  const { eno, seq, fingerprint, record_crc: recordCrc } = rows(data)[0]!;
  const state = JSON.stringify({ value });
  const entity = { component: 'counter', id };
  const crc = snapshotChecksum(entity, seq, fingerprint, recordCrc, state);
  const database = new DatabaseSync(snapshotPath(data));
  database.prepare('UPDATE snapshot SET state = ?, crc = ? WHERE eno = ?').run(state, crc, eno);
  database.close();
}

/** A folder whose counter `a` has seven, and whose snapshot says a thousand after the fourth. */
async function misleading(name: string): Promise<string> {
  const data = join(folder, name);
  const { svc, add } = await start(data);
  for (let n = 0; n < 4; n++) await add('a', 1);
  await add('a', 3);
  // Without a stop, at which it would take another.
  await svc.end('SIGKILL');
  expect(rows(data)).toMatchObject([{ seq: 4, state: '{"value":4}' }]);
  forge(data, 'a', 1_000);
  return data;
}

describe('a service', () => {
  test('begins with the snapshot, and goes on from it; after kill -9 as well', async () => {
    const data = await misleading('begins');
    const first = await start(data);
    expect(await first.get('a')).toBe(1_003);
    expect(await first.add('a', 1)).toBe(1_004);
    await first.svc.end('SIGKILL');
    const second = await start(data);
    expect(await second.get('a')).toBe(1_004);
  });

  test('folds the events where the snapshots are of another module, and makes its own', async () => {
    const data = await misleading('another-module');
    const { svc, get } = await start(data, otherModule);
    expect(await get('a')).toBe(7);
    await svc.end('SIGTERM');
    expect(rows(data)).toMatchObject([{ seq: 5, state: '{"value":7}' }]);
    // That of the first is gone, and nothing but time with it.
    expect(await (await start(data)).get('a')).toBe(7);
  });

  test('is the same without the file, and with that of another journal', async () => {
    const data = await misleading('deleted');
    const other = join(folder, 'other-journal');
    const { svc, add } = await start(other);
    for (let n = 0; n < 5; n++) await add('a', 2);
    await svc.end('SIGTERM');
    copyFileSync(snapshotPath(data), snapshotPath(other));
    expect(await (await start(other)).get('a')).toBe(10);
    rmSync(snapshotPath(data));
    expect(await (await start(data)).get('a')).toBe(7);
  });

  test('is the same with a file that is damaged, and replaces it', async () => {
    const data = await misleading('damaged');
    writeFileSync(snapshotPath(data), 'a disk that was not synchronised');
    const { svc, get, add } = await start(data);
    expect(await get('a')).toBe(7);
    for (let n = 0; n < 5; n++) await add('a', 1);
    await svc.end('SIGTERM');
    expect(rows(data)).toMatchObject([{ fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(await (await start(data)).get('a')).toBe(12);
  });

  test('uses none and makes none where they are turned off', async () => {
    const data = await misleading('off');
    const { svc, get, add } = await start(data, module, 'svc.engine.snapshot-interval-events=0');
    expect(await get('a')).toBe(7);
    for (let n = 0; n < 5; n++) await add('b', 1);
    await svc.end('SIGTERM');
    expect(rows(data)).toHaveLength(1);
  });

  test('closes entities that nobody calls, and keeps their states then', async () => {
    const data = join(folder, 'idle');
    const { get, add } = await start(
      data,
      module,
      'svc.engine.idle-timeout-ms=50',
      'svc.engine.snapshot-interval-events=8',
    );
    for (let n = 0; n < 3; n++) await add('a', 1);
    expect(existsSync(snapshotPath(data))).toBe(false);
    while (!hasRows(data))
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    expect(rows(data)).toMatchObject([{ seq: 3, state: '{"value":3}' }]);
    expect(await get('a')).toBe(3);
  });
});
