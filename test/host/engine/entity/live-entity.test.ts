import { describe, expect, test } from 'vitest';
import { COUNTER, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';

const guests = [
  ['that answers at once', { later: false }],
  ['that answers later', { later: true }],
] as const;

describe.each(guests)('with a guest %s', (_, options) => {
  test('a command answers its reply after its events are on disk', async () => {
    const { engine, journal, guest, ...rest } = new EngineUnderTest(options);
    journal.held = true;
    let answered = false;
    const answer = Promise.resolve(
      engine.call({ component: COUNTER, id: 'a' }, 'add', '5', []),
    ).finally(() => {
      answered = true;
    });
    await turns();
    expect(journal.waitingCount).toBe(1);
    expect(answered).toBe(false);
    await journal.letAllThrough();
    expect(await answer).toEqual({ kind: 'reply', json: '5' });
    expect(await journal.read({ component: COUNTER, id: 'a' }, 0, 10)).toEqual([
      { kind: 'event', seq: 1, timeMs: rest.nowMs, seed: 1n, event: added(5) },
    ]);
    expect(guest.violations).toEqual([]);
  });

  test('commands of one entity are decided in arrival order, each on the state before it', async () => {
    const it = new EngineUnderTest(options);
    const outcomes = [3, 4, 5].map((by) => it.outcome('a', 'add', by));
    expect(await Promise.all(outcomes)).toEqual([3, 7, 12]);
    expect((await it.records('a')).map((record) => record.seq)).toEqual([1, 2, 3]);
  });

  test('a command is decided on a state that is not on disk yet, and its reply waits its turn', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'noop');
    it.journal.held = true;
    const answered: string[] = [];
    const note = (name: string) => (value: unknown) => answered.push(`${name} ${String(value)}`);
    void it.outcome('a', 'add', 1).then(note('first'));
    void it.outcome('a', 'add', 2).then(note('second'));
    void it.outcome('a', 'take', 99).then(note('refused'));
    void it.outcome('a', 'noop').then(note('noop'));
    await turns();
    expect(it.guest.calls.filter((name) => name !== 'apply')).toEqual([
      'noop',
      'add',
      'add',
      'take',
      'noop',
    ]);
    expect(it.journal.waitingCount).toBe(2);
    expect(answered).toEqual([]);
    await it.journal.letThrough();
    await turns();
    expect(answered).toEqual(['first 1']);
    await it.journal.letThrough();
    await turns();
    expect(answered).toEqual(['first 1', 'second 3', 'refused refused CONFLICT', 'noop 3']);
  });

  test("a query's answer is held until every event in the state it saw is on disk", async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const first = it.outcome('a', 'add', 10);
    let seen: unknown;
    const query = it.outcome('a', 'total').then((total) => {
      seen = total;
    });
    const second = it.outcome('a', 'add', 100);
    await turns();
    expect(seen).toBeUndefined();
    await it.journal.letThrough();
    await query;
    expect(seen).toBe(11);
    await it.journal.letAllThrough();
    expect(await Promise.all([first, second])).toEqual([11, 111]);
  });

  test('a refused command persists nothing and leaves the state', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 2);
    expect(await it.call('a', 'take', 3)).toEqual({
      kind: 'refusal',
      code: 'CONFLICT',
      message: 'only 2 are left',
    });
    expect(await it.outcome('a', 'total')).toBe(2);
    expect(it.journal.appendCount).toBe(1);
    expect(it.faults).toEqual([]);
  });

  test('a command without events answers and persists nothing', async () => {
    const it = new EngineUnderTest(options);
    expect(await it.outcome('a', 'noop')).toBe(0);
    expect(it.journal.appendCount).toBe(0);
  });

  test('a failed append fails every command that was decided after it, and nothing of them stays', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const outcomes = [
      it.outcome('a', 'add', 10),
      it.outcome('a', 'add', 100),
      it.outcome('a', 'take', 1_000),
      it.outcome('a', 'noop'),
    ];
    await turns();
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect(await Promise.all(outcomes)).toEqual(
      Array.from({ length: 4 }, () => 'failed SVC_JOURNAL_UNAVAILABLE'),
    );
    expect(await it.outcome('a', 'history')).toEqual([1]);
    expect(await it.outcome('a', 'add', 5)).toBe(6);
    expect((await it.records('a')).map((record) => record.seq)).toEqual([1, 2]);
    expect(it.guest.violations).toEqual([]);
  });

  test('a failed append leaves what was acknowledged before it, and other entities', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('b', 'noop');
    it.journal.held = true;
    const first = it.outcome('a', 'add', 1);
    await turns();
    const second = it.outcome('a', 'add', 2);
    const other = it.outcome('b', 'add', 3);
    await turns();
    await it.journal.letThrough();
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect(await Promise.all([first, second, other])).toEqual([
      1,
      'failed SVC_JOURNAL_UNAVAILABLE',
      3,
    ]);
    expect(await it.outcome('a', 'total')).toBe(1);
  });

  test('a query on a state whose write failed runs again on the rebuilt entity', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const lost = it.outcome('a', 'add', 10);
    const query = it.outcome('a', 'total');
    const later = it.outcome('a', 'add', 100);
    await turns();
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect(await Promise.all([lost, query, later])).toEqual([
      'failed SVC_JOURNAL_UNAVAILABLE',
      1,
      'failed SVC_JOURNAL_UNAVAILABLE',
    ]);
  });

  test('an entity is not rebuilt before the appends that were under way have settled', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const pending = it.outcome('a', 'add', 10);
    const faulty = it.outcome('a', 'fault');
    const next = it.outcome('a', 'add', 100);
    expect(await faulty).toBe('failed trap');
    await turns();
    expect(it.journal.reads).toEqual([`${COUNTER}/a>0`]);
    await it.journal.letAllThrough();
    expect(await Promise.all([pending, next])).toEqual([11, 111]);
    expect(it.journal.reads.slice(1)).toEqual([`${COUNTER}/a>0`]);
    expect((await it.records('a')).map((record) => record.seq)).toEqual([1, 2, 3]);
  });

  test('a deleted entity begins again from empty, and its numbers go on', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    const outcomes = [
      it.outcome('a', 'remove', 7),
      it.outcome('a', 'total'),
      it.outcome('a', 'add', 3),
      it.outcome('a', 'remove', 0),
      it.outcome('a', 'history'),
    ];
    expect(await Promise.all(outcomes)).toEqual([1, 0, 3, 3, []]);
    expect((await it.records('a')).map(({ kind, seq }) => `${seq} ${kind}`)).toEqual([
      '1 event',
      '2 event',
      '3 deleted',
      '4 event',
      '5 deleted',
    ]);
    const restarted = new EngineUnderTest({ ...options, journal: it.journal });
    expect(await restarted.outcome('a', 'add', 9)).toBe(9);
    expect((await it.records('a')).at(-1)?.seq).toBe(6);
  });

  test('the events and the deletion of one command are one append', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'remove', 7);
    expect(it.journal.appendCount).toBe(1);
    expect(await it.records('a')).toHaveLength(2);
  });

  test('a failed deletion deletes nothing', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const removed = it.outcome('a', 'remove', 0);
    const after = it.outcome('a', 'total');
    await turns();
    await it.journal.fail();
    expect(await removed).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    expect(await after).toBe(1);
  });

  test('a fault fails its call, is logged, and the entity comes back from the journal', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 4);
    expect(await it.outcome('a', 'fault')).toBe('failed trap');
    expect(await it.outcome('a', 'faultyQuery')).toBe('failed trap');
    expect(await it.outcome('a', 'total')).toBe(4);
    expect(it.faults.map(({ entity, handler }) => `${entity.id} ${handler}`)).toEqual([
      'a fault',
      'a faultyQuery',
    ]);
    expect(it.guest.violations).toEqual([]);
  });

  test.each([
    ['that trap when they are folded', 'poison', 'failed trap'],
    ['that its codec refuses', 'unreadable', 'failed value'],
  ])('an effect with events %s persists nothing', async (__, command, outcome) => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 4);
    expect(await it.outcome('a', command)).toBe(outcome);
    expect(await it.outcome('a', 'history')).toEqual([4]);
    expect(await it.records('a')).toHaveLength(1);
    expect(it.faults).toHaveLength(1);
  });

  test("one entity's fault takes the others of its instance away, and they come back", async () => {
    const it = new EngineUnderTest({ ...options, perInstance: 3 });
    await Promise.all(['a', 'b', 'c'].map((id) => it.outcome(id, 'add', 1)));
    it.journal.held = true;
    const pending = it.outcome('b', 'add', 10);
    await turns();
    expect(await it.outcome('a', 'fault')).toBe('failed trap');
    const next = it.outcome('b', 'add', 100);
    const queried = it.outcome('c', 'total');
    expect(await queried).toBe(1);
    await it.journal.letAllThrough();
    expect(await Promise.all([pending, next])).toEqual([11, 111]);
    expect(it.guest.violations).toEqual([]);
    expect(it.faults).toHaveLength(1);
  });

  test('an entity that loses its instance while it is folded starts again', async () => {
    const it = new EngineUnderTest({ ...options, perInstance: 3 });
    it.journal.held = true;
    const adds = Array.from({ length: 2_500 }, (__, index) => added(index));
    const loaded = it.outcome('a', 'effect', { events: adds });
    await turns();
    await it.journal.letAllThrough();
    await loaded;
    const restarted = new EngineUnderTest({
      ...options,
      perInstance: 3,
      journal: it.journal,
    });
    await restarted.outcome('b', 'noop');
    let fault: Promise<unknown> | undefined;
    restarted.guest.duringFold = () => {
      fault = Promise.resolve().then(() => restarted.outcome('b', 'fault'));
    };
    expect(await restarted.outcome('a', 'history')).toHaveLength(2_500);
    expect(await fault).toBe('failed trap');
    expect(restarted.guest.violations).toEqual([]);
  });

  test('more calls than an entity may have waiting are refused with SVC_OVERLOADED', async () => {
    const it = new EngineUnderTest({ ...options, limits: { callsPerEntityMax: 3 } });
    it.journal.held = true;
    const outcomes = [1, 1, 1, 1].map((by) => it.outcome('a', 'add', by));
    expect(await outcomes[3]).toBe('failed SVC_OVERLOADED');
    await turns();
    expect(await it.outcome('a', 'total')).toBe('failed SVC_OVERLOADED');
    const other = it.outcome('b', 'total');
    expect(await other).toBe(0);
    await it.journal.letAllThrough();
    expect(await Promise.all(outcomes.slice(0, 3))).toEqual([1, 2, 3]);
    expect(await it.outcome('a', 'total')).toBe(3);
  });

  test('the record carries the time that the command was told', async () => {
    const it = new EngineUnderTest(options);
    it.wallSetMs = 5 - it.nowMs;
    await it.outcome('a', 'add', 1);
    it.wallSetMs = 3 - it.nowMs;
    await it.outcome('a', 'remove', 2);
    expect((await it.records('a')).map((record) => record.timeMs)).toEqual([5, 3, 3]);
  });
});

