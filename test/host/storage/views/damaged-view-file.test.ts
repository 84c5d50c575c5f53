// Files of views that are not what was written: a writer makes them new and says why, a reader answers nothing wrong.
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { ViewRow } from '../../../../host/engine/needs/views.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../../model/view-limits.ts';
import { FileViews } from '../../../../host/storage/views/file-views.ts';
import {
  ALL_KEYS,
  DEFINITION,
  OTHER,
  failureOf,
  finish,
  folded,
  indexOn,
  keysOf,
  planned,
  row,
  viewOf,
} from '../../../suites/view-store/views-under-test.ts';
import { Random } from '../../../support/random.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const view = viewOf(indexOn(['n', 'integer']));
const rows = Array.from({ length: 60 }, (_, n) =>
  row(`key-${n}`, {
    n,
    text: 'some text of this row, so that the file has several pages'.repeat(3),
  }),
);
const stored = new Map(rows.map(({ key, json }) => [key, json]));
const fileOf = (dir: string, definition = DEFINITION) => join(dir, 'views', `${definition}.sqlite`);
const viewsIn = (dir: string) => new FileViews(dir, VIEW_LIMITS_DEFAULT);

/** A folder with a live view, which nobody has open. */
async function filledFolder(): Promise<string> {
  const dir = temporaryFolder();
  const writer = viewsIn(dir).openWriter(view);
  await writer.put(rows, folded(1));
  await finish(writer);
  writer.close();
  return dir;
}

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(fileOf(dir));
  database.exec(sql);
  database.close();
}

/** What a writer says of the file that it finds; then the view is as if there had been none. */
async function discardedIn(dir: string): Promise<string | undefined> {
  const writer = viewsIn(dir).openWriter(view);
  try {
    if (writer.discarded === undefined) return undefined;
    expect([writer.rowCount, writer.foldedTo, writer.isLive]).toEqual([0, undefined, false]);
    await writer.put(rows, folded(2));
    await finish(writer);
    const reader = viewsIn(dir).reader(view);
    expect(await keysOf(reader, ALL_KEYS, 100)).toHaveLength(rows.length);
    reader.close();
    return writer.discarded;
  } finally {
    writer.close();
  }
}

