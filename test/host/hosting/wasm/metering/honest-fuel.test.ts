// A legitimate command of 20 KB uses a small part of its fuel: the order of fixtures/order, which looks up each of
// its lines among all others.
import { beforeAll, describe, expect, test } from 'vitest';
import { admitModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { FUEL_EXPORT } from '../../../../../host/hosting/wasm/metering/module-rewriter.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { compileFixture } from '../../../../support/compile-fixture.ts';
import { CoreGuest } from '../../../../support/core-guest.ts';

const LINES = Array.from({ length: 200 }, (_, index) => ({
  sku: `SKU-${index}`,
  name: `A thing with a name ${index}`,
  quantity: index,
  cents: 100 * index,
  note: 'a note of some words',
}));
const INPUT = JSON.stringify(LINES);
const { commandFuel, queryFuel, applyFuelPerEvent } = WASM_LIMITS_DEFAULT;

describe('an order of 20 KB', () => {
  let guest: CoreGuest;
  let fuel: WebAssembly.Global;
  beforeAll(async () => {
    guest = new CoreGuest(admitModule(await compileFixture('order')).compiled);
    fuel = guest.exports[FUEL_EXPORT] as WebAssembly.Global;
  });

  /** How many times the budget would pay for the call. */
  function timesOver(budget: number, call: () => unknown): number {
    fuel.value = budget;
    call();
    return budget / (budget - (fuel.value as number));
  }

  test('is placed, folded and read for a small part of the fuel', () => {
    expect(INPUT.length).toBeGreaterThan(20_000);
    const entity = guest.open('order', 'one');
    const effects: ReturnType<CoreGuest['command']>[] = [];
    const placing = timesOver(commandFuel, () =>
      effects.push(guest.command(entity, 'place', INPUT)),
    );
    expect(placing).toBeGreaterThan(25);
    const [effect] = effects;
    if (effect === undefined || !('ok' in effect)) throw new Error('the order was refused');
    const folding = timesOver(applyFuelPerEvent, () => guest.apply(entity, effect.ok.events));
    expect(folding).toBeGreaterThan(40);
    expect(timesOver(queryFuel, () => guest.query(entity, 'get', 'null'))).toBeGreaterThan(150);
    const change = '{"sku":"SKU-150","quantity":4}';
    expect(
      timesOver(commandFuel, () => guest.command(entity, 'change-quantity', change)),
    ).toBeGreaterThan(2000);
  });

  test('leaves room for the largest event there may be', () => {
    const entity = guest.open('order', 'two');
    const lines = Array.from({ length: 9500 }, (_, index) => ({
      ...LINES[0]!,
      sku: `S${index}`,
    }));
    const json = JSON.stringify({ type: 'placed', lines });
    expect(json.length).toBeGreaterThan(900_000);
    const folding = timesOver(applyFuelPerEvent, () => {
      expect(guest.apply(entity, [{ manifest: 'order-event', json }])).toBeUndefined();
    });
    expect(folding).toBeGreaterThan(1);
  });
});
