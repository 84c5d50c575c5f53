// The pure parts of screens: positions on the timeline, marks in a state, groups of faults, the list of services.
import type { ListedService, LiveSecond, StoredEntity } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { answerBody, refusalOf } from '../../../../console/page/view/answer-view.ts';
import { entityPageText } from '../../../../console/page/view/entity-page.ts';
import { faultAdvice, faultIn } from '../../../../console/page/view/fault-advice.ts';
import {
  comingsAndGoings,
  knownServices,
  soleService,
  successor,
} from '../../../../console/page/view/known-services.ts';
import {
  latencyHeight,
  latencyPath,
  secondAt,
  secondPosition,
} from '../../../../console/page/view/latency-scale.ts';
import { outerPaths, stateMarks } from '../../../../console/page/view/state-marks.ts';
import {
  MARKS_MAX,
  pageStart,
  sequencePosition,
  timelineMarks,
} from '../../../../console/page/view/timeline-marks.ts';
import { TRAP } from '../../fake/traces.ts';

const entityPage = (shown: number, total: number, totalCapped = false) => ({
  entities: Array.from({ length: shown }, () => ({}) as StoredEntity),
  total,
  totalCapped,
});

test('a page of entities says which they are', () => {
  expect(entityPageText(entityPage(12, 12), 0)).toBe('12 entities');
  expect(entityPageText(entityPage(1, 1), 0)).toBe('1 entity');
  expect(entityPageText(entityPage(50, 1_234), 50)).toBe('51–100 of 1,234 entities');
  expect(entityPageText(entityPage(50, 100_000, true), 0)).toBe(
    '1–50 of more than 100,000 entities',
  );
  expect(entityPageText(entityPage(0, 51), 50)).toBe('51 entities');
});

describe('the line of an entity', () => {
  test('has a mark for each event, from one end to the other', () => {
    const marks = timelineMarks(5);
    expect(marks.map(({ position }) => position)).toEqual([0, 25, 50, 75, 100]);
    expect(timelineMarks(1)).toEqual([{ first: 1, last: 1, position: 0 }]);
    expect(timelineMarks(0)).toEqual([]);
  });

  test.each([160, 161, 1234, 1_000_000])('of %d events has every one in one mark', (total) => {
    const marks = timelineMarks(total);
    expect(marks.length).toBeLessThanOrEqual(MARKS_MAX);
    let next = 1;
    for (const { first, last } of marks) {
      expect(first).toBe(next);
      next = last + 1;
    }
    expect(next).toBe(total + 1);
    expect(sequencePosition(total, total)).toBe(100);
  });

  test('is asked for in pages', () => {
    expect([1, 50, 51, 100].map((seq) => pageStart(seq, 50))).toEqual([1, 1, 51, 51]);
  });
});

describe('what an event changed', () => {
  test('is marked at its place, and what is around it is open', () => {
    const marks = stateMarks([
      { path: '$.items[0]["a.b[1]"].c', before: '1', after: '2' },
      { path: 'gone', before: '1', after: null },
      { path: '$', before: null, after: '{}' },
    ]);
    expect(marks.kindAt('items[0]["a.b[1]"].c')).toBe('changed');
    expect(marks.kindAt('gone')).toBe('removed');
    expect(marks.kindAt('')).toBe('added');
    expect(marks.isAround('items[0]["a.b[1]"]')).toBe(true);
    expect(marks.isAround('items[0]["a')).toBe(false);
  });

  test('lies within all its outer places', () => {
    expect(outerPaths('a.b[0].c')).toEqual(['', 'a', 'a.b', 'a.b[0]']);
    expect(outerPaths(String.raw`["x\"]."].y`)).toEqual(['', String.raw`["x\"]."]`]);
    expect(outerPaths('')).toEqual([]);
  });
});

const code = (name: string) => ({ ...TRAP, code: name });
describe('a fault', () => {
  test('is distinguished from other contents of a problem', () => {
    expect(faultIn(TRAP)).toBe(TRAP);
    for (const other of [undefined, null, 'trap', { code: 'SVC_STOPPING' }, { ...TRAP, places: 1 }])
      expect(faultIn(other)).toBeUndefined();
  });

  test('says what to do, whatever the code is', () => {
    expect(faultAdvice(TRAP, false).word).toBe('Trap');
    expect(faultAdvice(code('CONFLICT'), true).word).toBe('Conflict');
    expect(faultAdvice(code('CONFLICT'), true).advice).toContain('present state');
    expect(faultAdvice(code('constructor'), true).advice).toContain('The message says why.');
    expect(faultAdvice(code('SVC_STOPPING'), true).advice).toContain('SVC_STOPPING.md');
    expect(faultAdvice(code('SVC_OVERLOADED'), false).advice).toContain('SVC_OVERLOADED.md');
    expect(faultAdvice(code('constructor'), false).word).toBe('Constructor');
  });
});

