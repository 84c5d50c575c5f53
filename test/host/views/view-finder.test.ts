import type { ViewDescriptor } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import type { RowChange } from '../../../host/engine/needs/views.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import { SharedView } from '../../../host/views/shared-view.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import { ViewFinder } from '../../../host/views/view-finder.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { DESCRIPTOR, ENTITY, VIEW, all, text } from './support/orders-view.ts';

/** A finder over rows of customer `ada` with the totals 1 to 5. */
/** When the latest event of the rows was recorded. */
const LATEST_MS = 1_700_000_000_000;

async function finderOf({ waitMs = 20, rows = 5, isLive = true } = {}) {
  const journal = new MemoryJournal();
  await append(journal, ENTITY, recordOf(1));
  const store = new MemoryViews();
  const views = declaredViews(DESCRIPTOR, 'fingerprint');
  const writer = store.openWriter(views[0]!.folded.stored);
  const changes = Array.from({ length: rows }, (_, at): RowChange => ({
    key: `o${at}`,
    json: JSON.stringify({ customer: 'ada', total: at + 1 }),
  }));
  await writer.put(changes, { position: '1', mark: undefined, latestMs: LATEST_MS });
  while (!(await writer.prepareIndexes(100)));
  if (isLive) await writer.goLive();
  const shared = new SharedView();
  shared.foldedTo('1');
  shared.become(isLive ? 'live' : 'building');
  const finder = new ViewFinder({
    descriptor: DESCRIPTOR,
    views,
    shared: { orders: shared.memory },
    store,
    positions: journal.feed(),
    waitMs,
  });
  return { finder, shared, journal, writer };
}

const PARAMETERS = '{"customer":"ada","least":2}';

