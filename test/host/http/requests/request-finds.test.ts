import { describe, expect, test } from 'vitest';
import type { Position } from '../../../../host/engine/needs/feed.ts';
import { type QueriedViews, RequestFinds } from '../../../../host/http/requests/request-finds.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';

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
