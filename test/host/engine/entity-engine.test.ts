import { AssertionError } from 'node:assert';
import { describe, expect, test } from 'vitest';
import { COUNTER, added } from '../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../support/engine-under-test.ts';

const guests = [
  ['that answers at once', { later: false }],
  ['that answers later', { later: true }],
] as const;

describe.each(guests)('with a guest %s', (_, options) => {
  test('entities beyond the limit are closed when idle, and come back from the journal', async () => {
    const it = new EngineUnderTest({ ...options, limits: { liveEntitiesMax: 2 } });
    for (const id of ['a', 'b', 'c', 'd']) await it.outcome(id, 'add', 1);
    expect(it.guest.openCount).toBe(2);
    it.journal.reads.length = 0;
    expect(await it.outcome('c', 'total')).toBe(1);
    expect(await it.outcome('d', 'total')).toBe(1);
    expect(it.journal.reads).toEqual([]);
    // `c` is the least recently used one now.
    expect(await it.outcome('a', 'total')).toBe(1);
    expect(await it.outcome('d', 'total')).toBe(1);
    expect(it.journal.reads).toEqual([`${COUNTER}/a>0`]);
    expect(it.guest.openCount).toBe(2);
  });

  test('an entity that waits for the disk stays in memory, whatever the limit', async () => {
    const it = new EngineUnderTest({ ...options, limits: { liveEntitiesMax: 1 } });
    it.journal.held = true;
    const pending = ['a', 'b', 'c'].map((id) => it.outcome(id, 'add', 1));
    await turns();
    expect(it.guest.openCount).toBe(3);
    await it.journal.letAllThrough();
    await Promise.all(pending);
    expect(it.guest.openCount).toBe(1);
    expect(it.guest.violations).toEqual([]);
  });

  test('close waits for what is under way and refuses what comes after', async () => {
    const it = new EngineUnderTest(options);
    it.journal.held = true;
    const pending = it.outcome('a', 'add', 1);
    await turns();
    let closed = false;
    const closing = it.engine.close().then(() => {
      closed = true;
    });
    expect(await it.outcome('a', 'total')).toBe('failed SVC_STOPPING');
    expect(await it.outcome('b', 'add', 1)).toBe('failed SVC_STOPPING');
    await turns();
    expect(closed).toBe(false);
    await it.journal.letAllThrough();
    expect(await pending).toBe(1);
    await closing;
    expect(it.guest.openCount).toBe(0);
    await it.engine.close();
  });

  test('an append that fails during the close ends the wait as well', async () => {
    const it = new EngineUnderTest(options);
    it.journal.held = true;
    const pending = it.outcome('a', 'add', 1);
    await turns();
    const closing = it.engine.close();
    await it.journal.fail();
    expect(await pending).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    await closing;
    expect(it.guest.openCount).toBe(0);
  });
});

describe('a call', () => {
  test('on an entity in memory is answered without a promise, where nothing is waited for', async () => {
    const it = new EngineUnderTest();
    const target = { component: COUNTER, id: 'a' };
    await it.outcome('a', 'add', 2);
    expect(it.engine.call(target, 'total', 'null', [])).toEqual({ kind: 'reply', json: '2' });
    expect(it.engine.call(target, 'take', '3', [])).toMatchObject({ kind: 'refusal' });
    expect(it.engine.call(target, 'noop', 'null', [])).toEqual({ kind: 'reply', json: '2' });
    expect(() => it.engine.call(target, 'faultyQuery', 'null', [])).toThrow('query of entity a');
    expect(it.engine.call(target, 'total', 'null', [])).toBeInstanceOf(Promise);
  });

  test.each([
    ['Basket', 'total', "there is no component 'Basket'"],
    ['__proto__', 'total', "there is no component '__proto__'"],
    [COUNTER, 'sum', `component '${COUNTER}' has no command or query 'sum'`],
    [COUNTER, 'constructor', `component '${COUNTER}' has no command or query 'constructor'`],
    [COUNTER, 'a\u001b[2J\n', `component '${COUNTER}' has no command or query 'a\\u{1b}[2J\\u{a}'`],
  ])('of %s %j is refused with NOT_FOUND and its name', (component, name, message) => {
    const it = new EngineUnderTest();
    expect(it.engine.call({ component, id: 'a' }, name, 'null', [])).toEqual({
      kind: 'refusal',
      code: 'NOT_FOUND',
      message,
    });
  });

  test.each([
    ['', 'is empty'],
    ['x'.repeat(257), 'is longer than 256'],
    ['a\nb', 'control character'],
    ['a\u0000', 'control character'],
    ['a\u0085', 'control character'],
    ['\ud800', 'surrogate'],
    ['a\udc00b', 'surrogate'],
  ])('of an entity with the id %j is refused with BAD_REQUEST', async (id, problem) => {
    const it = new EngineUnderTest();
    const answer = await it.call(id, 'total');
    expect(answer).toMatchObject({ kind: 'refusal', code: 'BAD_REQUEST' });
    expect(answer).toHaveProperty('message', expect.stringContaining(problem));
    expect(it.guest.openCount).toBe(0);
  });

  test.each(['x'.repeat(256), '../../etc/passwd', '__proto__', '😀', ' ', "'; --"])(
    'of an entity with the id %j is served',
    async (id) => {
      const it = new EngineUnderTest();
      expect(await it.outcome(id, 'add', 1)).toBe(1);
      expect(await it.outcome(id, 'total')).toBe(1);
    },
  );

  test('gets the time, a seed of its own, and a trace context of its own', async () => {
    const it = new EngineUnderTest();
    await it.outcome('a', 'noop');
    it.seed = 0xabcn;
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const answer = await it.call('a', 'context', null, [
      ['traceparent', `00-${trace}-b7ad6b7169203331-01`],
      ['tracestate', 'vendor=1'],
    ]);
    expect(answer.kind === 'reply' && JSON.parse(answer.json)).toEqual({
      nowMs: it.nowMs,
      seed: String(0xabd),
      metadata: [
        ['traceparent', `00-${trace}-0000000000000abe-01`],
        ['tracestate', 'vendor=1'],
      ],
    });
  });
});