describe('a file that cannot be used', () => {
  test.each<readonly [string, (dir: string) => void, RegExp]>([
    ['is empty', (dir) => writeFileSync(fileOf(dir), ''), /not the file of a view/],
    ['is a text', (dir) => writeFileSync(fileOf(dir), 'text\n'.repeat(500)), /not a database/],
    ['is a header alone', (dir) => truncateSync(fileOf(dir), 100), /./],
    [
      'is of another format',
      (dir) => edit(dir, 'PRAGMA user_version = 1'),
      /another version of svc/,
    ],
    [
      'is of another program',
      (dir) => edit(dir, 'PRAGMA application_id = 1'),
      /not the file of a view/,
    ],
    [
      'has no write-ahead log',
      (dir) => edit(dir, 'PRAGMA journal_mode = DELETE'),
      /log is switched off/,
    ],
    ['has no meta', (dir) => edit(dir, 'DELETE FROM meta'), /state is damaged/],
    [
      'has another state',
      (dir) =>
        edit(dir, `UPDATE meta SET value = replace(value, '"rowCount":60', '"rowCount":61')`),
      /state is damaged/,
    ],
    [
      'has another layout',
      (dir) => edit(dir, "UPDATE meta SET crc = crc + 1 WHERE name = 'layout'"),
      /layout is damaged/,
    ],
    [
      'has another list of skipped events',
      (dir) => edit(dir, "UPDATE meta SET value = '[1]' WHERE name = 'skips'"),
      /list of skips is damaged/,
    ],
    ['lacks an index', (dir) => edit(dir, 'DROP INDEX i1'), /not those of its layout/],
    [
      'has an index of other columns',
      (dir) => edit(dir, 'DROP INDEX i1; CREATE INDEX i1 ON row (key)'),
      /index i1 has other columns/,
    ],
    [
      'has a trigger',
      (dir) => edit(dir, 'CREATE TRIGGER t AFTER INSERT ON row BEGIN DELETE FROM meta; END'),
      /not those of its layout/,
    ],
    ['has other tables', (dir) => edit(dir, 'DROP TABLE row'), /not those of its layout/],
  ])('because it %s is made new', async (_, spoil, reason) => {
    const dir = await filledFolder();
    spoil(dir);
    const reader = viewsIn(dir).reader(view);
    const status = await reader.status();
    expect(status).toMatchObject({
      state: 'missing',
      reason: expect.stringMatching(reason) as string,
    });
    expect(await failureOf(() => reader.get('key-1'))).toMatchObject({ code: 'SVC_VIEW_CORRUPT' });
    expect(await discardedIn(dir)).toMatch(reason);
    // The same reader goes on with the new file.
    expect(await reader.status()).toEqual({ state: 'live', foldedTo: folded(2) });
    expect(await reader.get('key-1')).toEqual({ key: 'key-1', json: stored.get('key-1') });
    reader.close();
  });

  test('because it is of another definition is made new', async () => {
    const dir = await filledFolder();
    copyFileSync(fileOf(dir), fileOf(dir, OTHER));
    const other = viewsIn(dir).openWriter({ ...view, definition: OTHER });
    expect(other.discarded).toMatch(/of another definition/);
    other.close();
    expect(await discardedIn(dir)).toBeUndefined();
  });

  test('is deleted with its log, which another file would take for its own', async () => {
    const dir = await filledFolder();
    const writer = viewsIn(dir).openWriter(view);
    await writer.put([row('key-0', { n: 99 })], folded(9));
    copyFileSync(`${fileOf(dir)}-wal`, join(dir, 'log'));
    writer.close();
    truncateSync(fileOf(dir), 8_192);
    copyFileSync(join(dir, 'log'), `${fileOf(dir)}-wal`);
    expect(await discardedIn(dir)).toBeDefined();
    expect(readdirSync(join(dir, 'views')).toSorted()).not.toContain(`${DEFINITION}.sqlite.new`);
  });

  test('is no reason to follow a link or to read a folder', async () => {
    const dir = await filledFolder();
    const target = join(dir, 'target.sqlite');
    copyFileSync(fileOf(dir), target);
    rmSync(fileOf(dir));
    symlinkSync(target, fileOf(dir));
    const before = readFileSync(target);
    expect(await discardedIn(dir)).toMatch(/not a file/);
    expect(readFileSync(target).equals(before)).toBe(true);
    expect(lstatSync(fileOf(dir)).isFile()).toBe(true);
    rmSync(fileOf(dir));
    mkdirSync(fileOf(dir));
    expect(await failureOf(() => viewsIn(dir).openWriter(view))).toMatchObject({
      code: 'SVC_DATA_UNUSABLE',
    });
    expect(existsSync(fileOf(dir))).toBe(true);
  });

  test('that is deleted while it is read is missing', async () => {
    const dir = await filledFolder();
    const reader = viewsIn(dir).reader(view);
    expect(await reader.get('key-1')).toBeDefined();
    for (const suffix of ['', '-wal', '-shm']) rmSync(fileOf(dir) + suffix, { force: true });
    expect(await reader.status()).toEqual({ state: 'missing', reason: undefined });
    expect(await failureOf(() => reader.get('key-1'))).toMatchObject({
      code: 'SVC_VIEW_REBUILDING',
    });
    reader.close();
  });
});

describe('a damaged row', () => {
  test.each([
    ['a byte of its JSON text', `UPDATE row SET json = replace(json, '"n":7', '"n":8')`],
    ['its checksum', 'UPDATE row SET crc = crc + 1'],
    ['its key', "UPDATE row SET key = 'key-7x' WHERE key = 'key-7'"],
  ])('is not returned: %s', async (what, sql) => {
    const dir = await filledFolder();
    edit(dir, sql);
    const reader = viewsIn(dir).reader(view);
    const key = what === 'its key' ? 'key-7x' : 'key-7';
    expect(await failureOf(() => reader.get(key))).toMatchObject({ code: 'SVC_VIEW_CORRUPT' });
    expect(await failureOf(() => reader.find(planned({}), 100))).toMatchObject({
      code: 'SVC_VIEW_CORRUPT',
    });
    reader.close();
    const writer = viewsIn(dir).openWriter(view);
    expect(await failureOf(() => writer.rows([key]))).toMatchObject({ code: 'SVC_VIEW_CORRUPT' });
    await writer.clear();
    expect(writer.rowCount).toBe(0);
    writer.close();
  });
});

const check = ({ key, json }: ViewRow) => expect([key, json]).toEqual([key, stored.get(key)]);

