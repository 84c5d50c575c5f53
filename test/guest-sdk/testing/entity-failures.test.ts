// How a test of an entity fails: it says where, with what and why, and points at its own line.
import { describe, expect, test } from 'vitest';
import { testEntity, testModule } from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { failureOf } from './failure.ts';

const module = await testModule(await compileFixture('impure'));
const shelf = () => testEntity(module, 'shelf', 's1');
const shelvedBook = (title: string) => ({ title, copies: 1 });
const shelved = (title: string, copies = 1) => ({ type: 'shelved', title, copies });

describe('an expectation that does not hold', () => {
  test('about events has both as a difference, and says what was sent and logged', () => {
    const it = shelf()
      .given([shelved('A')])
      .when('put', { title: 'B', copies: 3 });
    const { message, actual, expected } = failureOf(() => it.thenEvents([shelved('B', 4)]));
    expect(message).toBe(
      `shelf 's1', command 'put' {"title":"B","copies":3}, after shelved
The command persisted other events than expected.
The module logged:
  info  putting B`,
    );
    expect(actual).toEqual([shelved('B', 3)]);
    expect(expected).toEqual([shelved('B', 4)]);
  });

  test('about a reply has both as a difference', () => {
    const it = shelf().when('put', { title: 'A', copies: 1 });
    expect(failureOf(() => it.thenReply(2))).toMatchObject({
      message: expect.stringContaining('The command replied something else than expected.'),
      actual: 1,
      expected: 2,
    });
  });

  test('says how it was refused', () => {
    const it = shelf().when('put', { title: 'A', copies: 0 });
    const words = "was refused: BAD_REQUEST 'copies: must be positive'.";
    expect(failureOf(() => it.thenEvents([])).message).toContain(words);
    expect(failureOf(() => it.thenReply(1)).message).toContain(words);
    expect(failureOf(() => it.thenDeleted()).message).toContain(words);
    expect(failureOf(() => it.reply()).message).toContain(words);
  });

  test('about a refusal says what came instead', () => {
    const it = shelf().when('put', { title: 'A', copies: 1 });
    expect(failureOf(() => it.thenRefused('CONFLICT')).message).toContain(
      'The command was not refused: it replied 1.',
    );
    it.when('put', { title: 'A', copies: 0 });
    expect(failureOf(() => it.thenRefused({ code: 'CONFLICT', message: /full/ }))).toMatchObject({
      actual: { code: 'BAD_REQUEST', message: 'copies: must be positive' },
      expected: { code: 'CONFLICT', message: /full/ },
    });
    failureOf(() => it.thenRefused({ details: { a: 1 } }));
  });

  test('about deletion and the absence of events', () => {
    const it = shelf().when('put', { title: 'A', copies: 1 });
    expect(failureOf(() => it.thenDeleted()).message).toContain('did not delete the entity');
    expect(failureOf(() => it.thenNoEvents()).actual).toEqual([shelved('A')]);
    it.query('get');
    expect(failureOf(() => it.thenEvents([])).message).toContain('persists nothing');
  });

  test('before anything was sent', () => {
    for (const ask of [
      () => shelf().thenEvents([]),
      () => shelf().thenReply(1),
      () => shelf().thenRefused('CONFLICT'),
      () => shelf().events,
    ])
      expect(failureOf(ask).message).toContain('nothing was sent yet');
  });
});

describe('what went wrong in the module', () => {
  test('a trap: its own words with their place, and its log', () => {
    const it = shelf();
    expect(failureOf(() => it.when('boom')).message).toMatch(
      /^shelf 's1', command 'boom', after no events\nabort: no shelf at index\.ts:\d+:\d+\nThe module logged:\n {2}warn {2}about to break$/,
    );
  });

  test('an event of a command that cannot be folded', () => {
    const it = shelf();
    expect(failureOf(() => it.when('poison')).message).toMatch(
      /command 'poison'.*\nFolding it \(poison\) failed\nabort: poisoned at index\.ts/,
    );
    it.query('get').thenReply(expect.anything());
  });

  test.each([
    ['command', 'put-in-place', { title: 'C', copies: 5 }],
    ['command', 'read-by', { name: 'bob' }],
    ['query', 'sorted', undefined],
  ] as const)('a %s that changes the state it was given: %s', (kind, name, input) => {
    const it = shelf().given([shelved('B'), shelved('A')]);
    const failure = failureOf(() => (kind === 'query' ? it.query(name) : it.when(name, input)));
    expect(failure.message).toContain(`${kind} '${name}' changed the state it was given`);
    expect(failure.expected).toMatchObject({ books: [shelvedBook('B'), shelvedBook('A')] });
    expect(failure.actual).not.toEqual(failure.expected);
    // It comes back as its events tell, so that the test may go on.
    it.query('get').thenReply(failure.expected);
  });

  test('a state without a JSON form', () => {
    const it = shelf();
    expect(failureOf(() => it.when('unspeakable')).message).toMatch(
      /command 'unspeakable', after no events\nAfter it the state has no JSON form\nabort: /,
    );
  });
});