describe('a query', () => {
  test('has the rows in order, page by page', async () => {
    const { finder } = await finderOf();
    const first = await finder.find(
      { view: 'orders', query: 'of-customer', input: PARAMETERS, limit: 3, cursor: undefined },
      undefined,
    );
    expect(first).toEqual({
      rows: [5, 4, 3].map((total) => JSON.stringify({ customer: 'ada', total })),
      cursor: expect.any(String),
      asOfMs: undefined,
    });
    const { cursor } = first as { readonly cursor: string };
    expect(
      await finder.find(
        { view: 'orders', query: 'of-customer', input: PARAMETERS, limit: 3, cursor: cursor },
        undefined,
      ),
    ).toMatchObject({ rows: ['{"customer":"ada","total":2}'], cursor: undefined });
    const buyer = '{"buyer":"ada","least":"5","more":[]}';
    expect(
      await finder.find(
        { view: 'orders', query: 'of-customer', input: buyer, limit: 3, cursor: undefined },
        undefined,
      ),
    ).toMatchObject({ rows: ['{"customer":"ada","total":5}'] });
    for (const none of ['null', '{}', '{"more":1}'])
      expect(
        await finder.find(
          { view: 'orders', query: 'all', input: none, limit: 9, cursor: undefined },
          undefined,
        ),
      ).toMatchObject({
        rows: { length: 5 },
      });
  });

  test.each([
    ['orderz', 'all', '{}', 1, undefined, 'NOT_FOUND', "no view 'orderz'"],
    ['__proto__', 'all', '{}', 1, undefined, 'NOT_FOUND', 'no view'],
    ['"\'; drop', 'all', '{}', 1, undefined, 'NOT_FOUND', 'no view'],
    ['orders', 'none', '{}', 1, undefined, 'NOT_FOUND', "no query 'none'"],
    ['orders', 'constructor', '{}', 1, undefined, 'NOT_FOUND', 'no query'],
    ['orders', 'all', '{', 1, undefined, 'BAD_REQUEST', 'not JSON'],
    ['orders', 'all', '', 1, undefined, 'BAD_REQUEST', 'not JSON'],
    ['orders', 'all', '[1]', 1, undefined, 'BAD_REQUEST', 'no parameters'],
    ['orders', 'all', ' '.repeat(70_000), 1, undefined, 'BAD_REQUEST', 'more than 65536'],
    ['orders', 'of-customer', 'null', 1, undefined, 'BAD_REQUEST', 'it is not a record'],
    ['orders', 'of-customer', '{}', 1, undefined, 'BAD_REQUEST', "it has no 'customer'"],
    [
      'orders',
      'of-customer',
      '{"customer":1,"least":1}',
      1,
      undefined,
      'BAD_REQUEST',
      '/customer is not a text',
    ],
    [
      'orders',
      'of-customer',
      '{"customer":"ada","least":"x"}',
      1,
      undefined,
      'BAD_REQUEST',
      '/least is not an int64',
    ],
    ['orders', 'all', '{}', 0, undefined, 'BAD_REQUEST', 'limit'],
    ['orders', 'all', '{}', 1_001, undefined, 'BAD_REQUEST', 'limit'],
    ['orders', 'all', '{}', Number.NaN, undefined, 'BAD_REQUEST', 'limit'],
    ['orders', 'all', '{}', 1, 'forged', 'BAD_REQUEST', 'cursor'],
    ['orders', 'all', '{}', 1, '', 'BAD_REQUEST', 'cursor'],
  ] as const)(
    '%s %s %s %s %s is refused with what is wrong',
    async (view, query, input, limit, cursor, code, message) => {
      const { finder } = await finderOf();
      expect(await finder.find({ view, query, input, limit, cursor }, undefined)).toEqual({
        kind: 'refusal',
        code,
        message: expect.stringContaining(message),
      });
    },
  );

  test('for a key has its row, and one for a number counts the rows', async () => {
    const { finder } = await finderOf();
    const ask = (query: string, input: string, cursor?: string) =>
      finder.find({ view: 'orders', query, input, limit: 1, cursor }, undefined);
    expect(await ask('by key', '{"key":"o2"}')).toEqual({
      rows: ['{"customer":"ada","total":3}'],
      cursor: undefined,
      asOfMs: undefined,
    });
    expect(await ask('by key', '{"key":"none"}')).toMatchObject({ rows: [] });
    expect(await ask('count of-customer', PARAMETERS)).toEqual({
      rows: ['{"count":4,"hasMore":false}'],
      cursor: undefined,
      asOfMs: undefined,
    });
    expect(await ask('count all', '{}')).toMatchObject({ rows: ['{"count":5,"hasMore":false}'] });
    for (const [query, input, message] of [
      ['by key', '{}', "it has no 'key'"],
      ['by key', '{"key":7}', '/key is not a text'],
      ['by key', `{"key":"${'x'.repeat(2_000)}"}`, 'at most 1024 bytes'],
      ['count all', '{', 'not JSON'],
    ] as const)
      expect(await ask(query, input)).toMatchObject({
        code: 'BAD_REQUEST',
        message: expect.stringContaining(message),
      });
    for (const query of ['count none', 'count ', 'count by key', 'count count all', 'by  key'])
      expect(await ask(query, '{"key":"o2"}')).toMatchObject({ code: 'NOT_FOUND' });
    for (const query of ['by key', 'count all'])
      expect(await ask(query, '{"key":"o2"}', 'c')).toMatchObject({ code: 'BAD_REQUEST' });
  });

  test('takes no cursor of another query', async () => {
    const { finder } = await finderOf();
    const page = await finder.find(
      { view: 'orders', query: 'of-customer', input: PARAMETERS, limit: 1, cursor: undefined },
      undefined,
    );
    const { cursor } = page as { readonly cursor: string };
    expect(
      await finder.find(
        { view: 'orders', query: 'all', input: '{}', limit: 1, cursor: cursor },
        undefined,
      ),
    ).toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('another query'),
    });
  });
});

