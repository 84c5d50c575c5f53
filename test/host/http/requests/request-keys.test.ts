// The keys that the calls of one request get.
import { describe, expect, test } from 'vitest';
import type { Metadata } from '../../../../model/call.ts';
import { callFailure } from '../../../../model/call-failure.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import { RequestKeys, ownKey } from '../../../../host/http/requests/request-keys.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const REPLY = { kind: 'reply', json: '1' } as const;
const NO_METADATA: Metadata = [];

/** Calls of a request whose engine notes the keys. */
function callsOf(requestKey: string | undefined, isSpeculative = true) {
  const keys: (string | undefined)[] = [];
  const noted = (...call: readonly unknown[]) => {
    keys.push(call[4] as string | undefined);
    return REPLY;
  };
  const engine = {
    call: noted,
    ...WITHOUT_TIMERS,
    readEvents: () => Promise.resolve([]),
    ...(isSpeculative ? { speculate: noted } : {}),
  };
  const calls = new RequestCalls(
    engine,
    { nowMs: () => 1 },
    undefined,
    requestKey === undefined ? undefined : new RequestKeys(requestKey),
  );
  const call = (key?: string, name = 'add', id = 'c1'): void => {
    const target = { component: 'Cart', id };
    if (calls.speculate === undefined) void calls.call(target, name, '1', NO_METADATA, key);
    else void calls.speculate(target, name, '1', NO_METADATA, key);
  };
  return { keys, calls, call };
}

test('each call has that of the request, its command and its ordinal, and one of its own where the handler sets it', () => {
  for (const isSpeculative of [true, false]) {
    const { keys, call } = callsOf('k/0', isSpeculative);
    for (const key of [undefined, undefined, 'mine', undefined]) call(key);
    expect(keys).toEqual(['k/0.add.1', 'k/0.add.2', 'mine/=', 'k/0.add.4']);
  }
});

test('calls of other commands and entities shift nothing', () => {
  const { keys, call } = callsOf('k/0');
  call(undefined, 'total');
  call(undefined, 'add', 'c2');
  call();
  call(undefined, 'take');
  expect(keys).toEqual(['k/0.total.1', 'k/0.add.1', 'k/0.add.1', 'k/0.take.1']);
});

test('a request without a key gives none, and its handler may', () => {
  const { keys, call } = callsOf(undefined);
  call();
  call('mine');
  expect(keys).toEqual([undefined, 'mine/=']);
});

test('a handler that is run again goes on counting where it was', () => {
  const { keys, calls, call } = callsOf('k/0');
  call();
  call();
  calls.beginReplay();
  for (let again = 0; again < 4; again++) call();
  expect(keys).toEqual(['k/0.add.1', 'k/0.add.2', 'k/0.add.3', 'k/0.add.4']);
});

test('a call that was abandoned for lack of stack is made again with its key', () => {
  const keys: (string | undefined)[] = [];
  const calls = new RequestCalls(
    {
      call: (...call) => {
        keys.push(call[4]);
        return REPLY;
      },
      ...WITHOUT_TIMERS,
      readEvents: () => Promise.resolve([]),
      speculate: (...call) => {
        keys.push(call[4]);
        throw new GuestFault('stack', 'The module used up its stack.', { limit: 'stack' });
      },
    },
    { nowMs: () => 1 },
    undefined,
    new RequestKeys('k/0'),
  );
  const target = { component: 'Cart', id: 'c1' };
  expect(calls.speculate!(target, 'add', '1', NO_METADATA, undefined)).toBeUndefined();
  calls.beginReplay();
  expect(calls.call(target, 'add', '1', NO_METADATA, undefined)).toEqual(REPLY);
  expect(keys).toEqual(['k/0.add.1', 'k/0.add.1']);
});

test('what a handler sets is never that of a request', () => {
  expect(ownKey('k/0.add.1')).toBe('k/0.add.1/=');
});

describe.each([
  ['where it cannot wait', true],
  ['where it can', false],
])('a key that a handler sets %s', (_where, isSpeculative) => {
  test.each([
    ['is empty', '', 'is empty'],
    ['is too long', 'k'.repeat(1023), 'is longer than 1022 characters'],
    ['has a space', 'loan 1', 'has a character that is not visible ASCII'],
    ['is not ASCII', 'café', 'has a character that is not visible ASCII'],
  ])('and that %s fails the call, which is not made', async (_what, key, problem) => {
    const { keys, calls, call } = callsOf('k/0', isSpeculative);
    const failure = await Promise.resolve()
      .then(() => call(key))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'SVC_IDEMPOTENCY_KEY_INVALID',
      message: expect.stringContaining(`'add' of component 'Cart' ${problem}. `) as string,
    });
    expect(keys).toEqual([]);
    const told = callFailure(failure)!;
    expect(told.word).toBe('INTERNAL');
    const passedOn = { kind: 'refusal', code: 'OTHER', message: told.text } as const;
    expect(calls.failurePassedOnBy({ ...passedOn, otherCode: told.word })).toBe(failure);
    call();
    expect(keys).toEqual(['k/0.add.2']);
  });

  test('may have as many characters as the entity takes with its mark', () => {
    const { keys, call } = callsOf(undefined, isSpeculative);
    call('k'.repeat(1022));
    expect(keys).toEqual([`${'k'.repeat(1022)}/=`]);
  });
});
