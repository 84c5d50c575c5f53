// What of an answer is held against the OpenAPI document.
import { expect, test } from 'vitest';
import { UndocumentedAnswer, expectDocumented } from '../support/documented-answers.ts';

const NO_STORE = { 'cache-control': 'no-store' };
const JSON_TYPE = { ...NO_STORE, 'content-type': 'application/json' };
const FAILURE = '{"status":404,"error":"none"}';
const SHOP = '{"id":"shop","name":"Shop","projects":0,"disabled":false}';

test.each<[string, string, number, Record<string, string>, string]>([
  ['an answer', 'GET /organizations/shop', 200, JSON_TYPE, SHOP],
  ['a refusal', 'GET /organizations/shop?x=1', 404, JSON_TYPE, FAILURE],
  ['no body', 'DELETE /organizations/shop', 204, NO_STORE, ''],
  ['headers that are too large', 'GET /auth', 431, JSON_TYPE, '{"status":431,"error":"large"}'],
  ['what is no route', 'GET /nowhere', 404, JSON_TYPE, FAILURE],
])('%s is taken', (_what, line, status, headers, text) => {
  const [method, target] = line.split(' ') as [string, string];
  const answer = { status, headers: new Headers(headers), text };
  expect(() => expectDocumented(method, target, answer)).not.toThrow();
});

test.each<[string, string, number, Record<string, string>, string]>([
  ['may be cached', 'GET /nowhere', 404, {}, FAILURE],
  ['is not { status, error }', 'GET /nowhere', 404, JSON_TYPE, '{"status":404}'],
  ['is not { status, error }', 'GET /nowhere', 404, JSON_TYPE, '{"status":400,"error":"x"}'],
  [
    'is not { status, error }',
    'GET /nowhere',
    404,
    JSON_TYPE,
    '{"status":404,"error":"x","code":"X"}',
  ],
  ['no such status', 'GET /auth', 404, JSON_TYPE, FAILURE],
  ['no WWW-Authenticate', 'GET /organizations', 401, JSON_TYPE, '{"status":401,"error":"x"}'],
  ['has a body', 'DELETE /organizations/shop', 204, NO_STORE, '{}'],
  ['is not JSON', 'GET /organizations/shop', 200, NO_STORE, SHOP],
  ["required property 'name'", 'GET /organizations/shop', 200, JSON_TYPE, '{"id":"shop"}'],
])('an answer is noticed that %s', (words, line, status, headers, text) => {
  const [method, target] = line.split(' ') as [string, string];
  const answer = { status, headers: new Headers(headers), text };
  const check = () => expectDocumented(method, target, answer);
  expect(check).toThrow(UndocumentedAnswer);
  expect(check).toThrow(words);
});
