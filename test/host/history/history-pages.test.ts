// HistoryPages: the journal of an entity as steps with states and changes, page by page, also around damaged records.
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { GuestEntities } from '../../../model/guest.ts';
import { HistoryPages } from '../../../host/history/history-pages.ts';
import {
  type AdmittedModule,
  admitModule,
} from '../../../host/hosting/wasm/admission/admission.ts';
import { startWasmGuest } from '../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';
import { inspectJournal } from '../../../host/storage/journal-reading.ts';
import { append } from '../../suites/journal-suite.ts';
import { CART, CART_TIME_MS, cartEvent, fillCart } from '../../support/cart-journal.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { schemaProblems } from '../../support/observed-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const data = temporaryFolderOfFile();
let cart: AdmittedModule;
let faulty: AdmittedModule;
beforeAll(async () => {
  cart = admitModule(await compileFixture('shopping-cart'));
  faulty = admitModule(await compileFixture('faulty'));
  await fillCart(data);
});

const faultyEvent = (seq: number, of: object): JournalRecord => ({
  kind: 'event',
  seq,
  timeMs: CART_TIME_MS,
  event: { manifest: 'faulty-event', json: JSON.stringify(of) },
});
const cartOf = (id: string) => ({ ...CART, id });

/** Pages of the cart in the journal that all tests share, unless a test passes another journal. */
/** The time of a page does not depend on the load of the machine. */
const NO_TIME_LIMIT = Number.POSITIVE_INFINITY;

function pagesOf(
  dir = data,
  module: AdmittedModule = cart,
  entity: EntityRef = CART,
  limits = WASM_LIMITS_DEFAULT,
) {
  const inspection = inspectJournal(journalIn(dir));
  const guest = startWasmGuest(module, limits, () => {});
  const folded: string[] = [];
  const entities: GuestEntities = {
    ...guest.entities,
    open: (...args) => {
      folded.push('opened');
      return guest.entities.open(...args);
    },
  };
  const pages = new HistoryPages(inspection, entities, entity, NO_TIME_LIMIT);
  onTestFinished(() => {
    pages.close();
    void guest.close();
    inspection.close();
  });
  return { pages, folded, without: new HistoryPages(inspection, undefined, entity, NO_TIME_LIMIT) };
}

function damage(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
}

const timeAfter = (seconds: number) => new Date(CART_TIME_MS + seconds * 1000).toISOString();
const json = (value: unknown) => JSON.stringify(value);
const item = (sku: string, quantity: number) => ({ sku, quantity });
const state = (items: object[], checkedOut = false) => json({ items, checkedOut });
const added = (sku: string) => ({ type: 'item-added', sku, quantity: 1 });
const carts = (count: number, sku = 'a') =>
  Array.from({ length: count }, (_, index) => cartEvent(index + 1, index, added(sku)));