test('an append that fails while a guest computes counts for what it computes on', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const it = new EngineUnderTest({ later: true });
  await it.outcome('a', 'add', 1);
  it.journal.held = true;
  const lost = it.outcome('a', 'add', 10);
  await turns();
  it.guest.gate = gate;
  const command = it.outcome('a', 'add', 100);
  const query = it.outcome('a', 'total');
  await turns();
  await it.journal.fail();
  expect(await lost).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  open();
  it.journal.held = false;
  expect(await command).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  expect(await query).toBe(1);
  expect(it.guest.violations).toEqual([]);
});

test('an append that fails while a guest breaks down counts for no later call', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const it = new EngineUnderTest({ later: true });
  await it.outcome('a', 'add', 1);
  it.journal.held = true;
  const lost = it.outcome('a', 'add', 10);
  await turns();
  it.guest.gate = gate;
  const faulty = it.outcome('a', 'fault');
  const next = it.outcome('a', 'add', 100);
  await turns();
  await it.journal.fail();
  it.journal.held = false;
  open();
  expect(await Promise.all([lost, faulty, next])).toEqual([
    'failed SVC_JOURNAL_UNAVAILABLE',
    'failed trap',
    101,
  ]);
});

test('queries that an append has failed run again in the order in which they came, with the one under way', async () => {
  const it = new EngineUnderTest({ later: true });
  await it.outcome('a', 'noop');
  it.journal.held = true;
  const lost = it.outcome('a', 'add', 1);
  const answered: string[] = [];
  const ask = (name: string) => it.outcome('a', name).then(() => answered.push(name));
  const held = ask('total');
  await turns();
  const gate = Promise.withResolvers<void>();
  it.guest.gate = gate.promise;
  const later = [ask('history'), ask('context')];
  await turns();
  await it.journal.fail();
  gate.resolve();
  await Promise.all([lost, held, ...later]);
  expect(answered).toEqual(['total', 'history', 'context']);
  expect(it.guest.violations).toEqual([]);
});
