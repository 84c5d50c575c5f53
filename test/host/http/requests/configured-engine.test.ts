// How handlers read the configuration of their module: without the engine, and with the same values when they are run again.
import { expect, test } from 'vitest';
import { CONFIGURATION_COMPONENT } from '../../../../contract/index.ts';
import type { CallableEngine } from '../../../../host/http/requests/callable-engine.ts';
import { configuredEngine } from '../../../../host/http/requests/configured-engine.ts';
import { RequestCalls } from '../../../../host/http/requests/request-calls.ts';
import type { Reply } from '../../../../model/call.ts';
import { CurrentConfiguration } from '../../../../model/configuration.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const SETTINGS = { component: CONFIGURATION_COMPONENT, id: '' };
const reply: Reply = { kind: 'reply', json: '"of the engine"' };

function engine(called: string[]): CallableEngine {
  return {
    ...WITHOUT_TIMERS,
    readEvents: async () => [],
    call: ({ component }) => (called.push(component), Promise.resolve(reply)),
    speculate: ({ component }) => (called.push(component), reply),
  };
}

const clock = { nowMs: () => 1 };

test('a read is answered at once, and reaches no engine', () => {
  const called: string[] = [];
  const current = new CurrentConfiguration({ json: '{"fee":1}', secrets: [] });
  const calls = new RequestCalls(configuredEngine(engine(called), current), clock);
  const read = calls.speculate!(SETTINGS, 'read', '', [], undefined);
  expect(read).toEqual({ kind: 'reply', json: '{"fee":1}' });
  expect(calls.isSpeculative).toBe(false);
  expect(calls.speculate!({ component: 'loan', id: 'a' }, 'get', '', [], undefined)).toBe(reply);
  expect(called).toEqual(['loan']);
});

test('a handler that is run again reads the values of its first run, and the next request those that are new', async () => {
  const current = new CurrentConfiguration({ json: '{"fee":1}', secrets: [] });
  const configured = configuredEngine(engine([]), current);
  const calls = new RequestCalls(configured, clock);
  calls.speculate!(SETTINGS, 'read', '', [], undefined);
  current.texts = { json: '{"fee":2}', secrets: [] };
  calls.beginReplay();
  expect(await calls.call(SETTINGS, 'read', '', [], undefined)).toMatchObject({
    json: '{"fee":1}',
  });
  const next = new RequestCalls(configured, clock);
  expect(await next.call(SETTINGS, 'read', '', [], undefined)).toMatchObject({ json: '{"fee":2}' });
});

test('a module without a configuration finds none', async () => {
  const called: string[] = [];
  const calls = new RequestCalls(
    configuredEngine(engine(called), new CurrentConfiguration()),
    clock,
  );
  expect(await calls.call(SETTINGS, 'read', '', [], undefined)).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(called).toEqual([]);
});

test('a secret is replaced wherever it is in a text, the longest one first', () => {
  const current = new CurrentConfiguration({ json: '{}', secrets: ['key-and-more', 'key-and'] });
  expect(current.withoutSecrets('key-and-more, key-and, key-and')).toBe('***, ***, ***');
  expect(new CurrentConfiguration().withoutSecrets('key-and')).toBe('key-and');
});
