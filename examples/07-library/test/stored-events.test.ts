// Events of a title as every version of this service has stored them: lines are added to the file, and never changed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { expect, test } from 'vitest';
import { DUNE } from './support/samples.ts';

const module = await testModule('assembly/index.ts');
const stored = readFileSync(join(import.meta.dirname, 'stored-events.jsonl'), 'utf8')
  .trimEnd()
  .split('\n');
const title = () => testEntity(module, 'title', DUNE).given(stored);

test('a journal of the first version, which said reader for member, is read', () => {
  title()
    .query('lendings')
    .thenReply([{ member: 'bob', loan: 0 }]);
});

test('a loan of that time ends with an event of today', () => {
  title()
    .when('take-back', { member: 'bob', loan: 0 })
    .thenEvents([{ type: 'taken-back', member: 'bob' }])
    .query('get')
    .thenReply(expect.objectContaining({ copies: 2, lent: 0 }));
});

test('a new event says member, as the last ones of the file do', () => {
  const events = title().when('lend', { member: 'cyd', loan: 4 }).events;
  expect(stored).toContain(JSON.stringify(events[0]));
});
