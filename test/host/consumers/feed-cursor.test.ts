// FeedCursor on a feed that answers later.
import { expect, test, vi } from 'vitest';
import { FeedCursor } from '../../../host/consumers/feed-cursor.ts';
import type { FeedPage, Position } from '../../../host/engine/needs/feed.ts';

const PAUSE_MS = 100;

function cursor() {
  const reads: { readonly after: Position; readonly page: PromiseWithResolvers<FeedPage> }[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const onPage = vi.fn<(page: FeedPage) => void>();
  const onFailure = vi.fn<(error: unknown) => void>();
  const onChange = vi.fn<() => void>();
  const passed = vi.fn<() => void>();
  const one = new FeedCursor({
    feed: {
      start: '0',
      read(after) {
        const page = Promise.withResolvers<FeedPage>();
        reads.push({ after, page });
        return page.promise;
      },
      async advancedPast() {
        const end = Promise.withResolvers<void>();
        ends.push(end);
        await end.promise;
      },
    },
    components: new Set(['cart']),
    pauseMs: PAUSE_MS,
    monotonicMs: () => 7,
    onPage,
    onFailure,
    onChange,
  });
  return { one, reads, ends, onPage, onFailure, onChange, passed };
}

const pageTo = (position: Position): FeedPage => ({ records: [], position });

test('one page is read at a time, each after the one before', async () => {
  const { one, reads, onPage, onChange, passed } = cursor();
  one.begin('3');
  expect(one.canRead(7)).toBe(true);
  one.read(10, passed);
  expect(one.canRead(7)).toBe(false);
  reads[0]!.page.resolve(pageTo('5'));
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledOnce());
  expect(onPage).toHaveBeenCalledExactlyOnceWith(pageTo('5'));
  expect(one.canRead(7)).toBe(true);
  one.read(10, passed);
  expect(reads.map(({ after }) => after)).toEqual(['3', '5']);
  expect(passed).not.toHaveBeenCalled();
});

test('an empty page is the end until more is stored', async () => {
  const { one, reads, ends, onPage, onChange, passed } = cursor();
  one.read(10, passed);
  reads[0]!.page.resolve(pageTo('0'));
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledOnce());
  expect([one.isAtEnd, onPage.mock.calls, passed.mock.calls]).toEqual([true, [], [[]]]);
  ends[0]!.resolve();
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(2));
  expect(one.isAtEnd).toBe(false);
});

test('a page with records ends the end, whenever the feed reports them', async () => {
  const { one, reads, ends, onChange, passed } = cursor();
  for (const [index, position] of ['0', '5', '5'].entries()) {
    one.read(10, passed);
    reads[index]!.page.resolve(pageTo(position));
    // oxlint-disable-next-line no-await-in-loop -- a page follows the other
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(index + 1));
    expect(one.isAtEnd).toBe(index !== 1);
  }
  // What is reported late is before the page.
  ends[0]!.resolve();
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(4));
  expect([one.isAtEnd, ends.length]).toEqual([true, 2]);
});

test('a failure is reported, and the feed is read again after a pause', async () => {
  const { one, reads, onFailure, onChange, passed } = cursor();
  one.read(10, passed);
  const failure = new Error('The database is away.');
  reads[0]!.page.reject(failure);
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledOnce());
  expect(onFailure).toHaveBeenCalledExactlyOnceWith(failure);
  expect([one.canRead(7 + PAUSE_MS - 1), one.canRead(7 + PAUSE_MS)]).toEqual([false, true]);
});

test.each(['page', 'failure'])('a %s that comes after the end goes to nobody', async (what) => {
  const { one, reads, onPage, onFailure, onChange, passed } = cursor();
  one.read(10, passed);
  one.close();
  if (what === 'page') reads[0]!.page.resolve(pageTo('5'));
  else reads[0]!.page.reject(new Error('The feed is closed.'));
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledOnce());
  expect([onPage.mock.calls, onFailure.mock.calls]).toEqual([[], []]);
});
