import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GuestViews } from '../../../model/guest.ts';
import type { ViewWriter } from '../../../host/engine/needs/views.ts';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import type { FoldedView } from '../../../host/views/folded-view.ts';
import { ViewFold } from '../../../host/views/view-fold.ts';
import { ViewStopped } from '../../../host/views/view-stopped.ts';
import { append } from '../../suites/journal-suite.ts';

/** An event of the tests: `keys` are the rows that it concerns in a view with keys. */
interface Happened {
  readonly type: 'add' | 'remove' | 'fault' | 'unreadable';
  readonly by: number;
  readonly keys?: readonly string[];
}

const parsed = (json: string) => JSON.parse(json) as Happened;

/** Adds up numbers: a row is a sum and the number of events that made it. */
class SummingViews implements GuestViews {
  foldCalls = 0;

  keys(_view: string, events: Parameters<GuestViews['keys']>[1]) {
    return events.map(({ event }) => parsed(event.json).keys ?? []);
  }

  fold(_view: string, ...[rows, events]: [...Tail]): ReturnType<GuestViews['fold']> {
    this.foldCalls++;
    const sums = rows.map(({ json }) =>
      json === undefined ? undefined : (JSON.parse(json) as Sum),
    );
    const changed = new Set<number>();
    for (const { event, rows: concerned } of events) {
      const { type, by } = parsed(event.event.json);
      if (type === 'fault') throw new GuestFault('trap', 'unreachable');
      if (type === 'unreadable') return 'an event of a type that nobody knows';
      for (const at of concerned) {
        changed.add(at);
        const { sum, count } = sums[at] ?? { sum: 0, count: 0 };
        sums[at] = type === 'remove' ? undefined : { sum: sum * 3 + by, count: count + 1 };
      }
    }
    return [...changed].map((at) => ({
      key: rows[at]!.key,
      json: sums[at] && JSON.stringify(sums[at]),
    }));
  }
}
type Tail = [Parameters<GuestViews['fold']>[1], Parameters<GuestViews['fold']>[2]];
interface Sum {
  readonly sum: number;
  readonly count: number;
}

function viewWith(hasKeys: boolean): FoldedView {
  const stored = { id: 'sums', rowType: 't', definition: '0123456789abcdef', indexes: [] };
  return { id: 'sums', sources: new Set(['a', 'b']), hasKeys, stored };
}

class FoldUnderTest {
  readonly journal = new MemoryJournal();
  readonly guest = new SummingViews();
  readonly #views = new MemoryViews();
  readonly view: FoldedView;
  readonly writer: ViewWriter;
  readonly #lastSeq = new Map<string, number>();

  constructor(hasKeys = false) {
    this.view = viewWith(hasKeys);
    this.writer = this.#views.openWriter(this.view.stored);
  }

  /** A fold that goes on where the stored rows are. */
  fold(): ViewFold {
    const { view, guest, writer } = this;
    const feed = this.journal.feed();
    const { foldedTo, skips } = writer;
    const limits = VIEW_LIMITS_DEFAULT;
    return new ViewFold({ view, guest, feed, writer, foldedTo, skips, limits });
  }

  async store(entity: EntityRef, ...happened: readonly (Happened | 'deleted')[]): Promise<void> {
    const name = `${entity.component}/${entity.id}`;
    let seq = this.#lastSeq.get(name) ?? 0;
    const records = happened.map((one): JournalRecord => {
      const origin = { seq: ++seq, timeMs: 1_700_000_000_000 + seq };
      if (one === 'deleted') return { kind: 'deleted', ...origin };
      return { kind: 'event', ...origin, event: { manifest: 'e', json: JSON.stringify(one) } };
    });
    this.#lastSeq.set(name, seq);
    const failure = await append(this.journal, entity, ...records);
    if (failure !== undefined) throw failure;
  }

  async row(key: string): Promise<Sum | undefined> {
    const [json] = await this.writer.rows([key]);
    return json === undefined ? undefined : (JSON.parse(json) as Sum);
  }
}

async function toEnd(fold: ViewFold, recordsMax = 1_000): Promise<void> {
  while (await fold.step(recordsMax));
}

const a = (id: string): EntityRef => ({ component: 'a', id });
const b = (id: string): EntityRef => ({ component: 'b', id });
const add = (by: number, ...keys: readonly string[]): Happened => ({ type: 'add', by, keys });

