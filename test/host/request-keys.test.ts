// The keys that the calls of one request get.
import { expect, test } from 'vitest';
import type { Metadata } from '../../host/model/call.ts';
import { RequestCalls } from '../../host/request-calls.ts';
import { RequestKeys, ownKey } from '../../host/request-keys.ts';

const TARGET = { component: 'Cart', id: 'c1' };
const REPLY = { kind: 'reply', json: '1' } as const;
const NO_METADATA: Metadata = [];

/** Calls of a request whose engine notes the keys. */
function callsOf(requestKey: string | undefined, isAhead = true) {
  const keys: (string | undefined)[] = [];
  const noted = (...call: readonly unknown[]) => {
    keys.push(call[4] as string | undefined);
    return REPLY;
  };
  const engine = {
    call: noted,
    readEvents: () => Promise.resolve([]),
    ...(isAhead ? { callAhead: noted } : {}),
  };
  const calls = new RequestCalls(
    engine,
    { nowMs: () => 1 },
    undefined,
    requestKey === undefined ? undefined : new RequestKeys(requestKey),
  );
  const call = (key?: string): void => {
    if (calls.callAhead === undefined) void calls.call(TARGET, 'add', '1', NO_METADATA, key);
    else void calls.callAhead(TARGET, 'add', '1', NO_METADATA, key);
  };
  return { keys, calls, call };
}

test('each call has that of the request and its ordinal, and one of its own where the handler sets it', () => {
  for (const isAhead of [true, false]) {
    const { keys, call } = callsOf('k/0', isAhead);
    for (const key of [undefined, undefined, 'mine', undefined]) call(key);
    expect(keys).toEqual(['k/0.1', 'k/0.2', 'mine/=', 'k/0.4']);
  }
});

test('a request without a key gives none, and its handler may', () => {
  const { keys, call, calls } = callsOf(undefined);
  call();
  call('mine');
  expect(keys).toEqual([undefined, 'mine/=']);
  expect(calls.seed).toBeUndefined();
});

test('a handler that is run again goes on counting where it was', () => {
  const { keys, calls, call } = callsOf('k/0');
  call();
  call();
  calls.runAgain();
  for (let again = 0; again < 4; again++) call();
  expect(keys).toEqual(['k/0.1', 'k/0.2', 'k/0.3', 'k/0.4']);
});

function seedOf(key: string): bigint {
  return new RequestKeys(key).seed;
}

test('the chance of a request follows from its key', () => {
  expect(seedOf('k/0')).toBe(seedOf('k/0'));
  expect(seedOf('k/0')).not.toBe(seedOf('k/1'));
  expect(seedOf('k/0')).toBeLessThan(2n ** 64n);
});

test('what a handler sets is never that of a request, and an empty one stays none', () => {
  expect(ownKey('k/0.1')).toBe('k/0.1/=');
  expect(ownKey('')).toBe('');
});
