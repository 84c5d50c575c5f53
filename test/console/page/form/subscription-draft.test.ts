// The form of a subscription: what it sends, and the problems of a refusal beside its controls.
import type { Subscription } from '@svc/client';
import { describe, expect, test } from 'vitest';
import {
  draftProblems,
  EMPTY_SUBSCRIPTION,
  hasEvent,
  refusalProblems,
  subscriptionDraft,
  subscriptionRequest,
  withEvent,
} from '../../../../console/page/form/subscription-draft.ts';

const SUBSCRIPTION: Subscription = {
  id: 'wh_1',
  url: 'https://receiver.example/hook',
  events: ['dataset.failed', 'webhook.failing'],
  filters: { status: 'SOLVING_FAILED', model: 'routing', nameRegex: '^a', tags: ['x', 'y'] },
  signing: { method: 'hmac-sha256', over: 'path' },
  headers: { Authorization: 'Bearer a', 'X-Sig': '{hmac_signature}' },
  createdAt: '2026-01-01T00:00:00.000Z',
};

test('a subscription that nobody edits is sent as it is', () => {
  const { id: _id, createdAt: _createdAt, ...request } = SUBSCRIPTION;
  expect(subscriptionRequest(subscriptionDraft(SUBSCRIPTION))).toEqual(request);
});

test('an empty form asks for all events of datasets, and blank rows are not sent', () => {
  const draft = { ...EMPTY_SUBSCRIPTION, url: ' https://a ', tags: ['', 'x', ''] };
  expect(subscriptionRequest({ ...draft, headers: [['', '']] })).toEqual({
    url: 'https://a',
    events: ['dataset.*'],
    filters: { tags: ['x'] },
    signing: { method: 'hmac-sha256', over: 'body' },
    headers: {},
  });
});

test('a header without a name is sent, so that it is refused', () => {
  const draft = { ...EMPTY_SUBSCRIPTION, headers: [['', 'a'] as const] };
  expect(subscriptionRequest(draft).headers).toEqual({ '': 'a' });
  const { byControl } = refusalProblems('headers/: is no name of a header', draft);
  expect(byControl.get('header-0')).toBe('is no name of a header');
});

test('a header named __proto__ is sent like any other', () => {
  const draft = { ...EMPTY_SUBSCRIPTION, headers: [['__proto__', 'a'] as const] };
  expect(JSON.stringify(subscriptionRequest(draft).headers)).toBe('{"__proto__":"a"}');
});

test('dataset.* replaces the events that it contains', () => {
  const some = subscriptionDraft(SUBSCRIPTION);
  const all = withEvent(some, 'dataset.*', true);
  expect(all.events).toEqual(['webhook.failing', 'dataset.*']);
  expect(withEvent(all, 'dataset.*', false).events).toEqual(['webhook.failing']);
  expect(withEvent(some, 'dataset.computed', true).events).toContain('dataset.computed');
});

test('removing an event that dataset.* contains leaves the others of datasets', () => {
  const draft = withEvent(EMPTY_SUBSCRIPTION, 'webhook.failing', true);
  expect(hasEvent(draft, 'dataset.failed')).toBe(true);
  const { events } = withEvent(draft, 'dataset.failed', false);
  expect(events).toEqual([
    'dataset.computed',
    'dataset.invalid',
    'dataset.completed',
    'dataset.incomplete',
    'webhook.failing',
  ]);
});

test('two headers of one name are a problem, since an object has each name once', () => {
  const headers = [
    ['X-A', '1'],
    ['', ''],
    ['X-A', '2'],
    ['', ''],
  ] as const;
  const { byControl } = draftProblems({ ...EMPTY_SUBSCRIPTION, headers });
  expect([...byControl.keys()]).toEqual(['header-2']);
});

describe('a problem of a refusal', () => {
  const draft = {
    ...EMPTY_SUBSCRIPTION,
    tags: ['', 'a', 'b'],
    headers: [
      ['', ''],
      ['X', '1'],
      ['X: y', '2'],
      ['a/b~c', '3'],
    ] as const,
  };

  test.each([
    ['url: is missing', 'url', 'is missing'],
    ['events/1: is "x": use y', 'events', 'is "x": use y'],
    ['filters/nameRegex: is wrong', 'nameRegex', 'is wrong'],
    ['filters/tags: has 101 tags', 'tags', 'has 101 tags'],
    ['filters/tags/1: is too long', 'tag-2', 'is too long'],
    ['headers: has 33 headers', 'headers', 'has 33 headers'],
    ['headers/X: is wrong', 'header-1', 'is wrong'],
    ['headers/X: y: is wrong', 'header-2', 'is wrong'],
    ['headers/a~1b~0c: is wrong', 'header-3', 'is wrong'],
    ['headers/other: is wrong', 'headers', 'is wrong'],
  ])('%s is beside its control', (line, control, text) => {
    expect(refusalProblems(line, draft)).toEqual({
      byControl: new Map([[control, text]]),
      others: [],
    });
  });

  test('joins others of its control, and is below the form if it belongs to none', () => {
    const found = refusalProblems('url: a\nurl: b\nbody: is no object\nsomething else', draft);
    expect(found.byControl.get('url')).toBe('a; b');
    expect(found.others).toEqual(['body: is no object', 'something else']);
  });

  test('does not advise what the form cannot do', () => {
    const { byControl } = refusalProblems('events: is empty: leave it out', {
      ...draft,
      events: [],
    });
    expect(byControl.get('events')).toBe('choose at least one');
  });
});