describe('a view whose keys are ids', () => {
  test('has a row for each entity, into which its events are folded in order', async () => {
    const under = new FoldUnderTest();
    await under.store(a('x'), add(1), add(2));
    await under.store(a('y'), add(5));
    await under.store(a('x'), add(4));
    await toEnd(under.fold());
    expect(await under.row('x')).toEqual({ sum: 19, count: 3 });
    expect(await under.row('y')).toEqual({ sum: 5, count: 1 });
  });

  test('leaves events of other components out', async () => {
    const under = new FoldUnderTest();
    await under.store({ component: 'other', id: 'x' }, add(1));
    await under.store(b('x'), add(2));
    await toEnd(under.fold());
    expect(await under.row('x')).toEqual({ sum: 2, count: 1 });
  });

  test('removes the row of a deleted entity, and begins anew with its next event', async () => {
    const under = new FoldUnderTest();
    await under.store(a('x'), add(1), 'deleted');
    await under.store(a('y'), add(1), 'deleted', add(7));
    await toEnd(under.fold());
    expect(await under.row('x')).toBeUndefined();
    expect(await under.row('y')).toEqual({ sum: 7, count: 1 });
  });

  test('folds many events in one call, and goes on where it was', async () => {
    const under = new FoldUnderTest();
    await under.store(a('x'), ...Array.from({ length: 200 }, () => add(0)));
    await toEnd(under.fold());
    expect(under.guest.foldCalls).toBeLessThan(20);
    await under.store(a('x'), add(1));
    await toEnd(under.fold());
    expect(await under.row('x')).toEqual({ sum: 1, count: 201 });
  });
});

describe('a view that names its keys', () => {
  test('folds an event into each of its rows, each once, and into none where it names none', async () => {
    const under = new FoldUnderTest(true);
    await under.store(a('x'), add(1, 'p', 'q', 'p'), add(9), add(2, 'q'));
    await toEnd(under.fold());
    expect(await under.row('p')).toEqual({ sum: 1, count: 1 });
    expect(await under.row('q')).toEqual({ sum: 5, count: 2 });
    expect(await under.row('x')).toBeUndefined();
  });

  test('keeps its rows when an entity is deleted', async () => {
    const under = new FoldUnderTest(true);
    await under.store(a('x'), add(1, 'x'), 'deleted');
    await toEnd(under.fold());
    expect(await under.row('x')).toEqual({ sum: 1, count: 1 });
  });

  test.each([
    ['too many keys', Array.from({ length: 17 }, (_, index) => `k${index}`)],
    ['an empty key', ['']],
    ['half a surrogate pair', ['\ud800']],
    ['a key that is too long', ['ä'.repeat(513)]],
  ])('stops at an event with %s', async (_, keys) => {
    const under = new FoldUnderTest(true);
    await under.store(a('x'), add(1, 'p'), add(2, ...keys), add(3, 'p'));
    await expect(toEnd(under.fold())).rejects.toThrow(ViewStopped);
    expect(await under.row('p')).toEqual({ sum: 1, count: 1 });
  });

  test('stops when an event has no list of keys', async () => {
    const under = new FoldUnderTest(true);
    under.guest.keys = () => [];
    await under.store(a('x'), add(1, 'p'));
    await expect(toEnd(under.fold())).rejects.toThrow('1 events have 0 lists of keys');
  });
});

