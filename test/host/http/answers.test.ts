import { describe, expect, test } from 'vitest';
import { failureAnswer, isLogged, refusalAnswer } from '../../../host/http/answers.ts';
import type { Refusal } from '../../../model/call.ts';
import { type FaultCause, GuestFault } from '../../../model/guest-fault.ts';
import { viewBuilding } from '../../../host/views/view-failures.ts';
import { SVC_ERROR_CODES, SvcError } from '../../../kit/svc-error.ts';
import { ask, descriptorOf, get, start } from './http-harness.ts';

const ERROR_ID = '00000000000000ff';
const body = (answer: { body: unknown }) => JSON.parse(answer.body as string) as object;

describe('refusals', () => {
  test.each<[Refusal['code'], number]>([
    ['BAD_REQUEST', 400],
    ['UNAUTHENTICATED', 401],
    ['FORBIDDEN', 403],
    ['NOT_FOUND', 404],
    ['CONFLICT', 409],
    ['UNPROCESSABLE', 422],
    ['TOO_MANY_REQUESTS', 429],
    ['OTHER', 500],
  ])('%s is %i', (code, status) => {
    const answer = refusalAnswer({ kind: 'refusal', code, message: 'No "more" items\n' });
    expect(answer.status).toBe(status);
    expect(answer.headers).toEqual([['content-type', 'application/json']]);
    expect(body(answer)).toEqual({ status, error: 'No "more" items\n' });
  });

  test('details are sent as the JSON that they are', () => {
    const details = '{"left": 2, "big": 12345678901234567890}';
    const answer = refusalAnswer({ kind: 'refusal', code: 'CONFLICT', message: 'x', details });
    expect(answer.body).toBe(`{"status":409,"error":"x","details":${details}}`);
  });

  test.each(['', '{', 'nope', '1}', '1,"error":"forged"', '{}{}'])(
    'details that are not JSON (%j) are left out',
    (details) => {
      const answer = refusalAnswer({ kind: 'refusal', code: 'CONFLICT', message: 'x', details });
      expect(answer.body).toBe('{"status":409,"error":"x"}');
    },
  );
});