describe("an entity's journal", () => {
  test('is steps with states and changes, through all its lives', async () => {
    const { pages } = pagesOf();
    const page = await pages.page(1, 50);
    expect(schemaProblems('HistoryPage', page)).toEqual([]);
    expect(page).toMatchObject({ component: 'shopping-cart', id: 'c1', next: null, total: 6 });
    expect(
      page.steps.map(({ seq, kind, type, changes, state: after }) => [
        seq,
        kind,
        type,
        changes.map(({ path, before, after: now }) => [path, before, now]),
        after,
      ]),
    ).toEqual([
      [
        1,
        'event',
        'item-added',
        [['$.items[0]', null, json(item('apple', 1))]],
        state([item('apple', 1)]),
      ],
      [2, 'event', 'item-added', [['$.items[0].quantity', '1', '3']], state([item('apple', 3)])],
      [3, 'event', 'removed', [], state([item('apple', 3)])],
      [4, 'deleted', null, [], state([])],
      [
        5,
        'event',
        'item-added',
        [['$.items[0]', null, json(item('pear', 5))]],
        state([item('pear', 5)]),
      ],
      [
        6,
        'event',
        'checked-out',
        [['$.checkedOut', 'false', 'true']],
        state([item('pear', 5)], true),
      ],
    ]);
    expect(page.steps[0]).toMatchObject({
      time: timeAfter(0),
      manifest: 'cart-event',
      event: json({ type: 'item-added', sku: 'apple', quantity: 1 }),
      traceId: null,
      key: null,
      by: null,
      problem: null,
    });
  });

  test('says who has sent the command of a record, where the text of the journal is an author', async () => {
    const dir = temporaryFolder();
    const by = ['["https://login.example.com","ada"]', '["ada"]', undefined];
    await withJournal(dir, async (journal) => {
      for (const [index, author] of by.entries()) {
        const record = cartEvent(index + 1, 0, { type: 'removed' });
        await append(journal, CART, author === undefined ? record : { ...record, by: author });
      }
    });
    const page = await pagesOf(dir).pages.page(1, 50);
    expect(schemaProblems('HistoryPage', page)).toEqual([]);
    expect(page.steps.map((step) => step.by)).toEqual([
      { issuer: 'https://login.example.com', subject: 'ada' },
      null,
      null,
    ]);
  });

  test('is the same page by page, forwards and backwards', async () => {
    const { steps: all } = await pagesOf().pages.page(1, 50);
    const { pages } = pagesOf();
    for (const from of [1, 4, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1, 3, 1, 5, 1, 4, 1]) {
      const { steps, next, total } = await pages.page(from, 2);
      expect(steps).toEqual(all.slice(from - 1, from + 1));
      expect([next, total]).toEqual([from < 5 ? from + 2 : null, 6]);
    }
  });

  test('has nothing behind its end, and names what is not there', async () => {
    expect(await pagesOf().pages.page(7, 5)).toMatchObject({ steps: [], next: null, total: 6 });
    const nobody = pagesOf(data, cart, { ...CART, id: 'nobody' });
    await expect(nobody.pages.page(1, 5)).rejects.toMatchObject({
      code: 'SVC_NOT_IN_JOURNAL',
      message: expect.stringContaining("'nobody'"),
    });
  });

  test('continues with records that are appended meanwhile, and folds nothing again', async () => {
    const dir = temporaryFolder();
    await fillCart(dir, carts(3));
    const { pages, folded } = pagesOf(dir);
    await pages.page(1, 50);
    await fillCart(dir, [cartEvent(4, 4, added('b'))]);
    const { steps, total } = await pages.page(4, 50);
    expect([steps.map(({ seq }) => seq), total]).toEqual([[4], 4]);
    expect(steps[0]?.state).toBe(state([item('a', 3), item('b', 1)]));
    expect(folded.length).toBe(1);
  });

  test('is not folded again for who looks at its end, and at its beginning, again and again', async () => {
    const dir = temporaryFolder();
    await fillCart(dir, carts(300));
    const { pages, folded } = pagesOf(dir);
    const end = await pages.page(251, 50);
    await pages.page(1, 1);
    for (let round = 0; round < 3; round++) {
      expect(await pages.page(251, 50)).toEqual(end);
      expect((await pages.page(276, 10)).steps).toEqual(end.steps.slice(25, 35));
      expect((await pages.page(1, 1)).steps.length).toBe(1);
    }
    expect(folded.length).toBe(2);
    await fillCart(dir, [cartEvent(301, 0, added('b'))]);
    const { steps, total } = await pages.page(251, 100);
    expect([steps.slice(0, 50), steps[50]?.seq, total]).toEqual([end.steps, 301, 301]);
    expect(folded.length).toBe(2);
  });

  test('is counted, however many records it has', async () => {
    const dir = temporaryFolder();
    const counts = [1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100];
    await withJournal(dir, async (journal) => {
      for (const count of counts)
        expect(await append(journal, cartOf(`c${count}`), ...carts(count))).toBeUndefined();
    });
    const inspection = inspectJournal(journalIn(dir));
    onTestFinished(() => inspection.close());
    for (const count of counts) {
      const { total } = await new HistoryPages(inspection, undefined, cartOf(`c${count}`)).page(
        1,
        1,
      );
      expect(total).toBe(count);
    }
  });

  test('of 100,000 events is paged', async () => {
    const dir = temporaryFolder();
    const records = carts(100_000);
    await withJournal(dir, async (journal) => {
      for (let at = 0; at < records.length; at += 1_000)
        expect(await append(journal, CART, ...records.slice(at, at + 1_000))).toBeUndefined();
    });
    const { pages, folded } = pagesOf(dir);
    const { steps, next, total } = await pages.page(99_951, 25);
    expect([steps.length, next, total]).toEqual([25, 99_976, 100_000]);
    expect(steps[0]?.state).toBe(state([item('a', 99_951)]));
    expect((await pages.page(99_976, 25)).steps.at(-1)?.state).toBe(state([item('a', 100_000)]));
    expect(folded.length).toBe(1);
  });
});

describe('a record that is damaged', () => {
  test('is a step that says so; events after it are shown, and states again from the next life on', async () => {
    const dir = temporaryFolder();
    await fillCart(dir);
    damage(dir, `UPDATE journal SET json = '{}' WHERE seq = 2`);
    const { pages } = pagesOf(dir);
    const page = await pages.page(1, 50);
    expect(schemaProblems('HistoryPage', page)).toEqual([]);
    const problem = expect.stringMatching(/^Record 2 is damaged: /);
    expect(page.steps).toMatchObject([
      { seq: 1, kind: 'event', problem: null },
      { seq: 2, kind: 'damaged', event: null, state: null, changes: [], problem },
      { seq: 3, kind: 'event', type: 'removed', state: null, changes: [], problem },
      { seq: 4, kind: 'deleted', state: state([]), problem: null },
      { seq: 5, kind: 'event', state: state([item('pear', 5)]), problem: null },
      { seq: 6, kind: 'event', problem: null },
    ]);
    // A page that begins after the record says so too.
    expect((await pages.page(3, 1)).steps).toMatchObject([{ seq: 3, state: null, problem }]);
  });

  test('and one that is missing, too', async () => {
    const dir = temporaryFolder();
    await fillCart(dir, carts(5));
    damage(dir, 'DELETE FROM journal WHERE seq IN (2, 3)');
    const page = await pagesOf(dir).pages.page(1, 50);
    expect(page).toMatchObject({ total: 5, next: null });
    expect(page.steps.map(({ seq, kind, problem }) => [seq, kind, problem])).toEqual([
      [1, 'event', null],
      [2, 'damaged', 'Record 2 is damaged: records 2 to 3 are missing.'],
      [4, 'event', 'Record 2 is damaged: records 2 to 3 are missing.'],
      [5, 'event', 'Record 2 is damaged: records 2 to 3 are missing.'],
    ]);
  });
});

