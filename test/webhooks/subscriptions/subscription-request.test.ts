// The checks of requests that create and change subscriptions, in the words of their answers.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkedContent,
  checkedGracePeriod,
  checkedPatch,
} from '../../../webhooks/subscriptions/subscription-request.ts';
import {
  URL_GIVEN,
  addresses,
  contentOf,
  linesOf,
  problemsOf,
  valueOf,
} from './checked-requests.ts';

test('what a request leaves out has its default', () => {
  expect(contentOf({ url: URL_GIVEN })).toEqual({
    url: URL_GIVEN,
    events: ['dataset.*'],
    filters: {},
    signing: { method: 'hmac-sha256', over: 'body' },
    headers: {},
  });
  expect(contentOf({ url: URL_GIVEN, signing: { over: 'path' } }).signing).toEqual({
    method: 'hmac-sha256',
    over: 'path',
  });
});

test('everything that a request may say is kept as it is written', () => {
  const request = {
    url: 'https://bücher.example:8443/a/../b?c',
    events: ['dataset.failed', 'webhook.failing'],
    filters: { status: 'SOLVING_FAILED', nameRegex: '^a.*b$', tags: ['x', 'ü'], model: 'routing' },
    signing: { method: 'hmac-sha256', over: 'path' },
    headers: { Authorization: 'Bearer {hmac_signature}', __proto__x: '', 'X-$&': ' $& ' },
  };
  expect(contentOf(request)).toEqual(request);
});

test('an event that is listed twice counts once', () => {
  expect(contentOf({ url: URL_GIVEN, events: ['dataset.*', 'dataset.*'] }).events).toEqual([
    'dataset.*',
  ]);
});

