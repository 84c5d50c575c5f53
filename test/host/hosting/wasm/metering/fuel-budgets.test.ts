// The fuel of each kind of call: folding gets it by the number of events, and freeing and collecting memory has its
// own.
import { describe, expect, test } from 'vitest';
import { GuestFault } from '../../../../../model/guest-fault.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const ENTITY = 'svc:runtime/entity@0.1.0#';
const EVENT = { manifest: 'counted', json: '{}' };
/** Iterations of a loop, one unit each. */
const SPIN = `(func $spin (param $turns i32)
  (loop $l (br_if $l (i32.gt_s (local.tee $turns (i32.sub (local.get $turns) (i32.const 1))) (i32.const 0)))))`;
const post = (name: string) =>
  `${SPIN} (func (export "cabi_post_${name}") (param i32) (call $spin (i32.const 50000)))`;

async function callOnce(name: string, fields: string, limits: object): Promise<void> {
  const { entities, endpoints } = await liveGuest({ fields }, limits);
  if (name === 'handle') {
    await endpoints.handle(CONTEXT, request(0), hostCalls());
    return;
  }
  const entity = await entities.open(entityRef('a'), undefined);
  if (name === 'command') await entity.command(CONTEXT, 'add', '{}');
  else if (name === 'query') await entity.query(CONTEXT, 'get', '{}');
  else if (name === 'apply') await entity.apply([EVENT], undefined);
  else await entity.snapshot();
}

describe('what a module frees once its answer was read', () => {
  const calls = [
    ['command', `${ENTITY}[method]instance.command`, 'commandFuel'],
    ['query', `${ENTITY}[method]instance.query`, 'queryFuel'],
    ['apply', `${ENTITY}[method]instance.apply`, 'applyFuelPerEvent'],
    ['snapshot', `${ENTITY}[method]instance.snapshot`, 'entityFuel'],
    ['handle', 'svc:runtime/http@0.1.0#handle', 'handlerFuel'],
  ] as const;

  test.each(calls)('is not paid by the %s before it', async (name, exportName, limit) => {
    await expect(callOnce(name, post(exportName), { [limit]: 10_000 })).resolves.toBeUndefined();
  });

  test.each(calls)('has a limit of its own after a %s', async (name, exportName) => {
    const { faultCause, limit } = await faultOf(async () =>
      callOnce(name, post(exportName), { collectionFuel: 10_000 }),
    );
    expect([faultCause, limit]).toEqual(['fuel', 'collection-fuel']);
  });
});

describe('folding', () => {
  const parts = {
    fields: SPIN,
    apply: '(call $spin (i32.mul (local.get $count) (i32.const 10000))) (call $clear)',
  };
  const limits = { applyFuelPerEvent: 12_000, applyFuelPerBatch: 30_000 };
  const folding = async (count: number, more: Partial<typeof limits> = {}) => {
    const { entities } = await liveGuest(parts, { ...limits, ...more });
    const entity = await entities.open(entityRef('a'), undefined);
    try {
      await entity.apply(
        Array.from({ length: count }, () => EVENT),
        undefined,
      );
      return 'folded';
    } catch (error) {
      if (error instanceof GuestFault) return error.limit;
      throw error;
    }
  };

  test('has the fuel of all its events together, up to that of a batch', async () => {
    expect(await folding(2)).toBe('folded');
    expect(await folding(3)).toBe('apply-fuel');
    expect(await folding(3, { applyFuelPerBatch: 40_000 })).toBe('folded');
  });

  test('of one event has what an event has, if that is more than a batch', async () => {
    expect(await folding(1, { applyFuelPerEvent: 9000 })).toBe('apply-fuel');
    expect(await folding(1, { applyFuelPerBatch: 100 })).toBe('folded');
    expect(await folding(2, { applyFuelPerEvent: 25_000, applyFuelPerBatch: 100 })).toBe('folded');
  });
});

/** Cost of loads all over the memory. */
const seconds = (units: number) => (units * 12) / 1e9;

test('no call has the fuel for more than eight seconds of its dearest code', () => {
  const { startFuel, entityFuel, commandFuel, queryFuel, ...more } = WASM_LIMITS_DEFAULT;
  const { applyFuelPerEvent, applyFuelPerBatch, handlerFuel, collectionFuel } = more;
  for (const units of [startFuel, entityFuel, commandFuel, queryFuel, applyFuelPerEvent])
    expect(seconds(units)).toBeLessThan(5);
  for (const units of [applyFuelPerBatch, handlerFuel, collectionFuel])
    expect(seconds(units)).toBeLessThan(8);
});
