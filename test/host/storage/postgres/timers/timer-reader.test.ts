// The timers of a journal in PostgreSQL, as the dispatcher reads them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DuePosition } from '../../../../../host/engine/needs/timers.ts';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import { PostgresTimerReader } from '../../../../../host/storage/postgres/timers/timer-reader.ts';
import type { EntityRef } from '../../../../../model/entity.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase, timerRules } from '../../../../support/postgres/timer-database.ts';
import { ofEntity, storedGroup } from '../../../../support/postgres/timer-groups.ts';
import { timerAt } from '../../../../support/timer-writes.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const corrupt = { code: 'SVC_JOURNAL_CORRUPT' };
const LATE_MS = 1_000;

let database: TimerDatabase;
let session: DatabaseSession;
let damaged: unknown[];
let reader: PostgresTimerReader;
beforeAll(async () => {
  database = await TimerDatabase.open(await PostgresServer.shared('18'));
});
beforeEach(async () => {
  await database.empty();
  session = await database.connect();
  damaged = [];
  reader = new PostgresTimerReader(session, (error) => damaged.push(error));
});
afterAll(() => database.end());

/** Sets timers `t0` to `t9`, which are due one after the other, from 8 on: the order of numbers is not that of their texts. */
async function setTen(): Promise<void> {
  const changes = Array.from({ length: 10 }, (_, index) => timerAt(`t${index}`, index + 8));
  await storedGroup(session, timerRules(), ofEntity(one, { changes }));
}

async function dueMs(limit: number, after?: DuePosition): Promise<readonly number[]> {
  return (await reader.due(LATE_MS, limit, after)).map((timer) => timer.dueMs);
}

test('due timers are read page by page, in the order of their times', async () => {
  await setTen();
  expect(await dueMs(4)).toEqual([8, 9, 10, 11]);
  expect(await dueMs(4, (await reader.due(LATE_MS, 4, undefined)).at(-1))).toEqual([
    12, 13, 14, 15,
  ]);
  expect(await dueMs(Infinity, { nextMs: 16, number: 0 })).toEqual([16, 17]);
  expect((await reader.due(13.9, 100, undefined)).map(({ nextMs }) => nextMs)).toEqual([
    8, 9, 10, 11, 12, 13,
  ]);
  expect(await reader.due(-Infinity, 100, undefined)).toEqual([]);
  expect([
    await reader.earliestMs(-Infinity),
    await reader.earliestMs(9),
    await reader.earliestMs(10),
    await reader.earliestMs(17),
  ]).toEqual([8, 10, 11, undefined]);
  expect(await reader.counts()).toEqual({ pending: 10, dead: 0, earliestMs: 8 });
  expect(damaged).toEqual([]);
});

test.each([
  "command = 'other'",
  "input = '{}'",
  "name = 'other'",
  "owner_id = 'other'",
  'owner_component = NULL, owner_id = NULL',
  "target_id = 'other'",
  'target_slice = 1023 - target_slice',
  "schedule = '{'",
  "schedule = '{}'",
  'due_ms = 9223372036854775807',
  'next_ms = -9223372036854775808',
  'attempts = 1',
  'attempts_max = 1',
  "fault = 'f'",
  'set_ms = -9223372036854775808',
  "trace_parent = 'x'",
  'number = 9007199254740993',
  'crc = 9223372036854775807',
])('a timer whose row was damaged (%s) is reported, and the others are read', async (damage) => {
  await setTen();
  const { number } = (await reader.due(LATE_MS, 5, undefined)).at(-1)!;
  await database.query(`UPDATE svc.timer SET ${damage} WHERE name = 't4'`);
  expect(await dueMs(100)).toEqual([8, 9, 10, 11, 13, 14, 15, 16, 17]);
  expect(damaged).toMatchObject([corrupt]);
  if (damage.startsWith('number')) return;
  await expect(reader.timer(number)).rejects.toMatchObject(corrupt);
  expect(await reader.input(number)).toBeUndefined();
  expect(damaged).toMatchObject([corrupt, corrupt]);
});

test('a page of which some timers are damaged is filled with those behind them', async () => {
  await setTen();
  await database.query("UPDATE svc.timer SET command = 'x' WHERE name IN ('t1', 't2', 't4')");
  expect(await dueMs(4)).toEqual([8, 11, 13, 14]);
  expect(damaged).toMatchObject([corrupt, corrupt, corrupt]);
});

test('pages of damaged timers alone are not the end, whatever their positions are', async () => {
  await setTen();
  await database.query(
    "UPDATE svc.timer SET number = 9007199254740992 + due_ms, next_ms = 0 WHERE name < 't4'",
  );
  expect(await dueMs(1)).toEqual([12]);
  expect(damaged).toHaveLength(4);
});

test('a long input is left out of what is due, and its damage is found when it is read', async () => {
  const input = JSON.stringify('x'.repeat(5_000));
  const changes = [timerAt('long', 1, { input }), timerAt('short', 2)];
  await storedGroup(session, timerRules(), ofEntity(one, { changes }));
  const [long, short] = await reader.due(10, 10, undefined);
  expect([long!.input, short!.input]).toEqual([undefined, '{"why":"time"}']);
  expect(await reader.input(long!.number)).toBe(input);
  expect(await reader.input(1e9)).toBeUndefined();
  await database.query("UPDATE svc.timer SET command = 'other' WHERE name = 'long'");
  expect(await reader.due(10, 10, undefined)).toHaveLength(2);
  expect(await reader.input(long!.number)).toBeUndefined();
  expect(damaged).toMatchObject([corrupt]);
  await database.query("UPDATE svc.timer SET schedule = '{' WHERE name = 'long'");
  expect(await reader.due(10, 10, undefined)).toEqual([short]);
});

test('dead timers are counted, and are never due', async () => {
  await setTen();
  const [first] = await reader.due(LATE_MS, 1, undefined);
  const dead = { kind: 'dead', fault: 'f' } as const;
  const append = ofEntity(one, { firing: { occurrence: first!, end: dead } });
  await storedGroup(session, timerRules(), append);
  expect(await reader.counts()).toEqual({ pending: 9, dead: 1, earliestMs: 9 });
  expect(await dueMs(1)).toEqual([9]);
  expect(await reader.timer(first!.number)).toMatchObject({ nextMs: undefined, fault: 'f' });
});

test('a lost connection fails each read with a code', async () => {
  session.abort();
  await session.ended;
  const unavailable = { code: 'SVC_JOURNAL_UNAVAILABLE' };
  await expect(reader.timer(1)).rejects.toMatchObject(unavailable);
  await expect(reader.due(1, 1, undefined)).rejects.toMatchObject(unavailable);
  await expect(reader.input(1)).rejects.toMatchObject(unavailable);
  await expect(reader.earliestMs(1)).rejects.toMatchObject(unavailable);
  await expect(reader.counts()).rejects.toMatchObject(unavailable);
});
