import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalOrder, isDecimal } from '@svc/contract';

const decimal = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^(0|[1-9]\d{0,49})$/),
    fc.option(fc.stringMatching(/^\d{1,50}$/), { nil: undefined }),
  )
  .map(([sign, whole, fraction]) => sign + whole + (fraction === undefined ? '' : `.${fraction}`))
  .filter(isDecimal);

/** The decimal as a whole number of units of 10^-50. */
function units(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const size = BigInt(whole + fraction.padEnd(50, '0'));
  return text.startsWith('-') ? -size : size;
}

const sign = (a: bigint | string, b: bigint | string) => (a < b ? -1 : a > b ? 1 : 0);

test('the order of decimals is that of their numbers', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      expect(sign(decimalOrder(a), decimalOrder(b))).toBe(sign(units(a), units(b)));
    }),
    { numRuns: 5000 },
  );
});

test.each([
  ['-10', '-9.5', '-9.49', '-0.01', '-0.001', '0', '0.001', '0.01', '1', '9', '12.5', '100'],
  [`-${'9'.repeat(100)}`, `-0.${'0'.repeat(98)}1`, '0.0', `0.${'0'.repeat(98)}1`, '9'.repeat(100)],
])('decimals in order stay in order: %s …', (...texts) => {
  const orders = texts.map(decimalOrder);
  expect(orders).toEqual(orders.toSorted());
  expect(new Set(orders).size).toBe(orders.length);
});

test.each([
  ['12.5', '12.50'],
  ['-0.10', '-0.1'],
  ['0', '0.00'],
  ['100', '100.000'],
])('%s is equal to %s', (a, b) => {
  expect(decimalOrder(a)).toBe(decimalOrder(b));
});
