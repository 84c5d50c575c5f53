// Queries of a view that is built anew, while the rows of a former definition are there.
import { describe, expect, test } from 'vitest';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import { SharedView } from '../../../host/views/shared-view.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import { ViewFinder } from '../../../host/views/view-finder.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { DESCRIPTOR, ENTITY, VIEW, all } from './support/orders-view.ts';

describe('a query of a view that is built anew', () => {
  const LATEST_MS = 1_700_000_000_000;

  /** A view of which another definition has two rows, and its own is being built. */
  async function rebuilding({ isSameType = true, waitMs = 20, view = VIEW } = {}) {
    const journal = new MemoryJournal();
    for (let seq = 1; seq <= 3; seq++) await append(journal, ENTITY, recordOf(seq));
    const store = new MemoryViews();
    const views = declaredViews({ ...DESCRIPTOR, views: [view] }, 'new');
    const { stored } = views[0]!.folded;
    const former = declaredViews(DESCRIPTOR, 'former')[0]!.folded.stored;
    const writer = store.openWriter(isSameType ? former : { ...former, rowType: 'another' });
    const rows = ['o0', 'o1'].map((key) => ({ key, json: '{"customer":"ada","total":1}' }));
    await writer.put(rows, { position: '2', mark: undefined, latestMs: LATEST_MS });
    while (!(await writer.prepareIndexes(100)));
    await writer.goLive();
    const own = store.openWriter(stored);
    const shared = new SharedView();
    const finder = new ViewFinder({
      descriptor: DESCRIPTOR,
      views,
      shared: { orders: shared.memory },
      store,
      positions: journal.feed(),
      waitMs,
    });
    shared.answerWith(store.former(stored)[0]?.definition ?? '');
    shared.become('building');
    return { finder, shared, own };
  }

  test('has the rows of the former definition, and says how old they are', async () => {
    const { finder } = await rebuilding({ waitMs: 60_000 });
    const first = await all(finder);
    expect(first).toMatchObject({ asOfMs: LATEST_MS, cursor: undefined, rows: { length: 2 } });
    const asked = { view: 'orders', query: 'of-customer', input: '{"customer":"ada","least":1}' };
    const page = await finder.find({ ...asked, limit: 1, cursor: undefined }, undefined);
    const { cursor } = page as { readonly cursor: string };
    expect(await finder.find({ ...asked, limit: 1, cursor }, undefined)).toMatchObject({
      asOfMs: LATEST_MS,
      rows: { length: 1 },
    });
    expect(await finder.find({ ...asked, limit: 0, cursor: undefined }, undefined)).toMatchObject({
      code: 'BAD_REQUEST',
    });
    finder.close();
  });

  test('has its own rows once they are live', async () => {
    const { finder, shared, own } = await rebuilding();
    expect(await all(finder)).toMatchObject({ asOfMs: LATEST_MS });
    await own.put([{ key: 'o5', json: '{"customer":"bob"}' }], { position: '3', mark: undefined });
    while (!(await own.prepareIndexes(100)));
    await own.goLive();
    shared.foldedTo('3');
    shared.become('live');
    shared.answerWith('');
    expect(await all(finder, '3')).toMatchObject({
      rows: ['{"customer":"bob"}'],
      asOfMs: undefined,
    });
    expect(await all(finder)).toMatchObject({ asOfMs: undefined });
  });

  test('that a request has asked for a position fails', async () => {
    const { finder } = await rebuilding();
    await expect(all(finder, '1')).rejects.toMatchObject({ code: 'SVC_VIEW_REBUILDING' });
  });

  test('waits a moment for what its handler has just stored, and then has the former rows', async () => {
    const { finder, shared } = await rebuilding();
    const query = { view: 'orders', query: 'all', input: '{}', limit: 100, cursor: undefined };
    expect(await finder.find(query, '3', false)).toMatchObject({ asOfMs: LATEST_MS });
    // No later event comes, and the former rows are better than none.
    shared.become('stopped');
    expect(await finder.find(query, '3', false)).toMatchObject({ asOfMs: LATEST_MS });
  });

  test.each([
    ['rows of another type', { isSameType: false }, () => {}],
    ['no former rows', {}, (shared: SharedView) => shared.answerWith('')],
    ['rows that are gone', {}, (shared: SharedView) => shared.answerWith('0'.repeat(64))],
  ])('fails where there are %s', async (_, options, change) => {
    const { finder, shared } = await rebuilding(options);
    change(shared);
    await expect(all(finder)).rejects.toMatchObject({ code: 'SVC_VIEW_REBUILDING' });
  });

  test('fails where the former rows lack the index', async () => {
    const byTotal = { name: 'by-total', where: 'order by total' };
    const changed = { ...VIEW, indexes: [['total']], queries: [...VIEW.queries.slice(1), byTotal] };
    const { finder } = await rebuilding({ view: changed });
    const query = { view: 'orders', query: 'by-total', input: '{}', limit: 1, cursor: undefined };
    await expect(finder.find(query, undefined)).rejects.toMatchObject({
      code: 'SVC_VIEW_REBUILDING',
    });
    expect(await all(finder)).toMatchObject({ asOfMs: LATEST_MS });
  });
});
