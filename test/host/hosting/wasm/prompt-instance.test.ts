// Handlers that are served without waiting, with an engine behind them: one that would have to wait is
// served again as if nothing had happened, and whatever a module does meanwhile, engine and entities
// stay whole.
import { describe, expect, test } from 'vitest';
import { createEngine } from '../../../../host/engine/entity-engine.ts';
import type { HostCalls } from '../../../../host/engine/needs/guest.ts';
import type { MemoryImage } from '../../../../host/hosting/wasm/memory-image.ts';
import { PromptInstance } from '../../../../host/hosting/wasm/prompt-instance.ts';
import { createWasmGuest } from '../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT, type WasmLimits } from '../../../../host/hosting/wasm/wasm-limits.ts';
import { GuestFault } from '../../../../host/model/guest-fault.ts';
import { SvcError } from '../../../../host/model/svc-error.ts';
import { requestHandler } from '../../../../host/request-handler.ts';
import { MemoryJournal } from '../../../../host/storage/memory-journal.ts';
import {
  type GuestParts,
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
} from './support/guest-module.ts';
import { CONTEXT, entityRef, hostCalls, request } from './support/live-guest.ts';

const nothing = { type: 'null' } as const;
const handler = (name: string) => ({ name, input: nothing, reply: nothing });
const ROUTES = 1_000;
/** What a route does is its number modulo this. */
const KINDS = 8;
const KIND = {
  query: 0,
  both: 1,
  visits: 2,
  deep: 3,
  trap: 4,
  spin: 5,
  faulty: 6,
  read: 7,
} as const;

const ADDRESSES = { counter: 4096, get: 4112, add: 4120, fault: 4128, null: 4136 } as const;
const text = (word: keyof typeof ADDRESSES) =>
  `(i32.const ${ADDRESSES[word]}) (i32.const ${word.length})`;
const ask = (name: 'get' | 'add' | 'fault') =>
  `(call $call ${text('counter')} (i32.load (local.get $parameters))
    (i32.load offset=4 (local.get $parameters)) ${text(name)} ${text('null')}
    ${'(i32.const 0)'.repeat(5)} (i32.const 256))`;
const when = (kind: keyof typeof KIND, body: string) =>
  `(if (i32.eq (i32.rem_u (local.get $route) (i32.const ${KINDS})) (i32.const ${KIND[kind]})) (then ${body}))`;
/** Answers a status of 200 and a number. */
const status = (number: string) => `(drop (call $clear))
  (i32.store16 (i32.const 20) (i32.add (i32.const 200) ${number})) (return (i32.const 16))`;

/** An entity whose query answers how often its instance was asked, modulo 64; handlers that ask it. */
const PARTS: GuestParts = {
  fields: `${Object.entries(ADDRESSES)
    .map(([word, at]) => `(data (i32.const ${at}) "${word}")`)
    .join('')}
    (global $visits (mut i32) (i32.const 0))
    (global $asked (mut i32) (i32.const 0))
    (func $first (result i32) (i32.load8_u (i32.load (i32.const 260))))
    (func $deep (param $left i32) (param $parameters i32)
      (if (local.get $left)
        (then (call $deep (i32.sub (local.get $left) (i32.const 1)) (local.get $parameters)) (return)))
      ${ask('get')})`,
  command: `(drop (call $clear)) (i32.store (i32.const 32) (i32.const ${ADDRESSES.null}))
    (i32.store (i32.const 36) (i32.const 4)) (i32.const 16)`,
  query: `(drop (call $clear))
    (if (i32.eq (local.get $name-length) (i32.const 5)) (then unreachable))
    (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
    (i32.store8 (i32.const 128)
      (i32.add (i32.const 48) (i32.and (global.get $asked) (i32.const 63))))
    (i32.store (i32.const 20) (i32.const 128)) (i32.store (i32.const 24) (i32.const 1)) (i32.const 16)`,
  handle: `
    ${when('query', `${ask('get')} ${status('(i32.sub (call $first) (i32.const 48))')}`)}
    ${when('both', `${ask('get')} ${ask('add')} ${status('(i32.load8_u (i32.const 256))')}`)}
    ${when(
      'visits',
      `(global.set $visits (i32.add (global.get $visits) (i32.const 1)))
       (i32.store (i32.const 4096) (i32.load (i32.const 5000)))
       (i32.store (i32.const 5000) (i32.const 7)) (drop (memory.grow (i32.const 1)))
       (i32.store (i32.const 4096) (i32.const 0x6e756f63)) ${ask('get')} ${ask('add')}
       ${status('(i32.add (i32.mul (global.get $visits) (i32.const 10)) (memory.size))')}`,
    )}
    ${when('deep', `(call $deep (local.get $query-length) (local.get $parameters)) ${status('(i32.const 4)')}`)}
    ${when('trap', `${ask('get')} unreachable`)}
    ${when('spin', `${ask('get')} (loop $l (br $l)) unreachable`)}
    ${when('faulty', `${ask('fault')} ${status('(i32.load8_u (i32.const 256))')}`)}
    ${when('read', `(call $read ${text('counter')} ${text('null')} (i64.const 0) (i32.const 1) (i32.const 256)) ${status('(i32.load8_u (i32.const 256))')}`)}
    unreachable`,
};

