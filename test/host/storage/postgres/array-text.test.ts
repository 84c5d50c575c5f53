// Arrays as they are sent to the database, and the checksum of a row.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import { rowChecksum } from '../../../../host/storage/postgres/row-checksum.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

const BACKSLASH = '\\';
const QUOTE = '"';

let session: DatabaseSession;
beforeAll(async () => {
  const server = await PostgresServer.shared('18');
  const database = await server.freshDatabase();
  session = await connectDatabase(database.source);
});
afterAll(() => session.close());

test('texts of an array arrive as they are', async () => {
  const texts = [
    '',
    ' ',
    'NULL',
    'null',
    '{}',
    'a,b',
    "it's",
    'ü€😀',
    'a\nb\tc',
    QUOTE,
    BACKSLASH,
    `${BACKSLASH}${QUOTE}`,
    `${QUOTE}${BACKSLASH}`,
    BACKSLASH.repeat(3),
    JSON.stringify({ text: `${QUOTE}${BACKSLASH}`, list: [1, null] }),
    null,
  ];
  const sent = { text: 'SELECT * FROM unnest($1::text[])' };
  expect(await session.query(sent, [texts])).toEqual(texts.map((text) => [text]));
});

test('numbers of an array arrive as they are', async () => {
  const numbers = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null];
  const sent = { text: 'SELECT * FROM unnest($1::int8[])' };
  expect(await session.query(sent, [numbers])).toEqual(numbers.map((number) => [number]));
  const large = { text: 'SELECT * FROM unnest($1::int8[]::text[])' };
  expect(await session.query(large, [[2n ** 63n - 1n, -(2n ** 63n)]])).toEqual([
    ['9223372036854775807'],
    ['-9223372036854775808'],
  ]);
});

test('an empty array has no elements', async () => {
  expect(await session.query({ text: 'SELECT * FROM unnest($1::text[])' }, [[]])).toEqual([]);
});

test('a checksum is that of rows that are stored already', () => {
  expect(rowChecksum(['counter', 'ü€😀', 12, -3n, null, undefined, ''])).toBe(3_390_588_285);
});

test('a text that moves from one column to the next changes the checksum', () => {
  expect(rowChecksum(['a', 'b'])).not.toBe(rowChecksum(['ab', '']));
  expect(rowChecksum(['a', null])).not.toBe(rowChecksum(['a', '']));
});
