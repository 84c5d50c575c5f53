// The reason of an answer's status, which is found in its trace and never in the status alone.
import type { ServiceRoute, Span, SpanFault, TraceDetail } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { answerReason } from '../../../../console/page/view/answer-reason.ts';
import { TRAP } from '../../fake/traces.ts';

const span = (more: Partial<Span> = {}): Span => ({
  spanId: 'a'.repeat(16),
  parentId: null,
  kind: 'endpoint',
  component: 'Books',
  handler: 'get',
  entityId: null,
  startedAt: '2026-11-22T00:00:00.000Z',
  offsetMs: 0,
  durationMs: 1,
  outcome: 'Refused',
  fuel: null,
  events: 0,
  status: 404,
  shard: 0,
  fault: null,
  children: [],
  ...more,
});
const call = (more: Partial<Span>) =>
  span({ kind: 'command', component: 'book', handler: 'lend', status: null, ...more });
const ROUTES = [
  { method: 'GET', path: '/books/{id}' },
  { method: 'POST', path: '/books' },
  { method: 'POST', path: '/caf%C3%A9s' },
] as unknown as readonly ServiceRoute[];
const trace = (root: Span) => ({ roots: [root] }) as unknown as TraceDetail;
const code = (name: string): SpanFault => ({ ...TRAP, code: name });
const reason = (status: number, root: Span) =>
  answerReason(status, { method: 'GET', path: '/books/1', routes: ROUTES }, trace(root));

const without = (status: number, path = '/books/1?page=2', method = 'PATCH') =>
  answerReason(status, { method, path, routes: ROUTES }, undefined).text;

describe('a handler', () => {
  test.each([400, 404, 405, 409, 418, 429, 503])(
    'that answered %d on purpose is named',
    (status) => {
      const outcome = status < 500 ? 'Refused' : 'Failed';
      const { text, failed } = reason(status, span({ status, outcome }));
      expect(text).toBe(`Books.get answered ${status} on purpose.`);
      expect(failed).toBeUndefined();
    },
  );

  test('that answered something else after a call was refused has the call beside it', () => {
    const children = [call({ fault: code('CONFLICT') })];
    expect(reason(404, span({ children })).text).toBe(
      'Books.get answered 404 on purpose. Before that, book.lend refused a call: Conflict.',
    );
  });

  test('that refused by itself is named by its code', () => {
    const { text } = reason(404, span({ fault: code('NOT_FOUND') }));
    expect(text).toMatch(/^Books\.get refused it: Not found\. What the request asks for/);
  });

  test("that passed an entity's refusal on is not what refused", () => {
    const children = [call({ fault: code('CONFLICT') })];
    const { text } = reason(409, span({ status: 409, fault: code('CONFLICT'), children }));
    expect(text).toContain('book.lend refused it: Conflict. Books.get passed the refusal on.');
  });

  test('with a code of its own explains it itself', () => {
    const { text } = reason(409, span({ status: 409, fault: code('BOOK_IS_LENT') }));
    expect(text).toBe('Books.get refused it: Book is lent. The message says why.');
  });
});

test('what failed is shown in full', () => {
  const children = [call({ outcome: 'Failed', fault: TRAP })];
  const root = span({ status: 500, outcome: 'Failed', fault: TRAP, children });
  expect(reason(500, root)).toEqual({ text: '', failed: children[0] });
});

describe('without a trace', () => {
  test.each([
    [404, '/shelves/1', 'No route of the service has this path.'],
    [404, '/books/', 'No route of the service has this path.'],
    [404, '/books/%2E%2E', 'No route of the service has this path.'],
    [405, '/books/1', 'A route has this path, but not for PATCH.'],
    [405, '/b%6Foks', 'A route has this path, but not for PATCH.'],
    [405, '/caf%c3%a9s', 'A route has this path, but not for PATCH.'],
  ])('a %d of %s is explained by the routes: no handler ran', (status, path, why) => {
    expect(without(status, path)).toBe(`No handler ran. ${why}`);
  });

  test.each([
    [400, 'malformed'],
    [401, 'asks for an access token'],
    [403, 'the access rule of the route'],
    [413, 'svc.http.body-bytes-max'],
    [503, 'Retry-After'],
  ])('a %d may be of the runtime, and of a handler whose trace is gone', (status, why) => {
    expect(without(status)).toMatch(
      /^Either no handler ran \(.+\), or the trace of this request is /,
    );
    expect(without(status)).toContain(why);
  });

  test('a status that the runtime does not give here is not explained away', () => {
    for (const status of [404, 405, 409, 418, 422, 500])
      expect(without(status, '/books/1', 'GET')).toMatch(/^The trace .+ is not in the window/);
  });
});
