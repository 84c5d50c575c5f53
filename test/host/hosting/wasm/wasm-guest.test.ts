// A module whose code was changed at random is refused, runs, or faults: the host itself never fails.
import { expect, test } from 'vitest';
import type { HostCalls } from '../../../../model/guest.ts';
import { createWasmGuest } from '../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../host/hosting/wasm/wasm-limits.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { counter } from './support/counter.ts';
import { guestModule, mainCore } from './support/guest-module.ts';
import { CONTEXT, entityRef, request } from './support/live-guest.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const ROUNDS = 300;
const limits = {
  ...WASM_LIMITS_DEFAULT,
  startFuel: 100_000,
  entityFuel: 100_000,
  commandFuel: 100_000,
  queryFuel: 100_000,
  handlerFuel: 100_000,
  memoryPagesMax: 8,
};
const calls: HostCalls = {
  nowMs: () => 1,
  call: async () => ({ kind: 'reply', json: '{}' }),
  ...WITHOUT_TIMERS,
  readEvents: async () => [],
};

/** Runs the work and returns how it ended; rethrows any error that is neither a refusal nor a fault. */
async function ending(work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    if (error instanceof GuestFault) return 'fault';
    if (error instanceof SvcError && error.code.startsWith('SVC_MODULE_')) return 'refused';
    throw error;
  }
}

async function runEverything(bytes: Uint8Array): Promise<string[]> {
  const guest = await createWasmGuest(bytes, limits);
  const endings: string[] = [];
  for (const name of ['add', 'log', 'boom', 'clock', 'delete', 'refuse'])
    endings.push(
      await ending(async () => {
        const entity = await guest.entities.open(entityRef('a'), '12');
        await entity.apply([{ manifest: 'counted', json: '{}' }], undefined);
        await entity.command(CONTEXT, name, '{}');
        await entity.query(CONTEXT, 'get', 'x');
        await entity.snapshot();
        entity.close();
      }),
    );
  for (let route = 0; route < 10; route++)
    endings.push(
      await ending(async () => {
        const body = { kind: 'text', text: 't' } as const;
        const asked = request(route, { parameters: ['a'], headers: [['a', 'b']], body });
        await guest.endpoints.handle(CONTEXT, asked, calls);
      }),
    );
  await guest.close();
  return endings;
}

test('a module with changed code never brings the host down', async () => {
  const good = await guestModule(counter);
  const core = mainCore(good);
  const codeAt = core.byteOffset - good.byteOffset;
  let state = 2_463_534_242;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = Buffer.from(good);
    for (let changes = random(2); changes >= 0; changes--)
      bytes[codeAt + random(core.length)] = random(256);
    let endings: string[] = [];
    seen.add(
      await ending(async () => {
        endings = await runEverything(bytes);
      }),
    );
    for (const end of endings) seen.add(end);
  }
  expect([...seen].toSorted()).toEqual(['done', 'fault', 'refused']);
});
