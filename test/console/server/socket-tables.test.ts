// The tables of sockets: which of them may be missing, and which failures leave the users of sockets unknown.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readSockets } from '../../../console/server/socket-tables.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROW =
  '   0: 0100007F:2695 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1001        0 7 1 0000000000000000 20 0 0 10 -1\n';

let table: string;
let missing: string;
let unreadable: string;

beforeEach(() => {
  const folder = temporaryFolder();
  table = join(folder, 'tcp');
  missing = join(folder, 'tcp6');
  unreadable = join(folder, 'folder');
  writeFileSync(table, ROW);
  mkdirSync(unreadable);
});

test('a machine without IPv6 has one table', async () => {
  const one = [expect.objectContaining({ local: '0100007F:2695', user: 1001 })];
  expect(await readSockets([table, missing])).toEqual(one);
  expect(await readSockets([missing, table])).toEqual(one);
});

test('one table alone says nothing if the other one cannot be read', async () => {
  expect(await readSockets([table, unreadable])).toBe('unreadable');
  expect(await readSockets([unreadable, table])).toBe('unreadable');
});

test('only Linux has tables', async () => {
  const expected = process.platform === 'linux' ? 'unreadable' : 'not-listed';
  expect(await readSockets([missing, missing])).toBe(expected);
});
