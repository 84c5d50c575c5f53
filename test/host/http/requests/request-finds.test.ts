// The queries that a handler makes: what they have to see, which are answered where the handler cannot suspend, and that a
// replay gets the same pages. The engine's journal can be held, and can fail.
import { describe, expect, test } from 'vitest';
import type { Position } from '../../../../host/engine/needs/feed.ts';
import type { HostCalls } from '../../../../model/guest.ts';
import { SliceHeads } from '../../../../host/storage/postgres/feed/slice-heads.ts';
import { SlicePositions } from '../../../../host/storage/postgres/feed/slice-positions.ts';
import { sliceOf } from '../../../../model/slice.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { type QueriedViews, RequestFinds } from '../../../../host/http/requests/request-finds.ts';
import { type Refusal, type Reply, refusal } from '../../../../model/call.ts';
import type { RowPage } from '../../../../model/view.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest } from '../../../support/engine-under-test.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';

const ENTITY = { component: 'order', id: 'o1' };
const QUERY = { view: 'orders', query: 'all', input: '{}', limit: 1, cursor: undefined };

/** Views that note what their queries have to see. */
function views() {
  const journal = new MemoryJournal();
  const asked: (Position | undefined)[] = [];
  const queried: QueriedViews = {
    positions: journal.positions,
    isCommand: (_component, name) => name === 'place',
    async find(_query, after) {
      asked.push(after);
      return { rows: [], cursor: undefined, asOfMs: undefined };
    },
    haveReached: () => false,
    findAtOnce: () => undefined,
  };
  return { journal, asked, queried };
}

describe('a query of a handler has to see', () => {
  test('nothing in particular, if the handler has stored nothing', async () => {
    const { asked, queried } = views();
    const finds = new RequestFinds(queried, undefined);
    expect(finds.noted(ENTITY, 'get', () => 'answer')).toBe('answer');
    await finds.find(QUERY);
    expect(asked).toEqual([undefined]);
  });

  test('what its request names', async () => {
    const { asked, queried } = views();
    await new RequestFinds(queried, '7').find(QUERY);
    expect(asked).toEqual(['7']);
  });

  test('what its commands have stored, also those that are under way or have failed', async () => {
    const { journal, asked, queried } = views();
    const finds = new RequestFinds(queried, undefined);
    await append(journal, ENTITY, recordOf(1));
    expect(finds.noted(ENTITY, 'place', () => 'answer')).toBe('answer');
    await finds.find(QUERY);
    const slow = Promise.withResolvers<string>();
    const failed = Promise.withResolvers<string>();
    const answers = [slow, failed].map(({ promise }) =>
      finds.noted(ENTITY, 'place', () => promise),
    );
    const found = finds.find(QUERY);
    await append(journal, ENTITY, recordOf(2));
    failed.reject(new Error('uncertain'));
    await expect(answers[1]).rejects.toThrow('uncertain');
    expect(asked).toEqual(['1']);
    slow.resolve('answer');
    expect(await answers[0]).toBe('answer');
    await found;
    expect(asked).toEqual(['1', '2']);
  });

  test('what a command has stored that fails at once', async () => {
    const { journal, asked, queried } = views();
    const finds = new RequestFinds(queried, undefined);
    await append(journal, ENTITY, recordOf(1));
    expect(() =>
      finds.noted(ENTITY, 'place', () => {
        throw new Error('refused');
      }),
    ).toThrow('refused');
    await finds.find(QUERY);
    expect(asked).toEqual(['1']);
  });
});

/** Positions of a journal that is divided into slices: each of the entities has stored so many records. */
function sliced(heads: Readonly<Record<string, number>>) {
  const { queried } = views();
  const shared = new SliceHeads();
  shared.advance(Object.entries(heads).map(([id, head]) => [sliceOf('order', id), head]));
  return { ...queried, positions: new SlicePositions(shared) };
}
const at = (id: string, off: number): Position => `${sliceOf('order', id).toString(36)}:${off}`;

describe('the position of a response', () => {
  test('names the entities that the handler has called, and no others', () => {
    const queried = sliced({ o1: 3, o2: 4 });
    const finds = new RequestFinds(queried, undefined);
    expect(finds.position).toBe(queried.positions.start);
    finds.note(ENTITY, 'get');
    expect(finds.position).toBe(at('o1', 3));
    finds.note({ component: 'order', id: 'o2' }, 'place');
    for (const one of [at('o1', 3), at('o2', 4)])
      expect(queried.positions.hasReached(finds.position, one)).toBe(true);
  });

  test('names what its request names, so that a caller keeps one position', () => {
    const queried = sliced({ o1: 3, o2: 4 });
    const finds = new RequestFinds(queried, at('o2', 2));
    finds.note(ENTITY, 'place');
    for (const one of [at('o1', 3), at('o2', 2)])
      expect(queried.positions.hasReached(finds.position, one)).toBe(true);
    expect(queried.positions.hasReached(finds.position, at('o2', 3))).toBe(false);
  });

  test('does not name what all queries have', () => {
    const queried = { ...sliced({ o1: 3, o2: 4 }), haveReached: () => true };
    const finds = new RequestFinds(queried, at('o2', 2));
    finds.note(ENTITY, 'place');
    expect(finds.position).toBe(at('o1', 3));
  });

  test('names all entities if the handler has called too many', () => {
    const queried = sliced({ o1: 3, o2: 4 });
    const finds = new RequestFinds(queried, undefined);
    for (let call = 0; call < 1_001; call++) finds.note(ENTITY, 'get');
    expect(finds.position).toBe(queried.positions.end());
  });
});