describe('failures', () => {
  test.each<[FaultCause, number]>([
    ['trap', 500],
    ['fuel', 504],
    ['time', 504],
    ['memory', 500],
    ['stack', 500],
    ['value', 500],
    ['limit', 500],
  ])('a fault of the guest by %s is %i with an error id', (cause, status) => {
    const answer = failureAnswer(new GuestFault(cause, 'secret'), ERROR_ID);
    expect(answer.status).toBe(status);
    expect(body(answer)).toEqual({ status, error: expect.any(String), errorId: ERROR_ID });
    expect(answer.body).not.toContain('secret');
  });

  test('a query of a view that is being built is told how far it is, and when to ask again', () => {
    const failure = viewBuilding('the-secret-view', 42, false);
    const answer = failureAnswer(failure, ERROR_ID);
    expect(answer.status).toBe(503);
    expect(body(answer)).toEqual({ status: 503, error: expect.stringContaining('is 42 % done') });
    expect(answer.body).not.toContain('secret');
    expect(answer.headers).toContainEqual(['retry-after', '2']);
  });

  test('a bug is 500 with an error id', () => {
    for (const bug of [new TypeError('secret'), 'secret', undefined]) {
      const answer = failureAnswer(bug, ERROR_ID);
      expect(body(answer)).toEqual({
        status: 500,
        error: 'The service failed to handle the request.',
        errorId: ERROR_ID,
      });
    }
  });

  test.each(SVC_ERROR_CODES)('%s has its status and never its message', (code) => {
    const status =
      {
        SVC_OVERLOADED: 503,
        SVC_STOPPING: 503,
        SVC_JOURNAL_UNAVAILABLE: 503,
        SVC_JOURNAL_REGRESSED: 503,
        SVC_DATABASE_URL_INVALID: 503,
        SVC_DATABASE_UNUSABLE: 503,
        SVC_JOURNAL_FULL: 503,
        SVC_DISK_FULL: 503,
        SVC_TIMERS_FULL: 503,
        SVC_VIEW_BEHIND: 503,
        SVC_VIEW_REBUILDING: 503,
        SVC_VIEW_STOPPED: 503,
        SVC_ENTITY_HELD_BACK: 503,
        SVC_ENTITY_MOVED: 503,
        SVC_SHARD_UNAVAILABLE: 503,
        SVC_PROCESS_UNAVAILABLE: 503,
        SVC_ANSWER_TIMED_OUT: 504,
        SVC_CALL_UNCERTAIN: 504,
        SVC_RESPONSE_DROPPED: 504,
      }[code as string] ?? 500;
    const answer = failureAnswer(new SvcError(code, 'secret /data/path'), ERROR_ID);
    expect(answer.status).toBe(status);
    expect(body(answer)).toMatchObject({ status, error: expect.any(String) });
    expect(answer.body).not.toContain('secret');
    expect(answer.headers.some(([name]) => name === 'retry-after')).toBe(status === 503);
    // A caller's error id leads to the line in the log.
    expect('errorId' in body(answer)).toBe(status !== 503);
  });

  test.each([
    [undefined, '1'],
    [0, '1'],
    [1, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [60_000, '60'],
  ])('what can be tried again in %s ms says so in whole seconds: %s', (retryAfterMs, seconds) => {
    const failure = new SvcError('SVC_ENTITY_HELD_BACK', 'held back', { retryAfterMs });
    const { headers } = failureAnswer(failure, ERROR_ID);
    expect(headers.filter(([name]) => name === 'retry-after')).toEqual([['retry-after', seconds]]);
    expect(headers).toHaveLength(2);
  });
});

test.each([
  ['SVC_OVERLOADED', false],
  ['SVC_STOPPING', false],
  ['SVC_ENTITY_HELD_BACK', false],
  ['SVC_ENTITY_MOVED', false],
  ['SVC_SHARD_UNAVAILABLE', false],
  ['SVC_PROCESS_UNAVAILABLE', false],
  ['SVC_CALL_UNCERTAIN', true],
  ['SVC_JOURNAL_FULL', true],
  ['SVC_DISK_FULL', true],
  ['SVC_JOURNAL_UNAVAILABLE', true],
  ['SVC_DATABASE_UNUSABLE', true],
] as const)('%s gets a line in the log: %s', (code, logged) => {
  expect(isLogged(new SvcError(code, 'a message'))).toBe(logged);
});

describe('failures at the server', () => {
  const descriptor = descriptorOf([['GET', '/carts/{id}']]);

  test("the guest's words and its file:line go to the log under the caller's error id", async () => {
    const fault = new GuestFault('trap', 'unreachable', {
      guestMessage: 'abort: no such item at cart.ts:12:3',
    });
    const { port, lines } = await start({
      descriptor,
      handle: () => {
        throw fault;
      },
    });
    const answer = await ask(port, get('/carts/1'));
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('cart.ts');
    const { errorId } = JSON.parse(answer.body) as { errorId: string };
    expect(errorId).toMatch(/^[0-9a-f]{16}$/);
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'The service failed to handle a request.',
        fields: {
          errorId,
          route: 'GET /carts/{id}',
          code: 'trap',
          reason: 'unreachable',
          guestMessage: 'abort: no such item at cart.ts:12:3',
          err: fault,
        },
      },
    ]);
  });

  test('a failure that comes later is answered as one that comes at once', async () => {
    const { port, lines } = await start({
      descriptor,
      handle: () => Promise.reject(new SvcError('SVC_JOURNAL_UNAVAILABLE', 'disk full')),
    });
    const answer = await ask(port, get('/carts/1'));
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(lines.map((line) => [line.fields.code, line.fields.reason])).toEqual([
      ['SVC_JOURNAL_UNAVAILABLE', 'disk full'],
    ]);
  });

  test('a bug of the runtime is an error in the log', async () => {
    const { port, lines } = await start({
      descriptor,
      handle: () => Promise.reject(new TypeError('oops')),
    });
    expect((await ask(port, get('/carts/1'))).status).toBe(500);
    expect(lines.map((line) => [line.level, line.fields.code, line.fields.reason])).toEqual([
      ['error', 'bug', 'oops'],
    ]);
  });

  test('a refusal is the answer to the caller and no line in the log', async () => {
    const { port, lines } = await start({
      descriptor,
      handle: () => ({
        kind: 'refusal',
        code: 'OTHER',
        otherCode: 'OUT_OF_STOCK',
        message: 'No more',
        details: '{"left":0}',
      }),
    });
    const answer = await ask(port, get('/carts/1'));
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.body)).toEqual({
      status: 500,
      error: 'No more',
      details: { left: 0 },
    });
    expect(lines).toEqual([]);
  });
});