describe('an event that the module cannot fold', () => {
  const dir = temporaryFolderOfFile();
  const counted = { type: 'counted', by: 1 };
  const cases = [
    ['traps at it', { type: 'poison' }, /record 2: .*poisoned/],
    ['never ends at it', { type: 'endless' }, /record 2: .*fuel/],
    ['cannot read it', { type: 'counted', by: 'one' }, /record 2: .*by/],
  ] as const;
  beforeAll(async () =>
    withJournal(dir, async (journal) => {
      for (const [id, bad] of cases) {
        const records = [faultyEvent(1, counted), faultyEvent(2, bad), faultyEvent(3, counted)];
        const failure = await append(journal, { component: 'faulty', id }, ...records);
        if (failure !== undefined) throw failure;
      }
    }),
  );

  test.each(cases)('because it %s is named, with the reason', async (id, _bad, reason) => {
    const { pages } = pagesOf(dir, faulty, { component: 'faulty', id });
    const lost = { state: null, changes: [], problem: expect.stringMatching(reason) };
    expect((await pages.page(1, 50)).steps).toMatchObject([
      { seq: 1, state: '{"count":1}', problem: null },
      { seq: 2, ...lost },
      { seq: 3, ...lost },
    ]);
    // A page that begins after the record says so too.
    expect((await pages.page(3, 50)).steps).toMatchObject([{ seq: 3, ...lost }]);
  });

  test('because it has no such component is shown without a state', async () => {
    const { without } = pagesOf();
    const { steps } = await without.page(1, 2);
    expect(steps).toMatchObject([
      { seq: 1, type: 'item-added', state: null, problem: expect.stringContaining('no such') },
      { seq: 2, type: 'item-added', state: null },
    ]);
  });
});

describe('a state that is large', () => {
  const dir = temporaryFolderOfFile();
  const long = 'x'.repeat(200_000);
  beforeAll(async () =>
    fillCart(
      dir,
      Array.from({ length: 50 }, (_, index) => cartEvent(index + 1, 0, added(`${long}${index}`))),
    ),
  );

  test('is left out of its step, its changes are listed up to a bound, and pages are shorter', async () => {
    const { pages } = pagesOf(dir);
    const first = await pages.page(1, 20);
    expect(first.steps.slice(0, 3)).toMatchObject([
      { stateCut: false, changes: [{ path: '$.items[0]' }], moreChanges: 0 },
      { state: null, stateCut: true, problem: null, changes: [{ path: '$.items[1]' }] },
      { state: null, stateCut: true, changes: [{ path: '$.items[2]' }] },
    ]);
    const seen: number[] = [];
    for (let page = first; ; page = await pages.page(page.next, 20)) {
      expect(page.steps.length).toBeGreaterThan(0);
      expect(page.steps.length).toBeLessThan(20);
      seen.push(...page.steps.map(({ seq }) => seq));
      if (page.next === null || page.next > 20) break;
    }
    expect(seen).toEqual(Array.from(seen, (_, index) => index + 1));
  });

  test('of megabytes is not gone through for what has changed', async () => {
    const { steps } = await pagesOf(dir).pages.page(15, 1);
    expect(steps).toMatchObject([
      { seq: 15, problem: null, state: null, stateCut: true, changes: [], moreChanges: 1 },
    ]);
  });

  test('that the module cannot write is not known, and the step says why', async () => {
    const { steps } = await pagesOf(dir).pages.page(50, 1);
    expect(steps).toMatchObject([
      { seq: 50, state: null, stateCut: false, problem: expect.stringContaining('memory') },
    ]);
  });
});

test('a time that is out of range is left out', async () => {
  const dir = temporaryFolder();
  await fillCart(dir, carts(1));
  damage(dir, `UPDATE journal SET time_ms = 9007199254740991`);
  const page = await pagesOf(dir).pages.page(1, 1);
  expect(schemaProblems('HistoryPage', page)).toEqual([]);
  expect(page.steps).toMatchObject([{ seq: 1, time: null }]);
});
