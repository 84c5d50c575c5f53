// The changes of a group of appends to timers in PostgreSQL.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StoredTimer } from '../../../../../host/engine/needs/timers.ts';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import { PostgresTimerReader } from '../../../../../host/storage/postgres/timers/timer-reader.ts';
import type { EntityRef } from '../../../../../model/entity.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase, timerRules } from '../../../../support/postgres/timer-database.ts';
import {
  applied,
  committed,
  loaded,
  ofEntity,
  storedGroup,
  watched,
} from '../../../../support/postgres/timer-groups.ts';
import { timerAt } from '../../../../support/timer-writes.ts';

const one: EntityRef = { component: 'Cart', id: 'one' };
const two: EntityRef = { component: 'Cart', id: 'two' };

let database: TimerDatabase;
let session: DatabaseSession;
beforeAll(async () => {
  database = await TimerDatabase.open(await PostgresServer.shared('18'));
});
beforeEach(async () => {
  await database.empty();
  session = await database.connect();
});
afterAll(() => database.end());

/** Reads all timers. A damaged one fails the test. */
async function all(): Promise<readonly StoredTimer[]> {
  const reader = new PostgresTimerReader(session, (error) => expect.unreachable(String(error)));
  const numbers = await session.query({ text: 'SELECT number FROM svc.timer ORDER BY number' });
  return Promise.all(numbers.map(async ([number]) => (await reader.timer(number as number))!));
}

async function named(name: string): Promise<StoredTimer> {
  return (await all()).find((timer) => timer.name === name)!;
}

const store = (...appends: Parameters<typeof ofEntity>[]) =>
  storedGroup(session, timerRules(), ...appends.map((append) => ofEntity(...append)));

test('a group that sets, fires and replaces timers takes the same few statements, however many they are', async () => {
  const many = Array.from({ length: 50 }, (_, index) => timerAt(`t${index}`, index));
  expect(await store([one, { changes: many }])).toEqual([undefined]);
  const timers = await all();
  const sent: (string | undefined)[] = [];
  const counting = watched(session, ({ name, text }) => void sent.push(name ?? text));
  const retry = { kind: 'retry', nextMs: 5, fault: 'f' } as const;
  const group = [
    ...timers.slice(0, 20).map((occurrence, index) =>
      ofEntity(
        { component: 'Cart', id: `by ${index}` },
        {
          firing: { occurrence, end: index % 2 === 0 ? { kind: 'remove' } : retry },
          changes: [timerAt('next', 9)],
        },
      ),
    ),
    ofEntity(one, { changes: [timerAt('t30', 1), { kind: 'cancel', name: 't31' }] }),
    ofEntity(two, {}, true),
  ];
  expect(await storedGroup(counting, timerRules(), ...group)).toEqual(group.map(() => undefined));
  expect(sent).toEqual([
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    'timers-lock',
    'timers-room',
    'timers-change',
    'timers-add',
    'timers-count',
    'COMMIT',
  ]);
  expect(await database.counted()).toEqual([59, 59]);
});

test('a group that only ends firings takes two statements and counts what it removes', async () => {
  await store([one, { changes: [timerAt('a', 1), timerAt('b', 2)] }]);
  const [a, b] = await all();
  const sent: (string | undefined)[] = [];
  const counting = watched(session, ({ name }) => void sent.push(name));
  const rearm = { kind: 'rearm', dueMs: 9 } as const;
  const append = ofEntity(two, { firing: { occurrence: a!, end: rearm } });
  expect(await storedGroup(counting, timerRules(), append)).toEqual([undefined]);
  expect(sent).toEqual([undefined, 'timers-lock', 'timers-change', undefined]);
  expect(await all()).toEqual([{ ...a, dueMs: 9, nextMs: 9 }, b]);
});

