// FaultCauses: failures without duplicates, with the route that led to each.
import type { Fault } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { faultCauses, faultName, groupFaults } from '../../../../console/page/view/fault-causes.ts';
import { DESCRIPTION } from '../../fake/description.ts';
import { TRAP } from '../../fake/traces.ts';

const { routes } = DESCRIPTION;
const addItem = routes.find(({ handler }) => handler === 'addItem')!;

function failed(at: string, traceId: string | null, more: Partial<Fault['fault']> = {}): Fault {
  return {
    at: `2030-01-02T03:04:${at}Z`,
    traceId,
    component: 'shopping-cart',
    handler: 'addItem',
    entityId: 'cart-1',
    outcome: 'Failed',
    fault: { ...TRAP, errorId: null, ...more },
  };
}

function request(at: string, traceId: string | null, more: Partial<Fault['fault']> = {}): Fault {
  const { endpoint: component, handler } = addItem;
  return { ...failed(at, traceId, more), component, handler, entityId: null };
}

describe('a call that failed', () => {
  test('is listed once, with its route and the error id that the caller received', () => {
    const call = failed('05.001', 'a');
    const causes = faultCauses([request('05.002', 'a', { errorId: 'told' }), call], routes);
    expect(causes).toEqual([
      { fault: { ...call, fault: { ...call.fault, errorId: 'told' } }, route: addItem },
    ]);
  });

  test('has the route of its own request when its trace has several', () => {
    const [second, first] = [failed('07.001', 'a'), failed('05.001', 'a')];
    const causes = faultCauses(
      [
        request('07.002', 'a', { errorId: '2' }),
        second,
        request('05.002', 'a', { errorId: '1' }),
        first,
      ],
      routes,
    );
    expect(causes.map(({ fault: { at, fault } }) => [at, fault.errorId])).toEqual([
      [second.at, '2'],
      [first.at, '1'],
    ]);
  });

  test('has no route when no request failed with it', () => {
    const call = failed('05.001', 'a');
    expect(faultCauses([call], routes)).toEqual([{ fault: call, route: undefined }]);
  });
});

describe('a request that failed', () => {
  test.each([
    ['by itself', []],
    ['in another trace', [failed('05.001', 'b')]],
    ['where neither trace is known', [failed('05.001', null)]],
    ['before the call did', [failed('05.003', 'a')]],
    ['for another reason', [failed('05.001', 'a', { reason: 'another' })]],
    ['with another code', [failed('05.001', 'a', { code: 'fuel' })]],
    ['with other words', [failed('05.001', 'a', { guestMessage: 'another' })]],
  ])('%s has an entry of its own', (how, others) => {
    const own = request('05.002', how === 'where neither trace is known' ? null : 'a');
    const causes = faultCauses([own, ...others], routes);
    expect(causes).toEqual([
      { fault: own, route: addItem },
      ...others.map((fault) => ({ fault, route: undefined })),
    ]);
  });
});

test('the end of a shard is a fault of the runtime, not of a component', () => {
  expect(faultName(failed('05.000', 'a'))).toBe('shopping-cart.addItem');
  expect(faultName({ ...failed('05.000', null), component: '', handler: '' })).toBe('the runtime');
});

test('faults at the same source location are one row, which shows the newest', () => {
  const newest = failed('05.000', 'a');
  const other = failed('04.000', 'b', {
    places: [{ file: 'other.ts', line: 1, column: null, function: null }],
  });
  const groups = groupFaults(faultCauses([newest, other, failed('03.000', 'c')], routes));
  expect(groups.map(({ newest: { fault }, count }) => [fault.at, count])).toEqual([
    [newest.at, 2],
    [other.at, 1],
  ]);
});