test('all problems are reported at once', () => {
  expect(
    problemsOf({
      id: 'wh_1',
      secret: 's',
      url: 'ftp://receiver.example/',
      events: ['dataset.completed', 'dataset.done', 7],
      filters: {
        status: 'solving_completed',
        nameRegex: 'a(?=b)',
        tags: 'x',
        model: null,
        names: '',
      },
      signing: { method: 'hmac-md5', over: 'headers' },
      headers: { Host: 'a', 'x y': 'b', 'X-A': 'a\r\nX-Hook-Event: b' },
    }),
  ).toEqual([
    ' has the unknown fields "id", "secret": the fields are url, events, filters, signing, headers',
    '/events/1 is "dataset.done": use dataset.* or dataset.computed or dataset.invalid or dataset.completed or dataset.incomplete or dataset.failed or webhook.failing',
    '/events/2 is not a text',
    '/filters has the unknown field "names": the fields are status, nameRegex, tags, model',
    '/filters/model is not a text',
    expect.stringMatching(/^\/filters\/nameRegex is no regular expression of RE2, .*\(\?=/),
    '/filters/status is "solving_completed": use DATASET_COMPUTED or DATASET_INVALID or SOLVING_COMPLETED or SOLVING_INCOMPLETE or SOLVING_FAILED',
    '/filters/tags is not a list of texts',
    '/headers/Host is a header that the service sets itself, or one of the connection',
    '/headers/X-A has a value with something else than visible characters of ASCII and spaces',
    '/headers/x y is no name of a header',
    '/signing/method is "hmac-md5": use hmac-sha256',
    '/signing/over is "headers": use body or path',
    '/url is "ftp://receiver.example/": write an absolute http or https URL such as https://example.com/hook',
  ]);
});

test.each([null, 7, 'x', [], [{ url: URL_GIVEN }]])('%j is no subscription', (request) => {
  expect(problemsOf(request)).toEqual([
    ' is not an object with url, events, filters, signing, headers',
  ]);
});

test('a request without a URL, and one without events, are refused', () => {
  expect(problemsOf({ events: [] })).toEqual([
    '/events is empty: leave it out for all events of datasets, or list some',
    '/url is missing',
  ]);
});

const problemsOfFilters = (filters: unknown) => problemsOf({ url: URL_GIVEN, filters });

describe('filters', () => {
  test('of lone surrogates are refused', () => {
    const half = 'a\ud800';
    expect(problemsOfFilters({ nameRegex: half, tags: [half], model: half })).toEqual(
      ['/filters/model', '/filters/nameRegex', '/filters/tags/0'].map(
        (path) => `${path} has half of a surrogate pair, which is no character`,
      ),
    );
  });

  test('have limits of length and number', () => {
    const most = {
      nameRegex: 'ü'.repeat(256),
      tags: Array(100).fill('😀'.repeat(256)),
      model: 'm'.repeat(256),
    };
    expect(problemsOfFilters(most)).toEqual([]);
    expect(
      problemsOfFilters({
        nameRegex: 'a'.repeat(257),
        tags: ['t'.repeat(257)],
        model: 'm'.repeat(257),
      }),
    ).toEqual(
      ['/filters/model', '/filters/nameRegex', '/filters/tags/0'].map(
        (path) => `${path} is longer than 256 characters`,
      ),
    );
    expect(problemsOfFilters({ tags: Array(101).fill('t') })).toEqual([
      '/filters/tags has 101 tags, and may have 100',
    ]);
  });
});

describe('a merge patch', () => {
  const before = contentOf({
    url: URL_GIVEN,
    events: ['dataset.failed'],
    filters: { model: 'routing', tags: ['x'] },
    signing: { over: 'path' },
    headers: { 'X-A': '1', 'X-B': '2' },
  });
  const patched = (patch: unknown) => checkedPatch(before, patch, addresses);

  test('changes what it names, and removes what is null', () => {
    expect(
      valueOf(
        patched({
          filters: { tags: null, status: 'SOLVING_FAILED' },
          headers: { 'X-A': null, 'X-C': '3' },
        }),
      ),
    ).toEqual({
      ...before,
      filters: { model: 'routing', status: 'SOLVING_FAILED' },
      headers: { 'X-B': '2', 'X-C': '3' },
    });
    expect(valueOf(patched({}))).toEqual(before);
  });

  test('with null gives back the defaults, and the URL has none', () => {
    expect(valueOf(patched({ events: null, filters: null, signing: null, headers: null }))).toEqual(
      contentOf({ url: URL_GIVEN }),
    );
    expect(linesOf(patched({ url: null }))).toEqual(['/url is missing']);
  });

  test('may name no other field, even with null', () => {
    expect(
      linesOf(
        patched({ secret: null, filters: { names: null }, signing: { key: null }, url: '/' }),
      ),
    ).toEqual([
      ' has the unknown field "secret": the fields are url, events, filters, signing, headers',
      '/filters has the unknown field "names": the fields are status, nameRegex, tags, model',
      '/signing has the unknown field "key": the fields are method, over',
      expect.stringMatching(/^\/url is "\/"/),
    ]);
  });

  test('names headers by their exact names', () => {
    expect(linesOf(patched({ headers: { 'x-a': '3' } }))).toEqual([
      '/headers/x-a is the header "X-A" once more, since case makes no difference',
    ]);
  });

  test.each([null, [], 7, '{}'])('%j is none', (patch) => {
    expect(linesOf(patched(patch))).toEqual([
      ' is not an object with url, events, filters, signing, headers',
    ]);
  });

  test('as deep as a body can be is refused like any other', () => {
    const depth = 100_000;
    const deep: unknown = JSON.parse(`${'{"headers":'.repeat(depth)}1${'}'.repeat(depth)}`);
    expect(linesOf(patched(deep))).toEqual(['/headers/headers is not a text']);
    expect(problemsOf(deep)).toEqual(['/headers/headers is not a text', '/url is missing']);
  });

  test('of a subscription with the whole of another one gives the other one', () => {
    const contents = fc.record({
      url: fc.constantFrom(URL_GIVEN, 'http://other.example'),
      events: fc.uniqueArray(fc.constantFrom('dataset.*', 'dataset.failed', 'webhook.failing'), {
        minLength: 1,
      }),
      filters: fc.record(
        {
          model: fc.string({ maxLength: 9, unit: 'grapheme' }),
          tags: fc.array(fc.constantFrom('a', 'b')),
        },
        { requiredKeys: [] },
      ),
      signing: fc.record({ over: fc.constantFrom('body', 'path') }),
      headers: fc.dictionary(
        fc.constantFrom('X-A', 'X-B', '__proto__'),
        fc.constantFrom('', 'v $&'),
      ),
    });
    const removed = { filters: null, headers: null };
    fc.assert(
      fc.property(contents, contents, (one, other) => {
        const cleared = valueOf(checkedPatch(contentOf(one), removed, addresses));
        expect(valueOf(checkedPatch(cleared, other, addresses))).toEqual(contentOf(other));
      }),
    );
  });
});

test('any JSON gives a subscription or problems', () => {
  const field = fc.oneof(fc.jsonValue(), fc.constantFrom(URL_GIVEN, [], {}, ['dataset.*']));
  const request = fc.dictionary(
    fc.oneof(
      fc.constantFrom('url', 'events', 'filters', 'signing', 'headers', '__proto__'),
      fc.string(),
    ),
    field,
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), request), (value) => {
      const result = checkedContent(value, addresses);
      const found = result.isValid ? contentOf(result.value) : result.problems.length > 0;
      expect(found).toEqual(result.isValid ? result.value : true);
    }),
  );
});

describe('the grace period of a rotation', () => {
  test('is a day unless the body says otherwise', () => {
    expect(valueOf(checkedGracePeriod(undefined))).toBe(86_400);
    expect(valueOf(checkedGracePeriod({}))).toBe(86_400);
    expect(valueOf(checkedGracePeriod({ gracePeriodSeconds: 0 }))).toBe(0);
    expect(valueOf(checkedGracePeriod({ gracePeriodSeconds: 604_800 }))).toBe(604_800);
  });

  test.each([-1, 604_801, 1.5, '60', null, Number.NaN])('is not %j', (gracePeriodSeconds) => {
    expect(linesOf(checkedGracePeriod({ gracePeriodSeconds }))).toEqual([
      '/gracePeriodSeconds is not a whole number from 0 to 604800',
    ]);
  });

  test('is the only field', () => {
    expect(linesOf(checkedGracePeriod({ grace: 1 }))).toEqual([
      ' has the unknown field "grace": the fields are gracePeriodSeconds',
    ]);
    expect(linesOf(checkedGracePeriod(null))).toEqual([
      ' is not an object with gracePeriodSeconds',
    ]);
  });
});