describe('readEvents', () => {
  const target = { component: COUNTER, id: 'a' };

  test('answers the events of the present life, from where one asks', async () => {
    const it = new EngineUnderTest();
    await it.outcome('a', 'add', 1);
    await it.outcome('a', 'remove', 2);
    expect(await it.engine.readEvents(target, 0, 10)).toEqual([]);
    for (const by of [3, 4, 5]) await it.outcome('a', 'add', by);
    const seqs = async (after: number, limit: number) =>
      (await it.engine.readEvents(target, after, limit)).map((record) => record.seq);
    expect(await seqs(0, 10)).toEqual([4, 5, 6]);
    expect(await seqs(4, 1)).toEqual([5]);
    expect(await seqs(6, 10)).toEqual([]);
    expect((await it.engine.readEvents(target, 0, 1))[0]?.event).toEqual(added(3));
  });

  test('shows nothing that is not on disk', async () => {
    const it = new EngineUnderTest();
    it.journal.held = true;
    const pending = it.outcome('a', 'add', 1);
    await turns();
    expect(await it.engine.readEvents(target, 0, 10)).toEqual([]);
    await it.journal.letAllThrough();
    await pending;
    expect(await it.engine.readEvents(target, 0, 10)).toHaveLength(1);
  });

  test('starts again when the entity is deleted in between', async () => {
    const it = new EngineUnderTest();
    await it.outcome('a', 'add', 1);
    const lastDeletion = it.journal.lastDeletion.bind(it.journal);
    it.journal.lastDeletion = async (entity) => {
      it.journal.lastDeletion = lastDeletion;
      const before = await it.journal.lastDeletion(entity);
      await it.outcome('a', 'remove', 0);
      return before;
    };
    expect(await it.engine.readEvents(target, 0, 10)).toEqual([]);
  });

  test.each([
    ['a deletion that the index does not know', [1, 2], 2],
    ['a hole', [1, 3], undefined],
    ['a wrong beginning', [2], undefined],
  ])('finds %s, and ends', async (_, seqs, deletedSeq) => {
    const it = new EngineUnderTest();
    it.journal.read = async () =>
      seqs.map((seq) =>
        seq === deletedSeq
          ? { kind: 'deleted', seq, timeMs: 0 }
          : { kind: 'event', seq, timeMs: 0, event: added(1) },
      );
    // A reader that goes round and round must not take the test with it.
    let asked = 0;
    it.journal.lastDeletion = async () => {
      if (++asked > 10) throw new Error('asked again and again');
      return 0;
    };
    await expect(it.engine.readEvents(target, 0, 10)).rejects.toMatchObject({
      code: 'SVC_JOURNAL_CORRUPT',
    });
  });

  test('knows no entity that cannot be', async () => {
    const it = new EngineUnderTest();
    expect(await it.engine.readEvents({ component: 'Other', id: 'a' }, 0, 10)).toEqual([]);
    expect(await it.engine.readEvents({ component: COUNTER, id: '' }, 0, 10)).toEqual([]);
    expect(it.journal.reads).toEqual([]);
  });

  test.each([
    [-1, 10],
    [0.5, 10],
    [0, 0],
    [0, 1_001],
  ])('takes neither %d nor %d for a place and a number', async (after, limit) => {
    const it = new EngineUnderTest();
    await expect(it.engine.readEvents(target, after, limit)).rejects.toBeInstanceOf(AssertionError);
  });
});