describe('a query of a view', () => {
  test('that is behind has the events folded at once, and waits until it has what is asked for', async () => {
    const { finder, shared } = await finderOf({ waitMs: 60_000 });
    let isFound = false;
    const found = all(finder, '2').then(() => (isFound = true));
    await shared.hurried(new AbortController().signal);
    expect(isFound).toBe(false);
    shared.foldedTo('2');
    expect(await found).toBe(true);
  });

  test('that stays behind fails, and others are answered', async () => {
    const { finder } = await finderOf();
    await expect(all(finder, '2')).rejects.toMatchObject({
      code: 'SVC_VIEW_BEHIND',
      message: expect.stringContaining('within 20 ms'),
    });
    expect(await all(finder, '1')).toMatchObject({ rows: { length: 5 } });
    expect(await all(finder)).toMatchObject({ rows: { length: 5 } });
  });

  test('that has stopped fails at once, also while it waits', async () => {
    const { finder, shared } = await finderOf({ waitMs: 60_000 });
    const waiting = all(finder, '2');
    shared.become('stopped');
    await expect(waiting).rejects.toMatchObject({ code: 'SVC_VIEW_STOPPED' });
    await expect(all(finder, '2')).rejects.toMatchObject({ code: 'SVC_VIEW_STOPPED' });
    expect(await all(finder, '1')).toMatchObject({ rows: { length: 5 } });
  });

  test('that has stopped says up to when its rows have events', async () => {
    const { finder, shared } = await finderOf();
    expect(await all(finder)).toMatchObject({ rows: { length: 5 }, asOfMs: undefined });
    shared.become('stopped');
    expect(await all(finder)).toMatchObject({ rows: { length: 5 }, asOfMs: LATEST_MS });
    expect(await all(finder, '1')).toMatchObject({ asOfMs: LATEST_MS });
    shared.become('live');
    expect(await all(finder)).toMatchObject({ asOfMs: undefined });
  });

  test('that has stopped before it was built fails with that', async () => {
    const { finder, shared } = await finderOf({ isLive: false });
    shared.become('stopped');
    await expect(all(finder)).rejects.toMatchObject({ code: 'SVC_VIEW_STOPPED' });
  });

  test('that is nearly built waits for it', async () => {
    const { finder, shared, writer } = await finderOf({ waitMs: 60_000, isLive: false });
    const found = all(finder);
    await writer.goLive();
    shared.become('live');
    expect(await found).toMatchObject({ rows: { length: 5 } });
  });

  test('that is being built fails, with the progress', async () => {
    const { finder, shared, journal } = await finderOf({ waitMs: 60_000, isLive: false });
    const records = Array.from({ length: 39_999 }, (_, at) => recordOf(at + 2));
    await append(journal, ENTITY, ...records);
    shared.foldedTo('10000');
    await expect(all(finder)).rejects.toMatchObject({
      code: 'SVC_VIEW_REBUILDING',
      message: expect.stringContaining('25 % of the events'),
      retryAfterMs: 2_000,
    });
  });
});