test('appends of a group see the changes of those before them, and one that is refused changes nothing', async () => {
  await store([one, { changes: [timerAt('a', 1), timerAt('b', 2)] }]);
  const [a, b] = await all();
  const remove = { kind: 'remove' } as const;
  const never = { kind: 'cron', expression: '0 0 30 2 *', zone: '' } as const;
  const codes = await store(
    [one, { changes: [{ kind: 'cancel', name: 'a' }, timerAt('c', 3)] }],
    [two, { firing: { occurrence: a!, end: remove }, changes: [timerAt('lost', 4)] }],
    [two, { firing: { occurrence: b!, end: remove }, changes: [timerAt('x', 0, { due: never })] }],
    [two, { firing: { occurrence: b!, end: { kind: 'retry', nextMs: 7, fault: 'f' } } }],
    [one, {}, true],
    [one, { changes: [timerAt('d', 5)] }],
    [two, { firing: { occurrence: { ...b!, attempts: 1 }, end: remove } }],
  );
  expect(codes).toEqual([
    undefined,
    'SVC_TIMER_GONE',
    'SVC_TIMER_INVALID',
    undefined,
    undefined,
    undefined,
    'SVC_TIMER_GONE',
  ]);
  expect((await all()).map(({ name }) => name)).toEqual(['d']);
  expect(await database.counted()).toEqual([1, 1]);
});

test('the time of the earliest timer that was set or changed is returned', async () => {
  const rules = timerRules();
  const earliest = async (...appends: readonly ReturnType<typeof ofEntity>[]): Promise<number> => {
    const changes = await loaded(session, rules, ...appends);
    expect(applied(changes, ...appends).filter(Boolean)).toEqual([]);
    return committed(session, changes);
  };
  expect(await earliest(ofEntity(one, { changes: [timerAt('a', 7), timerAt('b', 3)] }))).toBe(3);
  const a = await named('a');
  const cancel = ofEntity(one, { changes: [{ kind: 'cancel', name: 'b' }] });
  expect(await earliest(cancel)).toBe(Infinity);
  const retry = { kind: 'retry', nextMs: 50, fault: 'f' } as const;
  expect(await earliest(ofEntity(two, { firing: { occurrence: a, end: retry } }))).toBe(50);
  const dead = { kind: 'dead', fault: 'f' } as const;
  const second = await named('a');
  expect(await earliest(ofEntity(two, { firing: { occurrence: second, end: dead } }))).toBe(
    Infinity,
  );
});

test('a text that PostgreSQL cannot keep fails its append alone, before the database sees it', async () => {
  await store([one, { changes: [timerAt('a', 1)] }]);
  const a = await named('a');
  const bad = ['nul \0', 'half \ud800'];
  for (const text of bad) {
    const odd = { component: 'Cart', id: text };
    const codes = await store(
      [one, { changes: [timerAt(text, 1)] }],
      [one, { changes: [timerAt('b', 1, { input: `"${text}"` })] }],
      [one, { changes: [timerAt('b', 1, { target: odd })] }],
      [one, { changes: [timerAt('b', 1, { command: text })] }],
      [one, { changes: [timerAt('b', 1, { traceParent: text })] }],
      [one, { changes: [timerAt('b', 1.5)] }],
      [odd, { changes: [timerAt('b', 1)] }],
      [two, { firing: { occurrence: a, end: { kind: 'retry', nextMs: 1, fault: text } } }],
      [two, { firing: { occurrence: a, end: { kind: 'rearm', dueMs: 2 ** 60 } } }],
    );
    expect(codes).toEqual(codes.map(() => 'SVC_TIMER_INVALID'));
    const others = await store(
      [one, { changes: [{ kind: 'cancel', name: text }] }],
      [odd, { changes: [{ kind: 'cancel', name: 'a' }] }, true],
      [two, { firing: { occurrence: { ...a, number: 0.5 }, end: { kind: 'remove' } } }],
      [two, { changes: [timerAt('fits', 1)] }],
    );
    expect(others).toEqual([undefined, undefined, 'SVC_TIMER_GONE', undefined]);
  }
  expect((await all()).map(({ name }) => name)).toEqual(['a', 'fits']);
});

