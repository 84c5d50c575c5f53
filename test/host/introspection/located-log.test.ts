// LocatedLog: the location of a fault follows its line, once, and no code that logs waits for it.
import { describe, expect, test } from 'vitest';
import type { SourceLocation } from '@svc/contract';
import type { FaultEntry } from '../../../model/fault-entry.ts';
import type { FaultySpan } from '../../../host/introspection/located-faults.ts';
import { LocatedLog } from '../../../host/introspection/located-log.ts';

const frames = [{ functionIndex: 1, offset: 2 }];
const entity = { component: 'bill', entity: 'table-1', handler: 'share', code: 'trap' };
const failed: FaultEntry = { level: 'warn', message: 'an entity failed', fields: entity, frames };
const request: FaultEntry = {
  ...failed,
  message: 'a request',
  fields: { route: 'GET /bills/{id}' },
};
const line = (message: string): FaultEntry => ({ level: 'info', message });
const LOCATION = { file: 'assembly/index.ts', line: 3, column: 5, function: 'bill.share' };
const AT = 'at assembly/index.ts:3:5 (bill.share)';

function locatedLog(location: SourceLocation | undefined = LOCATION) {
  const written: string[] = [];
  const asked: FaultySpan[] = [];
  const found = Promise.withResolvers<readonly SourceLocation[]>();
  const located = new LocatedLog(
    ({ message }) => void written.push(message),
    async (span) => {
      asked.push(span);
      return found.promise;
    },
  );
  return {
    located,
    written,
    asked,
    find: () => found.resolve(location === undefined ? [] : [location]),
  };
}

describe('a line of the log', () => {
  test('without a fault is written at once', () => {
    const { located, written, asked } = locatedLog();
    located.log(line('one'));
    located.log(line('two'));
    expect([written, asked]).toEqual([['one', 'two'], []]);
  });

  test('with a fault is followed by its location, and later lines by theirs', async () => {
    const { located, written, asked, find } = locatedLog();
    located.log(failed);
    located.log(line('later'));
    await Promise.resolve();
    expect(written).toEqual(['an entity failed']);
    find();
    await located.settled();
    expect(written).toEqual(['an entity failed', AT, 'later']);
    expect(asked).toMatchObject([{ kind: 'command', component: 'bill', handler: 'share' }]);
    located.log(line('last'));
    expect(written.at(-1)).toBe('last');
  });

  test('of a consumer is located in the code of the consumer, and not of the entity', async () => {
    const { located, asked, find } = locatedLog();
    find();
    const fields = { consumer: 'ledger', component: 'bill', entity: 'table-1', seq: 1 };
    located.log({ ...failed, message: 'a consumer failed', fields });
    await located.settled();
    expect(asked).toMatchObject([{ kind: 'consumer', component: 'ledger', handler: 'bill' }]);
  });

  test('of the request that failed with an entity does not repeat the location, another does', async () => {
    const { located, written, find } = locatedLog();
    find();
    for (const entry of [failed, request, line('between'), request]) located.log(entry);
    await located.settled();
    const texts = ['an entity failed', AT, 'a request', 'between', 'a request', AT];
    expect(written).toEqual(texts);
  });

  test('stands alone when its location is unknown', async () => {
    const { located, written, find } = locatedLog({ ...LOCATION, column: null, function: null });
    const none = locatedLog();
    find();
    located.log(failed);
    none.located.log({ ...failed, frames: undefined });
    await Promise.all([located.settled(), none.located.settled()]);
    expect(written).toEqual(['an entity failed', 'at assembly/index.ts:3']);
    expect([none.written, none.asked]).toEqual([['an entity failed'], []]);
  });

  test('among very many is written without its location', async () => {
    const { located, written, asked, find } = locatedLog();
    located.log(failed);
    const many = Array.from({ length: 300 }, (_, at): FaultEntry => {
      const frame = [{ functionIndex: at, offset: 0 }];
      return { ...failed, message: `${at}`, frames: frame };
    });
    for (const entry of many) located.log(entry);
    find();
    await located.settled();
    expect(written.filter((text) => text !== AT)).toEqual([
      'an entity failed',
      ...many.map(({ message }) => message),
    ]);
    // The first fault is located, and those that follow once fewer lines wait.
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.length).toBeLessThan(150);
  });
});