describe('an event that cannot be folded', () => {
  test.each(['fault', 'unreadable'] as const)(
    'stops the view there, with all events before it folded: %s',
    async (type) => {
      const under = new FoldUnderTest();
      await under.store(a('x'), ...Array.from({ length: 40 }, () => add(0)));
      await under.store(a('y'), { type, by: 0 });
      await under.store(a('x'), add(1));
      const stopped = await toEnd(under.fold()).catch((failure: unknown) => failure);
      expect(stopped).toMatchObject({
        view: 'sums',
        at: { entity: a('y'), seq: 1 },
        rows: { after: '41' },
      });
      expect(await under.row('x')).toEqual({ sum: 0, count: 40 });
      // Tried again, it stops at the same event and changes nothing.
      await expect(toEnd(under.fold())).rejects.toMatchObject({ at: { entity: a('y'), seq: 1 } });
      expect(await under.row('x')).toEqual({ sum: 0, count: 40 });
    },
  );

  test('is left out when it is skipped, and no other event is', async () => {
    const under = new FoldUnderTest();
    await under.store(a('x'), add(1), { type: 'fault', by: 0 }, add(2));
    await under.store(b('x'), add(3), add(4));
    await under.store(a('y'), 'deleted', add(5));
    await expect(toEnd(under.fold())).rejects.toMatchObject({ at: { entity: a('x'), seq: 2 } });
    for (const [entity, seq] of [
      [a('x'), 2],
      [b('x'), 1],
      // A deletion is no event.
      [a('y'), 1],
    ] as const)
      await under.writer.skip({ entity, seq, reason: 'a test', timeMs: 0 });
    await toEnd(under.fold());
    expect(await under.row('x')).toEqual({ sum: (1 * 3 + 2) * 3 + 4, count: 3 });
    expect(await under.row('y')).toEqual({ sum: 5, count: 1 });
  });

  test('stops the view when its row cannot be stored', async () => {
    const under = new FoldUnderTest();
    const fold = under.guest.fold.bind(under.guest);
    under.guest.fold = (view, ...rest) => {
      const rows = fold(view, ...rest);
      if (!Array.isArray(rows)) return rows;
      return rows.map((row) =>
        row.key === 'y' ? { ...row, json: `"${'x'.repeat(300_000)}"` } : row,
      );
    };
    await under.store(a('x'), add(1));
    await under.store(a('y'), add(1));
    await expect(toEnd(under.fold())).rejects.toMatchObject({ at: { entity: a('y'), seq: 1 } });
    expect(await under.row('x')).toEqual({ sum: 1, count: 1 });
  });
});

test('events of other components are not stored one by one, and are not all read again', async () => {
  const under = new FoldUnderTest();
  let puts = 0;
  const put = under.writer.put.bind(under.writer);
  under.writer.put = (changes, foldedTo) => {
    puts++;
    return put(changes, foldedTo);
  };
  const other = { component: 'other', id: 'x' };
  await under.store(other, ...Array.from({ length: 25_000 }, () => add(1)));
  const fold = under.fold();
  await toEnd(fold);
  expect(fold.position).toBe(under.journal.feed().end());
  expect(puts).toBe(2);
  expect(Number(under.writer.foldedTo?.position)).toBeGreaterThanOrEqual(20_000);
});

test('rows that are too large for one batch are folded in smaller pages', async () => {
  const under = new FoldUnderTest();
  const filler = 'x'.repeat(250_000);
  const fold = under.guest.fold.bind(under.guest);
  under.guest.fold = (view, ...rest) => {
    const rows = fold(view, ...rest);
    if (!Array.isArray(rows)) return rows;
    return rows.map(({ key, json }) => ({
      key,
      json: JSON.stringify({ ...parsed(json), filler }),
    }));
  };
  const puts: number[] = [];
  const put = under.writer.put.bind(under.writer);
  under.writer.put = (changes, foldedTo) => {
    puts.push(changes.length);
    return put(changes, foldedTo);
  };
  for (let n = 0; n < 100; n++) await under.store(a(`e${n}`), add(n));
  await toEnd(under.fold());
  expect(await under.row('e99')).toMatchObject({ sum: 99, count: 1 });
  expect(Math.max(...puts)).toBeLessThan(64);
});

test('the same rows come out, whatever the pages and the order between entities', async () => {
  const happened = fc.record({
    entity: fc.constantFrom('x', 'y', 'z'),
    what: fc.oneof(
      { weight: 8, arbitrary: fc.nat(9).map((by) => add(by)) },
      { weight: 1, arbitrary: fc.constant<Happened>({ type: 'remove', by: 0 }) },
      { weight: 2, arbitrary: fc.constant('deleted' as const) },
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(happened, { maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
      async (history, sizes) => {
        const paged = new FoldUnderTest();
        for (const { entity, what } of history) await paged.store(a(entity), what);
        let fold = paged.fold();
        for (let step = 0; await fold.step(sizes[step % sizes.length]!); step++)
          if (step % 3 === 2) fold = paged.fold();
        // The same history, one entity after the other, in one page.
        const whole = new FoldUnderTest();
        for (const id of ['z', 'x', 'y'])
          for (const { entity, what } of history) if (entity === id) await whole.store(a(id), what);
        await toEnd(whole.fold());
        for (const id of ['x', 'y', 'z']) expect(await paged.row(id)).toEqual(await whole.row(id));
      },
    ),
    { numRuns: 200 },
  );
});