test('a group that is rolled back leaves timers and their count, and can be repeated in part', async () => {
  await store([one, { changes: [timerAt('a', 1)] }]);
  const a = await named('a');
  const first = ofEntity(one, { changes: [{ kind: 'cancel', name: 'a' }, timerAt('b', 2)] });
  const second = ofEntity(two, { firing: { occurrence: a, end: { kind: 'remove' } } });
  const changes = await loaded(session, timerRules(), first, second);
  expect(applied(changes, first, second)).toMatchObject([undefined, { code: 'SVC_TIMER_GONE' }]);
  await changes.store(session);
  await session.query({ text: 'ROLLBACK' });
  expect(await all()).toEqual([a]);
  expect(await database.counted()).toEqual([1, 1]);
  // The slice of the first append is lost: nothing of it is seen by the second one.
  expect(await storedGroup(session, timerRules(), second)).toEqual([undefined]);
  expect(await database.counted()).toEqual([0, 0]);
});

test('a damaged timer fails the end of its firing, and can be removed, replaced and cancelled', async () => {
  const changes = ['a', 'b', 'c', 'd'].map((name) => timerAt(name, 1));
  await store([one, { changes }]);
  const [a, b] = await all();
  await database.query("UPDATE svc.timer SET command = 'other'");
  const retry = { kind: 'retry', nextMs: 9, fault: 'f' } as const;
  const codes = await store(
    [two, { firing: { occurrence: a!, end: retry } }],
    [two, { firing: { occurrence: b!, end: { kind: 'remove' } } }],
    [one, { changes: [timerAt('a', 5), { kind: 'cancel', name: 'c' }] }],
  );
  expect(codes).toEqual(['SVC_JOURNAL_CORRUPT', undefined, undefined]);
  await store([one, { changes: [{ kind: 'cancel', name: 'd' }] }]);
  expect(await all()).toMatchObject([{ name: 'a', dueMs: 5 }]);
  expect(await database.counted()).toEqual([1, 1]);
});

test('every statement finds its timers through an index, also while the table is small', async () => {
  await store([one, { changes: [timerAt('a', 1), timerAt('b', 2), timerAt('c', 3)] }]);
  const [a, b] = await all();
  const plans: string[] = [];
  const explained = watched(session, async ({ name, text }, values) => {
    if (name === undefined) return;
    const rows = await session.query({ text: `EXPLAIN ${text}` }, values);
    plans.push(`${name}\n${rows.map(([line]) => String(line)).join('\n')}`);
  });
  const retry = { kind: 'retry', nextMs: 9, fault: 'f' } as const;
  await storedGroup(
    explained,
    timerRules(),
    ofEntity(two, { firing: { occurrence: a!, end: retry } }),
    ofEntity(two, { firing: { occurrence: b!, end: { kind: 'remove' } } }),
    ofEntity(one, { changes: [timerAt('c', 5)] }),
    ofEntity({ component: 'Cart', id: 'three' }, {}, true),
  );
  const reader = new PostgresTimerReader(explained, () => expect.unreachable());
  await reader.due(10, 10, { nextMs: 1, number: 1 });
  await reader.earliestMs(1);
  await reader.input(a!.number);
  await reader.counts();
  expect(plans.map((plan) => plan.split('\n')[0])).toEqual([
    'timers-lock',
    'timers-room',
    'timers-change',
    'timers-add',
    'timers-count',
    'timers-due',
    'timers-earliest',
    'timer-one',
    'timers-counts',
  ]);
  for (const plan of plans) {
    expect(plan).not.toMatch(/Seq Scan on timer(?!_)/);
    expect(plan).not.toMatch(/Merge Join/);
  }
  for (const plan of plans.slice(5)) expect(plan).not.toMatch(/Sort/);
});