type Find = Parameters<NonNullable<HostCalls['find']>>;

const ALL: Find = ['counters', 'all', '{}', 10, undefined];
const pageOf = (...rows: string[]): RowPage => ({ rows, cursor: undefined, asOfMs: undefined });

/**
 * A handler with an entity `a` in memory that has counted 3, and a view whose rows are folded up to `foldedTo`. Each query
 * finds another page.
 */
class Finding extends EngineUnderTest {
  foldedTo = 0;
  /** What was asked for: the position, or `waits` and the position. */
  readonly asked: string[] = [];
  rows = 'row';
  readonly calls = new RequestCalls(this.engine, { nowMs: () => ++this.nowMs }, this.eventLoop);

  get eventLoop() {
    return unlimitedEventLoop();
  }

  async begin(after?: Position): Promise<this> {
    await this.outcome('a', 'add', 3);
    this.journal.held = true;
    this.calls.allowFinds(
      new RequestFinds(
        {
          positions: this.journal.positions,
          isCommand: (_component, name) => name !== 'total',
          haveReached: (wanted) => this.foldedTo >= Number(wanted),
          find: async (_query, wanted) => {
            this.asked.push(`waits ${wanted}`);
            return this.#page();
          },
          findAtOnce: (_query, wanted) => {
            this.asked.push(`${wanted}`);
            return this.foldedTo >= Number(wanted ?? 0) ? this.#page() : undefined;
          },
        },
        after,
      ),
    );
    return this;
  }

  #page(): RowPage {
    return pageOf(`${this.rows} ${this.asked.length}`);
  }

  speculated(name: string, input: unknown = null) {
    return this.calls.speculate!(...this.#call(name, input));
  }

  again(name: string, input: unknown = null) {
    return this.calls.call(...this.#call(name, input));
  }

  #call(name: string, input: unknown): Parameters<HostCalls['call']> {
    return [{ component: COUNTER, id: 'a' }, name, JSON.stringify(input), [], undefined];
  }
}

const finding = async (after?: Position) => new Finding().begin(after);

describe('a query of a handler that cannot suspend', () => {
  test('gets the rows that are there', async () => {
    const it = await finding();
    expect(it.calls.findAtOnce!(...ALL)).toEqual(pageOf('row 1'));
    expect(it.speculated('total')).toMatchObject({ json: '3' });
    expect(it.calls.findAtOnce!(...ALL)).toEqual(pageOf('row 2'));
    expect(it.asked).toEqual(['undefined', 'undefined']);
  });

  test('has to be replayed when it has to see what its command stores, and then sees it', async () => {
    const it = await finding();
    expect(it.calls.findAtOnce!(...ALL)).toEqual(pageOf('row 1'));
    expect(it.speculated('add', 4)).toMatchObject({ json: '7' });
    expect(it.calls.findAtOnce!(...ALL)).toBeUndefined();
    expect(it.asked).toEqual(['undefined']);
    expect(it.calls.beginReplay()).toBe(true);
    await it.journal.letAllThrough();
    expect(await it.calls.find!(...ALL)).toEqual(pageOf('row 1'));
    expect(await it.again('add', 4)).toMatchObject({ json: '7' });
    expect(await it.calls.find!(...ALL)).toEqual(pageOf('row 2'));
    expect(it.asked).toEqual(['undefined', 'waits 2']);
  });

  test('has to see what was stored before a command that has its answer', async () => {
    const it = await finding();
    expect(it.speculated('take', 9)).toMatchObject({ code: 'CONFLICT' });
    expect(it.calls.findAtOnce!(...ALL)).toBeUndefined();
    it.foldedTo = 1;
    expect(it.calls.findAtOnce!(...ALL)).toEqual(pageOf('row 2'));
    expect(it.asked).toEqual(['1', '1']);
  });

  test('has to be replayed when what is recorded exceeds its limit', async () => {
    const it = await finding();
    it.rows = 'x'.repeat(1024 * 1024);
    expect(it.calls.findAtOnce!(...ALL)).toBeDefined();
    expect(it.calls.keptBytes).toBeGreaterThan(2 * 1024 * 1024);
    expect(it.calls.findAtOnce!(...ALL)).toBeUndefined();
    expect(it.asked).toHaveLength(1);
  });

  test('yields to others when the budget of the event loop is used up', async () => {
    class Busy extends Finding {
      override get eventLoop() {
        const eventLoop = unlimitedEventLoop();
        eventLoop.isUsedUp = () => true;
        return eventLoop;
      }
    }
    const it = await new Busy().begin();
    expect(it.calls.findAtOnce!(...ALL)).toBeDefined();
    expect(it.calls.findAtOnce!(...ALL)).toBeUndefined();
  });
});