/** Reads everything; returns what went wrong as codes. No row may be another than the one that was stored. */
async function readAll(dir: string): Promise<string[]> {
  const codes: string[] = [];
  const reader = viewsIn(dir).reader(view);
  const attempt = async (call: () => Promise<void>) => {
    const failure = await failureOf(call);
    if (failure !== undefined) codes.push((failure as { readonly code: string }).code);
  };
  for (const key of stored.keys())
    await attempt(async () => {
      const found = await reader.get(key);
      if (found !== undefined) check(found);
    });
  for (const query of [planned({}), ALL_KEYS])
    await attempt(async () => {
      for (const found of (await reader.find(query, 100)).rows) check(found);
    });
  reader.close();
  return codes;
}

const EXPECTED = new Set(['SVC_VIEW_CORRUPT', 'SVC_VIEW_REBUILDING', 'SVC_DATA_UNUSABLE']);

describe('rows that are built again', () => {
  const skipped = { entity: { component: 'order', id: 'a' }, seq: 1, reason: 'known', timeMs: 5 };

  test('keep the skips and the former rows when the new file cannot be made', async () => {
    const dir = await filledFolder();
    const writer = viewsIn(dir).openWriter(view);
    await writer.skip(skipped);
    // Stands for a full disk.
    mkdirSync(`${fileOf(dir)}.new`);
    expect(await failureOf(() => writer.clear())).toMatchObject({ code: 'SVC_DATA_UNUSABLE' });
    expect(await writer.rows(['key-7'])).toEqual([stored.get('key-7')]);
    writer.close();
    const second = viewsIn(dir).openWriter(view);
    expect([second.discarded, second.skips, second.rowCount]).toEqual([undefined, [skipped], 60]);
    rmSync(`${fileOf(dir)}.new`, { recursive: true });
    await second.clear();
    expect([second.skips, second.rowCount]).toEqual([[skipped], 0]);
    second.close();
    expect(existsSync(`${fileOf(dir)}.new`)).toBe(false);
  });

  test.each(['-wal', '-shm'])(
    'keep the skips when the writer ends before the new file has its name, with a %s',
    async (left) => {
      const dir = await filledFolder();
      const writer = viewsIn(dir).openWriter(view);
      await writer.skip(skipped);
      await writer.clear();
      writer.close();
      renameSync(fileOf(dir), `${fileOf(dir)}.new`);
      writeFileSync(`${fileOf(dir)}${left}`, 'of the former file');
      const second = viewsIn(dir).openWriter(view);
      expect([second.discarded, second.skips, second.rowCount]).toEqual([undefined, [skipped], 0]);
      second.close();
      expect(existsSync(`${fileOf(dir)}.new`)).toBe(false);
    },
  );

  test('are begun anew when the new file is not whole', () => {
    const dir = temporaryFolder();
    mkdirSync(join(dir, 'views'));
    writeFileSync(`${fileOf(dir)}.new`, '');
    const writer = viewsIn(dir).openWriter(view);
    expect([writer.discarded, writer.skips, writer.rowCount]).toEqual([undefined, [], 0]);
    writer.close();
  });
});

describe('a torn file', () => {
  test('that is cut anywhere gives no row that was not stored, and can be made new', async () => {
    const dir = await filledFolder();
    const whole = readFileSync(fileOf(dir));
    for (let bytes = 0; bytes < whole.length; bytes += 1_499) {
      writeFileSync(fileOf(dir), whole.subarray(0, bytes));
      for (const code of await readAll(dir)) expect(EXPECTED).toContain(code);
      const writer = viewsIn(dir).openWriter(view);
      await writer.clear();
      await writer.put(rows.slice(0, 3), folded(3));
      await finish(writer);
      expect(writer.rowCount).toBe(3);
      writer.close();
    }
    expect(whole.length).toBeGreaterThan(20_000);
  });

  test('with bytes that have changed gives no row that was not stored, and can be made new', async () => {
    const dir = await filledFolder();
    const whole = readFileSync(fileOf(dir));
    const random = new Random(15);
    for (let round = 0; round < 60; round++) {
      const bytes = Buffer.from(whole);
      for (let flips = 1 + random.below(8); flips > 0; flips--)
        bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
      writeFileSync(fileOf(dir), bytes);
      for (const code of await readAll(dir)) expect(EXPECTED).toContain(code);
      const writer = viewsIn(dir).openWriter(view);
      await writer.clear();
      await writer.put(rows.slice(0, 3), folded(3));
      expect(writer.rowCount).toBe(3);
      writer.close();
    }
  });
});