const compiled = component(guestWat(PARTS)).then((bytes) => {
  const { entities, endpoints, ...rest } = testDescriptor();
  const routes = Array.from({ length: ROUTES }, (_, index) => ({
    ...endpoints[0]!.routes[0]!,
    path: `/${index}`,
  }));
  return withDescriptor(bytes, {
    ...rest,
    entities: [
      { ...entities[0]!, commands: [handler('add')], queries: [handler('get'), handler('fault')] },
    ],
    endpoints: [{ ...endpoints[0]!, routes }],
  });
});

async function service(limits: Partial<WasmLimits> = {}) {
  const guest = await createWasmGuest(await compiled, {
    ...WASM_LIMITS_DEFAULT,
    liftedBytesMax: 64 * 1024 * 1024,
    ...limits,
  });
  const clock = { nowMs: () => 1 };
  const chance = { seed: () => 2n };
  const faults: unknown[] = [];
  const engine = createEngine({
    guest,
    journal: new MemoryJournal(),
    clock,
    chance,
    faultLog: (_entity, _handler, fault) => faults.push(fault),
    limits: { purityCheckInterval: 0, purityRefoldInterval: 0 },
  });
  const handle = requestHandler({ guest, engine, clock, chance });
  const send = (kind: keyof typeof KIND, turn = 0, query = '') =>
    handle(request(KIND[kind] + turn * KINDS, { parameters: ['a'], query }), []);
  const wake = async () => engine.call(entityRef('a'), 'get', 'null', []);
  return { guest, engine, faults, send, wake };
}

describe('a handler that has nothing to wait for', () => {
  test('is answered at once, and is asked for once', async () => {
    const { send, wake } = await service();
    await wake();
    expect(send('query')).toMatchObject({ status: 202 });
    expect(send('query')).toMatchObject({ status: 203 });
  });

  test.each([
    ['traps', 'trap', 'trap'],
    ['uses up its fuel', 'spin', 'fuel'],
  ] as const)(
    'that %s is a fault at once, and leaves entity and others alone',
    async (_, kind, cause) => {
      const { send, wake, faults } = await service({ handlerFuel: 100_000 });
      await wake();
      expect(() => send(kind)).toThrow(GuestFault);
      expect(() => send(kind)).toThrow(expect.objectContaining({ faultCause: cause }));
      expect(send('query')).toMatchObject({ status: 204 });
      expect(faults).toEqual([]);
    },
  );

  test('sees the fault of an entity as a value, and the entity comes back', async () => {
    const { send, wake, faults } = await service();
    await wake();
    expect(send('faulty')).toMatchObject({ status: 201 });
    expect(faults).toMatchObject([{ faultCause: 'trap' }]);
    // It is no more in memory: who asks has to wait, and finds a fresh instance.
    const answer = send('query');
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toMatchObject({ status: 201 });
  });

  test('has its own fuel and calls, whatever those before it had left', async () => {
    const { send, wake } = await service({ hostCallsMax: 1 });
    await wake();
    for (let turn = 0; turn < 3; turn++) expect(send('query')).toMatchObject({ kind: 'response' });
  });
});