describe('the position that a request names', () => {
  test('lets the handler run once, where it can suspend, while rows are behind it', async () => {
    const { calls } = await finding('5');
    expect([calls.speculate, calls.findAtOnce]).toEqual([undefined, undefined]);
    expect(calls.beginReplay()).toBe(false);
    expect(await calls.find!(...ALL)).toEqual(pageOf('row 1'));
  });

  test('is asked for where the handler cannot suspend, once rows have reached it', async () => {
    const it = new Finding();
    it.foldedTo = 5;
    await it.begin('5');
    expect(it.calls.findAtOnce!(...ALL)).toEqual(pageOf('row 1'));
    expect(it.asked).toEqual(['5']);
  });
});

describe('a replayed handler', () => {
  test('gets the page that it was given, and not the rows of now', async () => {
    const it = await finding();
    it.calls.findAtOnce!(...ALL);
    it.speculated('add', 4);
    await it.journal.fail();
    expect(await it.calls.isConfirmed()).toBe(false);
    it.rows = 'later';
    for (let run = 0; run < 2; run++) {
      it.calls.beginReplay();
      expect(await it.calls.find!(...ALL)).toEqual(pageOf('row 1'));
      await expect(async () => it.again('add', 4)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
    }
    expect(it.asked).toEqual(['undefined']);
    expect(await it.calls.find!(...ALL)).toEqual(pageOf('later 2'));
  });

  test('gets a refusal again, too', async () => {
    const refused: Refusal = refusal('NOT_FOUND', 'no such view');
    const { journal, queried } = views();
    const engine = new EngineUnderTest();
    const calls = new RequestCalls(engine.engine, { nowMs: () => 1 }, unlimitedEventLoop());
    calls.allowFinds(
      new RequestFinds(
        { ...queried, positions: journal.positions, findAtOnce: () => refused },
        undefined,
      ),
    );
    expect(calls.findAtOnce!(...ALL)).toBe(refused);
    calls.beginReplay();
    expect(await calls.find!(...ALL)).toBe(refused);
  });

  test.each<[string, Find]>([
    ['view', ['others', 'all', '{}', 10, undefined]],
    ['query', ['counters', 'some', '{}', 10, undefined]],
    ['input', ['counters', 'all', 'null', 10, undefined]],
    ['limit', ['counters', 'all', '{}', 11, undefined]],
    ['cursor', ['counters', 'all', '{}', 10, 'c']],
  ])('that queries with another %s is a fault of the handler', async (_what, other) => {
    const { calls } = await finding();
    calls.findAtOnce!(...ALL);
    calls.beginReplay();
    expect(() => calls.find!(...other)).toThrow('a handler that was run again made another call');
  });

  test('that calls where it has queried, or the other way round, is a fault of the handler', async () => {
    const it = await finding();
    it.calls.findAtOnce!(...ALL);
    it.speculated('total');
    it.calls.beginReplay();
    expect(() => it.again('total')).toThrow('made another call');
    await it.calls.find!(...ALL);
    expect(() => it.calls.find!(...ALL)).toThrow('made another call');
  });

  test('gets the same page where it cannot suspend, after another shard has answered', async () => {
    const answer = Promise.withResolvers<Reply>();
    const asked: (Position | undefined)[] = [];
    const { queried } = views();
    const engine = {
      call: () => expect.fail('no call is made'),
      speculate: () => ({ speculative: undefined, answer: answer.promise, isRemote: true }),
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
    };
    const calls = new RequestCalls(engine, { nowMs: () => 1 }, unlimitedEventLoop());
    calls.allowFinds(
      new RequestFinds(
        {
          ...queried,
          findAtOnce: (_query, after) => {
            asked.push(after);
            return pageOf(`row ${asked.length}`);
          },
        },
        undefined,
      ),
    );
    const call = [{ component: 'order', id: 'far' }, 'place', '1', [], undefined] as const;
    calls.findAtOnce!(...ALL);
    expect(calls.speculate!(...call)).toBeUndefined();
    const remote = calls.remoteAnswer();
    answer.resolve({ kind: 'reply', json: '1' });
    await remote;
    expect(calls.findAtOnce!(...ALL)).toEqual(pageOf('row 1'));
    expect(calls.speculate!(...call)).toEqual({ kind: 'reply', json: '1' });
    expect(calls.findAtOnce!(...ALL)).toEqual(pageOf('row 2'));
    // The second one has to see what the command has stored.
    expect(asked).toEqual([undefined, '0']);
  });
});