const service = (instanceId: string, more: Partial<ListedService> = {}): ListedService => ({
  instanceId,
  name: 'cart',
  pid: 1,
  startedAt: `2026-01-01T00:00:0${instanceId}.000Z`,
  state: 'running',
  address: null,
  observabilityAddress: 'http://127.0.0.1:1',
  problem: null,
  ...more,
});

describe('the list of services', () => {
  test('keeps one that went for ten seconds, and counts from when it was first seen gone', () => {
    const first = knownServices([], [service('1')], 0);
    const gone = knownServices(first, [service('1', { state: 'gone' })], 2000);
    expect(gone[0]).toMatchObject({ state: 'gone', endedMs: 2000 });
    const later = knownServices(gone, [], 11_000);
    expect(later[0]).toMatchObject({ state: 'gone', endedMs: 2000 });
    expect(knownServices(later, [], 12_000)).toEqual([]);
  });

  test('says which started and which ended', () => {
    const before = knownServices([], [service('1'), service('2', { name: 'till' })], 0);
    const after = knownServices(before, [service('1'), service('3', { name: 'ledger' })], 1);
    expect(comingsAndGoings(before, after)).toEqual(['ledger started', 'till ended']);
  });

  test('knows which came in the place of one that is gone: the newest of its name', () => {
    const all = [
      service('1', { state: 'gone' }),
      service('2'),
      service('3'),
      service('4', { name: 'till' }),
    ];
    expect(successor(knownServices([], all, 0), 'cart')?.instanceId).toBe('3');
    expect(successor(knownServices([], all, 0), 'ledger')).toBeUndefined();
  });

  test('is chosen by itself while no other runs', () => {
    const gone = service('1', { state: 'gone' });
    const one = knownServices([], [gone, service('2')], 0);
    expect(soleService(one)?.instanceId).toBe('2');
    expect(soleService(knownServices(one, [service('2'), service('3')], 0))).toBeUndefined();
    expect(soleService(knownServices([], [gone], 0))).toBeUndefined();
  });
});

const second = (ms: number | null) => ({ p50Ms: ms }) as LiveSecond;

describe('the latency plot', () => {
  test('is ten times as fast one step lower', () => {
    expect([0.01, 0.1, 1, 10_000, 99_999].map(latencyHeight)).toEqual([0, 0, 0.2, 1, 1]);
  });

  test('has a gap where there was no request', () => {
    const seconds = [second(1), second(null), second(1), second(10)];
    const path = latencyPath(seconds, (one) => one.p50Ms, { width: 120, height: 10 });
    expect(path).toBe('M116.15 8h0.7M118.15 8h0.7L119.5 6');
  });

  test('finds the second under the pointer', () => {
    for (const at of [0, 1, 59]) expect(secondAt(secondPosition(at, 60), 60)).toBe(at);
    expect(secondAt(0.1, 60)).toBeUndefined();
  });
});

const answer = (body: string, type: string, bodyIsBase64 = false) =>
  answerBody({
    status: 200,
    headers: [['Content-Type', type]],
    body,
    bodyIsBase64,
    durationMs: 1,
    traceId: '',
  });

describe('the body of an answer', () => {
  test('is JSON, text, bytes or nothing', () => {
    expect(answer('{}', 'application/problem+json; charset=utf-8').kind).toBe('json');
    expect(answer('{', 'application/json').kind).toBe('text');
    expect(answer('{}', 'text/plain').kind).toBe('text');
    expect(answer('', 'application/json').kind).toBe('none');
    expect(answer('AEEg', 'image/png', true)).toEqual({
      kind: 'bytes',
      length: 3,
      hex: `000000  ${'00 41 20'.padEnd(47)}  .A `,
    });
  });

  test('tells the message of a refusal', () => {
    expect(refusalOf('{"status":409,"error":"no"}')).toBe('no');
    expect(refusalOf('[1]')).toBeUndefined();
    expect(refusalOf('oops')).toBeUndefined();
  });
});
