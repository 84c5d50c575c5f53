// LocatedLog: the location of a fault follows its line, once, and no code that logs waits for it.
import { describe, expect, test } from 'vitest';
import type { SourceLocation } from '@svc/contract';
import type { FaultEntry } from '../../../host/model/fault-entry.ts';
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
const PLACE = { file: 'assembly/index.ts', line: 3, column: 5, function: 'bill.share' };
const AT = 'at assembly/index.ts:3:5 (bill.share)';

function placedLog(place: SourceLocation | undefined = PLACE) {
  const written: string[] = [];
  const asked: FaultySpan[] = [];
  const found = Promise.withResolvers<readonly SourceLocation[]>();
  const placed = new LocatedLog(
    ({ message }) => void written.push(message),
    async (span) => {
      asked.push(span);
      return found.promise;
    },
  );
  return { placed, written, asked, find: () => found.resolve(place === undefined ? [] : [place]) };
}

describe('a line of the log', () => {
  test('that tells of no fault is written at once', () => {
    const { placed, written, asked } = placedLog();
    placed.log(line('one'));
    placed.log(line('two'));
    expect([written, asked]).toEqual([['one', 'two'], []]);
  });

  test('that tells of a fault has its place below it, and what comes meanwhile below that', async () => {
    const { placed, written, asked, find } = placedLog();
    placed.log(failed);
    placed.log(line('later'));
    await Promise.resolve();
    expect(written).toEqual(['an entity failed']);
    find();
    await placed.settled();
    expect(written).toEqual(['an entity failed', AT, 'later']);
    expect(asked).toMatchObject([{ kind: 'command', component: 'bill', handler: 'share' }]);
    placed.log(line('last'));
    expect(written.at(-1)).toBe('last');
  });

  test('of the request that failed with an entity does not say the place again, another does', async () => {
    const { placed, written, find } = placedLog();
    find();
    for (const entry of [failed, request, line('between'), request]) placed.log(entry);
    await placed.settled();
    const texts = ['an entity failed', AT, 'a request', 'between', 'a request', AT];
    expect(written).toEqual(texts);
  });

  test('stands alone when its place is not known', async () => {
    const { placed, written, find } = placedLog({ ...PLACE, column: null, function: null });
    const none = placedLog();
    find();
    placed.log(failed);
    none.placed.log({ ...failed, frames: undefined });
    await Promise.all([placed.settled(), none.placed.settled()]);
    expect(written).toEqual(['an entity failed', 'at assembly/index.ts:3']);
    expect([none.written, none.asked]).toEqual([['an entity failed'], []]);
  });

  test('among very many is written without its place', async () => {
    const { placed, written, asked, find } = placedLog();
    placed.log(failed);
    const many = Array.from({ length: 300 }, (_, at): FaultEntry => {
      const place = [{ functionIndex: at, offset: 0 }];
      return { ...failed, message: `${at}`, frames: place };
    });
    for (const entry of many) placed.log(entry);
    find();
    await placed.settled();
    expect(written.filter((text) => text !== AT)).toEqual([
      'an entity failed',
      ...many.map(({ message }) => message),
    ]);
    // The first fault is located, and those that follow once fewer lines wait.
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.length).toBeLessThan(150);
  });
});
