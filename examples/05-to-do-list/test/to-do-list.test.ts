// The list without a server: what each command makes happen.
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const list = () => testEntity(module, 'to-do-list', 'home');
const milk = { type: 'added', number: 1, title: 'Milk' };
const bread = { type: 'added', number: 2, title: 'Bread' };

describe('a to-do list', () => {
  test('begins empty, and numbers its items', () => {
    list()
      .query('items')
      .thenReply([])
      .when('add', { title: 'Milk' })
      .thenEvents([milk])
      .when('add', { title: 'Bread' })
      .thenEvents([bread])
      .thenReply({ number: 2, title: 'Bread', done: false });
  });

  test.for([
    ['nothing', { title: 'Milk', done: false }, []],
    ['another title', { title: 'Oat milk', done: false }, ['renamed']],
    ['done', { title: 'Milk', done: true }, ['completed']],
    ['both', { title: 'Oat milk', done: true }, ['renamed', 'completed']],
  ] as const)('changes an item by the events that it takes: %s', ([, change, types]) => {
    const events = {
      renamed: { type: 'renamed', number: 1, title: 'Oat milk' },
      completed: { type: 'completed', number: 1 },
    };
    list()
      .given([milk])
      .when('change', { number: 1, ...change })
      .thenEvents(types.map((type) => events[type]))
      .thenReply({ number: 1, ...change })
      .query('item', { number: 1 })
      .thenReply({ number: 1, ...change });
  });

  test('opens again what was done', () => {
    list()
      .given([milk, { type: 'completed', number: 1 }])
      .when('change', { number: 1, title: 'Milk', done: false })
      .thenEvents([{ type: 'reopened', number: 1 }])
      .thenReply({ number: 1, title: 'Milk', done: false });
  });

  test('removes an item and never uses its number again', () => {
    list()
      .given([milk, bread])
      .when('remove', { number: 2 })
      .thenEvents([{ type: 'removed', number: 2 }])
      .when('remove', { number: 2 })
      .thenRefused({ code: 'NOT_FOUND', message: 'the list has no item 2' })
      .when('add', { title: 'Salt' })
      .thenReply({ number: 3, title: 'Salt', done: false });
  });

  test('takes a title of 1 to 200 characters', () => {
    for (const title of ['', '  ', 'x'.repeat(201)])
      list()
        .when('add', { title })
        .thenRefused({ code: 'BAD_REQUEST', message: 'title: must have 1 to 200 characters' });
    list()
      .when('add', { title: 'x'.repeat(200) })
      .thenReply({
        number: 1,
        title: 'x'.repeat(200),
        done: false,
      });
  });

  test('has 100 items at most', () => {
    const items = Array.from({ length: 100 }, (_, at) => ({
      type: 'added',
      number: at + 1,
      title: 'One of many',
    }));
    list().given(items).when('add', { title: 'One too many' }).thenRefused('CONFLICT');
  });

  test('begins anew when it is deleted', () => {
    list()
      .given([milk, bread])
      .when('delete')
      .thenDeleted()
      .thenNoEvents()
      .query('items')
      .thenReply([])
      .when('add', { title: 'Milk' })
      .thenEvents([milk]);
  });
});