describe('where nobody can wait, a query', () => {
  const query = { view: 'orders', query: 'all', input: '{}', limit: 9, cursor: undefined };

  test('is answered as it is elsewhere, if the rows are there', async () => {
    const { finder } = await finderOf();
    for (const asked of [
      query,
      { ...query, query: 'of-customer', input: PARAMETERS, limit: 2 },
      { ...query, query: 'by key', input: '{"key":"o2"}' },
      { ...query, query: 'by key', input: '{"key":"none"}' },
      { ...query, query: 'count all' },
    ])
      for (const after of [undefined, '1']) {
        const page = finder.findAtOnce(asked, after);
        expect(page).toHaveProperty('rows');
        expect(page).toEqual(await finder.find(asked, after));
      }
  });

  test('that is wrong is refused with what is wrong', async () => {
    const { finder } = await finderOf();
    for (const wrong of [
      { ...query, view: 'none' },
      { ...query, query: 'none' },
      { ...query, input: '[1]' },
      { ...query, limit: 1_001 },
      { ...query, cursor: 'forged' },
      { ...query, query: 'count all', cursor: 'c' },
    ]) {
      const refused = finder.findAtOnce(wrong, undefined);
      expect(refused).toMatchObject({ kind: 'refusal' });
      expect(refused).toEqual(await finder.find(wrong, undefined));
    }
  });

  test('is not answered while its view is behind, and is once it has caught up', async () => {
    const { finder, shared } = await finderOf();
    expect(finder.findAtOnce(query, '2')).toBeUndefined();
    expect([finder.haveReached('1'), finder.haveReached('2')]).toEqual([true, false]);
    shared.foldedTo('2');
    expect(finder.findAtOnce(query, '2')).toMatchObject({ rows: { length: 5 } });
    expect(finder.haveReached('2')).toBe(true);
  });

  test('is not answered by a view that does not follow the journal', async () => {
    const { finder, shared } = await finderOf();
    for (const state of ['starting', 'building', 'stopped'] as const) {
      shared.become(state);
      expect(finder.findAtOnce(query, undefined)).toBeUndefined();
      // Such a view fails, or says up to when its rows have events: waiting for it changes nothing.
      expect(finder.haveReached('2')).toBe(true);
    }
  });

  test('is not answered if the rows cannot be read', async () => {
    const { finder, shared } = await finderOf({ isLive: false });
    shared.become('live');
    expect(finder.findAtOnce(query, undefined)).toBeUndefined();
  });
});

test('commands are told from queries', async () => {
  const { finder } = await finderOf();
  expect(finder.isCommand('order', 'place')).toBe(true);
  for (const [component, name] of [
    ['order', 'get'],
    ['order', 'none'],
    ['none', 'place'],
    ['__proto__', 'place'],
  ] as const)
    expect(finder.isCommand(component, name)).toBe(false);
});

const rowTypes = (deep: object) => ({
  Row: { type: 'object', properties: { a: { $ref: '#/types/Inner' } }, required: [] },
  Inner: { type: 'array', items: { $ref: '#/types/Deep' } },
  Deep: deep,
});

const definitionOf = (view: Partial<ViewDescriptor>, fingerprint = 'f', types = {}) =>
  declaredViews({ views: [{ ...VIEW, ...view }], types }, fingerprint)[0]!.folded.stored.definition;
const row = (customer: object) => ({ ...VIEW.row, properties: { customer } }) as typeof VIEW.row;

describe('the definition of a view', () => {
  const base = definitionOf({});

  test('is a hash', () => {
    expect(base).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ['indexes', definitionOf({ indexes: [...VIEW.indexes, ['total']] }), base],
    ['queries', definitionOf({ queries: [] }), base],
    [
      'the module, if a version is declared',
      definitionOf({ definition: '1' }, 'g'),
      definitionOf({ definition: '1' }),
    ],
    [
      'the order of sources',
      definitionOf({ sources: ['a', 'b'] }),
      definitionOf({ sources: ['b', 'a'] }),
    ],
    [
      'descriptions of types',
      definitionOf({ indexes: [], queries: [], row: row({ ...text, description: 'name' }) }),
      definitionOf({ indexes: [], queries: [], row: row(text) }),
    ],
    [
      'types that the row does not reach',
      definitionOf({}, 'f', { Other: text }),
      definitionOf({}, 'f', {}),
    ],
  ])('does not change with %s', (_name, one, other) => {
    expect(one).toBe(other);
  });

  test('changes with all that the rows depend on', () => {
    const reference = { row: { $ref: '#/types/Row' } as const, indexes: [], queries: [] };
    const definitions = [
      base,
      definitionOf({ id: 'other' }),
      definitionOf({ sources: ['order', 'payment'] }),
      definitionOf({ computesKeys: true }),
      definitionOf({ definition: '1' }),
      definitionOf({ definition: 'f' }),
      definitionOf({}, 'g'),
      definitionOf({ indexes: [], queries: [], row: row(text) }),
      definitionOf(reference, 'f', rowTypes(text)),
      definitionOf(reference, 'f', rowTypes({ type: 'boolean' })),
    ];
    expect(new Set(definitions).size).toBe(definitions.length);
  });
});
