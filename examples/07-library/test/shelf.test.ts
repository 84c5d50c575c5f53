// A shelf without a server: what is found on it, and which version of a label stays.
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { DESCRIPTIONS, DUNE, EMMA } from './support/samples.ts';

const module = await testModule('assembly/index.ts');
const dune = { isbn: DUNE, description: DESCRIPTIONS[DUNE], version: 0 };
const emma = { isbn: EMMA, description: DESCRIPTIONS[EMMA], version: 0 };
const shelf = () => testEntity(module, 'shelf', 'novels');
const novels = () =>
  shelf().given([
    { type: 'shelved', entry: dune },
    { type: 'shelved', entry: emma },
  ]);
const label = (version: number, name: string) => ({
  ...dune,
  description: { ...dune.description, name },
  version,
});

describe('a shelf', () => {
  test('has a title once, also when it is put there again with other words', () => {
    shelf()
      .when('shelve', dune)
      .thenEvents([{ type: 'shelved', entry: dune }])
      .when('shelve', { ...dune, description: DESCRIPTIONS[EMMA] })
      .thenNoEvents()
      .query('search', {})
      .thenReply({ items: [dune], total: 1 });
  });

  test.for([
    ['9780441013594', 'a wrong check digit'],
    ['978044101359', 'twelve digits'],
    ['978-0441013593', 'a hyphen'],
    ['', 'nothing'],
  ])('refuses the ISBN %s: it has %s', ([isbn]) => {
    shelf()
      .when('shelve', { ...dune, isbn })
      .thenRefused({
        code: 'BAD_REQUEST',
        message: 'isbn: must be 13 digits with a right last one',
      });
  });

  test('has 500 titles at most', () => {
    const titles = Array.from({ length: 500 }, (_, at) => ({
      type: 'shelved',
      entry: { ...emma, isbn: `${at}` },
    }));
    shelf().given(titles).when('shelve', dune).thenRefused('CONFLICT');
  });

  test('takes the newest label, in whatever order the labels come', () => {
    novels()
      .when('relabel', label(2, 'Dune II'))
      .thenEvents([{ type: 'relabelled', entry: label(2, 'Dune II') }])
      .when('relabel', label(1, 'Dune I'))
      .thenNoEvents()
      .query('search', { text: 'dune' })
      .thenReply({ items: [label(2, 'Dune II')], total: 1 });
  });

  test('gives a title away once', () => {
    novels()
      .when('unshelve', { isbn: DUNE })
      .thenEvents([{ type: 'unshelved', isbn: DUNE }])
      .when('unshelve', { isbn: DUNE })
      .thenNoEvents();
  });
});

describe('a search', () => {
  const unknown = { ...emma, isbn: '1', description: { ...emma.description, published: null } };
  test.for([
    [{}, [DUNE, EMMA, '1']],
    [{ text: 'AUSTEN' }, [EMMA, '1']],
    [{ text: 'dune' }, [DUNE]],
    [{ genres: ['Crime'] }, []],
    [{ genres: ['Crime', 'Fiction'], text: 'dune' }, [DUNE]],
    [{ since: '1900-01-01T00:00:00Z' }, [DUNE]],
    [{ before: '1900-01-01T00:00:00Z' }, [EMMA]],
    [{ since: DESCRIPTIONS[DUNE].published }, [DUNE]],
    [{ before: DESCRIPTIONS[DUNE].published }, [EMMA]],
  ] as [object, string[]][])('for %j finds %j', ([search, isbns]) => {
    const found = novels()
      .given([{ type: 'shelved', entry: unknown }])
      .query('search', search)
      .reply<{ items: { isbn: string }[]; total: number }>();
    expect(found.items.map(({ isbn }) => isbn)).toEqual(isbns);
    expect(found.total).toBe(isbns.length);
  });

  test('shows one page, of a hundred at most, and how many there are', () => {
    const titles = Array.from({ length: 120 }, (_, at) => ({
      type: 'shelved',
      entry: { ...emma, isbn: `${at}` },
    }));
    const page = (search: object) =>
      shelf().given(titles).query('search', search).reply<{ items: { isbn: string }[] }>().items;
    expect(page({})).toHaveLength(20);
    expect(page({ limit: 1000 })).toHaveLength(100);
    expect(page({ offset: 115 }).map(({ isbn }) => isbn)).toEqual([
      '115',
      '116',
      '117',
      '118',
      '119',
    ]);
    expect(page({ offset: 4_294_967_295, limit: 4_294_967_295 })).toEqual([]);
  });
});