describe('a handler that would have to wait', () => {
  test.each(['query', 'both', 'read'] as const)('is served where it can: %s', async (kind) => {
    const { send } = await service();
    const answer = send(kind);
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toMatchObject({ kind: 'response' });
  });

  test('finds memory, its size and globals as they are at the beginning', async () => {
    const { send, wake } = await service();
    await wake();
    for (let turn = 0; turn < 3; turn++)
      expect(await send('visits', turn)).toMatchObject({ status: 200 + 10 + 3 });
    expect(send('query')).toMatchObject({ kind: 'response' });
  });

  test('is not tried again for a while, so that nothing is served twice for long', async () => {
    const { send, wake } = await service();
    await wake();
    // The query is asked once in vain, and then once for each request.
    for (let turn = 0; turn < 101; turn++) await send('both');
    expect(send('query')).toMatchObject({ status: 200 + ((1 + 1 + 101 + 1) % 64) });
    await send('both');
    expect(send('query')).toMatchObject({ status: 200 + ((104 + 1 + 1 + 1) % 64) });
  });
});

describe('the stack that a handler shares with the host', () => {
  // The deepest recursion that can just ask, and all around it: somewhere there the engine would break off.
  test(
    'is never so short that the engine breaks off in the middle',
    { timeout: 20_000 },
    async () => {
      const { send, wake, engine, faults } = await service();
      await wake();
      let turn = 0;
      /** Answers whether it was at once. A stack of its own may be shorter: then it is a fault. */
      const dive = async (depth: number) => {
        const answer = send('deep', turn++ % (ROUTES / KINDS), 'q'.repeat(depth));
        if (answer instanceof Promise) await answer.catch(() => {});
        return !(answer instanceof Promise);
      };
      let depth = 4_000;
      while (await dive(depth)) depth += 100;
      await wake();
      for (const bottom = depth - 110; depth > bottom; depth--) {
        await dive(depth);
        // A broken entity would neither be prompt again nor answer who waits.
        expect(engine.queryAtOnce(entityRef('a'), 'get', 'null', [])).toBeDefined();
      }
      expect(faults).toEqual([]);
    },
  );

  test('when it is used up, the handler is served on one of its own', async () => {
    const { send, wake, faults } = await service();
    await wake();
    const answer = send('deep', 0, 'q'.repeat(1_000_000));
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).rejects.toThrow(expect.objectContaining({ faultCause: 'stack' }));
    expect(faults).toEqual([]);
    expect(send('query')).toMatchObject({ kind: 'response' });
  });
});

test('without memory for the instance, the others serve', () => {
  const full = new SvcError('SVC_OVERLOADED', 'There is no memory.');
  const noInstance = () => {
    throw full;
  };
  const prompt = new PromptInstance(noInstance, {} as MemoryImage, 1);
  expect(prompt.serve(CONTEXT, request(0), hostCalls(), 'here')).toBeUndefined();
});

test('a closed module answers nothing more at once', async () => {
  const { guest, wake } = await service();
  await wake();
  await guest.close();
  expect(() => guest.endpoints.handle(CONTEXT, request(KIND.read), hostCalls())).toThrow(
    'The module was closed.',
  );
});

test('what the host throws by mistake is none of the module’s faults', async () => {
  const { guest } = await service();
  const calls: Partial<HostCalls> = {
    queryAtOnce: () => {
      throw new TypeError('a bug');
    },
  };
  const asked = request(KIND.query, { parameters: ['a'] });
  expect(() => guest.endpoints.handle(CONTEXT, asked, hostCalls(calls))).toThrow('a bug');
});
