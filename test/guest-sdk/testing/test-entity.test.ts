// The expectations of a test of an entity, when they are met.
import { describe, expect, test } from 'vitest';
import { TIME_DEFAULT, testEntity, testModule } from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';

const module = await testModule(await compileFixture('impure'));
const shelf = () => testEntity(module, 'shelf', 's1');
const shelved = (title: string, copies = 1) => ({ type: 'shelved', title, copies });

const ambient = (it: ReturnType<typeof shelf>) =>
  it.query('ambient').reply<{ dateMs: number; random: number; trace: string }>();

describe('an entity', () => {
  test('decides on what was given, and folds what it persists', () => {
    const it = shelf()
      .given([shelved('A'), JSON.stringify(shelved('B', 2))])
      .when('put', { title: 'C', copies: 3 })
      .thenEvents([shelved('C', 3)])
      .thenReply(3);
    expect(it.events).toEqual([shelved('C', 3)]);
    expect(it.reply<number>()).toBe(3);
    expect(it.state()).toEqual({
      books: [
        { title: 'A', copies: 1 },
        { title: 'B', copies: 2 },
        { title: 'C', copies: 3 },
      ],
      readers: {},
      number: 0,
    });
    it.when('put', { title: 'D', copies: 1 }).thenRefused('CONFLICT').thenNoEvents();
    expect(it.events).toEqual([]);
  });

  test('begins empty in each test, also under the same id', () => {
    shelf().query('get').thenReply({ books: [], readers: {}, number: 0 });
  });

  test('takes expected events as JSON text, and matchers in their place', () => {
    shelf()
      .when('put', { title: 'A', copies: 2 })
      .thenEvents([JSON.stringify(shelved('A', 2))])
      .thenEvents([{ type: 'shelved', title: expect.any(String), copies: expect.anything() }])
      .thenReply(expect.any(Number));
  });

  test('is refused with code, message and details, as much of it as one asks for', () => {
    const full = [shelved('A'), shelved('B'), shelved('C')];
    shelf()
      .given(full)
      .when('put', { title: 'D', copies: 1 })
      .thenRefused('CONFLICT')
      .thenRefused({ message: /full/ })
      .thenRefused({ code: 'CONFLICT', message: 'the shelf is full', details: { books: 3 } });
    shelf()
      .when('put', { title: 3 })
      .thenRefused({ code: 'BAD_REQUEST', message: /title: must be/ });
  });

  test('that is deleted begins anew', () => {
    shelf()
      .given([shelved('A')])
      .when('clear')
      .thenDeleted()
      .thenReply(null)
      .query('get')
      .thenReply({ books: [], readers: {}, number: 0 })
      .when('put', { title: 'B', copies: 1 })
      .thenReply(1);
  });

  test('that has trapped is there again, as its events tell', () => {
    const it = shelf().given([shelved('A')]);
    expect(() => it.when('boom')).toThrow(/no shelf/);
    it.query('get').thenReply(expect.objectContaining({ books: [{ title: 'A', copies: 1 }] }));
  });

  test('gets more events given later, as if they had happened meanwhile', () => {
    shelf()
      .when('put', { title: 'A', copies: 1 })
      .given([shelved('B'), shelved('C')])
      .when('put', { title: 'D', copies: 1 })
      .thenRefused('CONFLICT');
  });
});

describe('time, chance and metadata', () => {
  test('stand still, and are the same in every test', () => {
    const [first, second] = [ambient(shelf()), ambient(shelf())];
    expect(first).toEqual(second);
    expect(first.dateMs).toBe(TIME_DEFAULT);
    expect(first.trace).toBe('');
  });

  test.each([
    ['milliseconds', 1_234_567],
    ['ISO text', '1970-01-01T00:20:34.567Z'],
    ['a Date', new Date(1_234_567)],
  ])('are what a test sets: the time as %s', (_, time) => {
    expect(ambient(shelf().at(time)).dateMs).toBe(1_234_567);
  });

  test.each(['yesterday', Number.NaN, -1, 0.5, new Date('never')])('%s is no time', (time) => {
    expect(() => shelf().at(time)).toThrow(/is no time/);
  });

  test('are what a test sets: the seed of the next call, and metadata', () => {
    const [a, b] = [shelf().seed(7), shelf().seed(7n)];
    expect(ambient(a).random).toBe(ambient(b).random);
    expect(ambient(a).random).not.toBe(ambient(shelf().seed(7)).random);
    expect(ambient(shelf().metadata({ traceparent: ['first', 'second'] })).trace).toBe('first');
  });
});