describe('a test that is wrong itself', () => {
  test('names a component that there is not', () => {
    expect(failureOf(() => testEntity(module, 'shelff', 's1')).message).toBe(
      "the module has no component 'shelff'. Did you mean 'shelf'? There is: shelf.",
    );
  });

  test('names an entity that cannot be', () => {
    expect(failureOf(() => testEntity(module, 'shelf', '')).message).toContain('is empty');
    const number = 5 as unknown as string;
    expect(failureOf(() => testEntity(module, 'shelf', number)).message).toBe(
      'The entity id must be a string.',
    );
  });

  test('has no module', () => {
    const none = undefined as unknown as typeof module;
    expect(failureOf(() => testEntity(none, 'shelf', 's1')).message).toMatch(
      /^This is not a module: .* give it to testEntity\.$/,
    );
  });

  test('names a handler that there is not', () => {
    const it = shelf();
    expect(failureOf(() => it.when('putInPlace')).message).toMatch(
      /^shelf 's1' has no command 'putInPlace'\. Did you mean 'put-in-place'\? There are: put, clear,/,
    );
    expect(failureOf(() => it.query('zzz')).message).toMatch(
      /^shelf 's1' has no query 'zzz'\. There are: sorted, get, ambient\.$/,
    );
  });

  test('takes a query for a command, and the other way round', () => {
    const it = shelf();
    expect(failureOf(() => it.when('get')).message).toContain("ask it with .query('get', …)");
    expect(failureOf(() => it.query('put')).message).toContain("send it with .when('put', …)");
  });

  test('gives an input that is not taken', () => {
    const it = shelf();
    expect(failureOf(() => it.when('clear', {})).message).toContain("'clear' takes no input");
  });

  test.each([
    [
      [shelved('A'), { type: 'shelvd' }],
      /^given: event 2 of 2 does not decode: type: must be "shelved" or/,
    ],
    [
      [{ type: 'shelved', title: 3 }],
      /^given: event 1 of 1 does not decode: title: must be a string/,
    ],
    [[{ title: 'A' }], /^given: event 1 of 1 has no type: {"title":"A"}/],
    [['{'], /^given: event 1 of 1 is not JSON: {/],
    [[{ type: 'poison' }], /^given: event 1 of 1\nFolding it \(poison\) failed\nabort: poisoned/],
  ])('gives events that are none: %j', (events, message) => {
    expect(failureOf(() => shelf().given(events)).message).toMatch(message);
  });
});

describe('a replay that does not give the same', () => {
  test('state is a difference', () => {
    // Thrown again when the test ends, unless it is brought back by then.
    const it = shelf().when('number');
    expect(failureOf(() => it.thenReplays())).toMatchObject({
      message: expect.stringMatching(/^shelf 's1' has another state when its events \(numbered\)/),
      expected: { number: 1 },
      // A twin and a stranger were numbered before it.
      actual: { number: 3 },
    });
    it.when('clear');
  });

  test.each([
    [['sighted'], 'in an instance in which commands and queries had run, from event 1 on'],
    [['displayed', 'copied', 'copied'], 'on from a snapshot of its state, from event 2 on'],
  ])('state, in another way, is a difference: %j', (types, how) => {
    const it = shelf().given(types.map((type) => ({ type, title: 'A' })));
    expect(failureOf(() => it.thenReplays()).message).toContain(
      `shelf 's1' has another state when its events (${types.join(', ')}) are folded anew ${how}.`,
    );
    it.when('clear');
  });

  test('outcome is part of the message', () => {
    const it = shelf().query('ambient').when('glimpse');
    expect(failureOf(() => it.thenReplays()).message).toMatch(
      /^shelf 's1' cannot be replayed: folding its events \(glimpsed\) in a fresh instance failed: abort: nothing was sighted/,
    );
    it.when('clear');
  });
});
