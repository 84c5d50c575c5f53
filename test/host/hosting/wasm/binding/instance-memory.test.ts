// The memory of all instances together: which memory counts, which instances are released when it is short, and what
// happens if that does not suffice.
import { describe, expect, test } from 'vitest';
import { admitModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { EndpointPool } from '../../../../../host/hosting/wasm/instances/endpoint-pool.ts';
import { InstanceMemory } from '../../../../../host/hosting/wasm/binding/instance-memory.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { GuestEntity } from '../../../../../model/guest.ts';
import { GuestFault } from '../../../../../model/guest-fault.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { type GuestParts, guestModule } from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const PAGE = 65_536;
const MIB = 1024 * 1024;
const overloaded = expect.objectContaining({ code: 'SVC_OVERLOADED' });

describe('the count', () => {
  test('counts every instance with its growth, until it is released', () => {
    const memory = new InstanceMemory({ memoryBytesTotalMax: 1_000, releasedBytesMax: MIB });
    const one = memory.newShare(100);
    const other = memory.newShare(200);
    one.growTo(300);
    expect(memory.bytes).toBe(500);
    one.release();
    expect(memory.bytes).toBe(200);
    // Reading its last log lines may grow it once more.
    one.growTo(900);
    one.release();
    expect(memory.bytes).toBe(200);
    other.release();
    expect(memory.bytes).toBe(0);
  });

  test('over its limit refuses a new instance, and the growth of one as a fault', () => {
    const memory = new InstanceMemory({ memoryBytesTotalMax: 1_000, releasedBytesMax: MIB });
    const one = memory.newShare(900);
    expect(() => memory.newShare(101)).toThrow(SvcError);
    expect(memory.bytes).toBe(900);
    one.growTo(1_000);
    expect(() => one.growTo(1_001)).toThrow(GuestFault);
    expect(memory.bytes).toBe(1_001);
  });

  test('has garbage collected before the next instance, once more was released than may stay', () => {
    let collections = 0;
    const limits = { memoryBytesTotalMax: 10_000, releasedBytesMax: 500 };
    const memory = new InstanceMemory(limits, () => collections++);
    const use = (bytes: number, heldBytes?: number) => memory.newShare(bytes).release(heldBytes);
    use(300);
    use(200);
    use(1);
    expect(collections).toBe(0);
    use(100);
    expect(collections).toBe(1);
    // Growth that was noticed by nobody is released as well.
    use(100, 401);
    expect(collections).toBe(1);
    use(1);
    expect([collections, memory.bytes]).toEqual([2, 0]);
  });

  test('asks the holders in their order before it refuses, for as long as it takes', () => {
    const memory = new InstanceMemory({ memoryBytesTotalMax: 1_000, releasedBytesMax: MIB });
    const idle = [memory.newShare(300), memory.newShare(300)];
    const used = memory.newShare(400);
    const asked: unknown[] = [];
    const holder = (name: string, shares: typeof idle) =>
      memory.addHolder((spared) => {
        asked.push([name, spared]);
        shares.pop()?.release();
        return shares.length >= 0 && asked.length < 3;
      });
    holder('first', idle);
    memory.newShare(600);
    expect(asked).toEqual([
      ['first', undefined],
      ['first', undefined],
    ]);
    expect(() => used.growTo(500)).toThrow(GuestFault);
    expect(asked.at(-1)).toEqual(['first', used]);
  });
});

describe('memory that becomes short', () => {
  test('returns the entities of the least recently used instance, until it is released', async () => {
    const limits = { entitiesPerInstance: 2, memoryBytesTotalMax: 8 * PAGE };
    const { entities } = await liveGuest(HUNGRY, limits);
    const open = (id: string) => entities.open(entityRef(id), undefined) as GuestEntity;
    // Two pages belong to the first instance of the endpoints.
    const [a, b, c] = [open('a'), open('b'), open('c')];
    const ids = (max = 10) => entities.toClose!(max).map(({ id }) => id);
    expect(ids()).toEqual([]);
    const d = open('d');
    const e = open('e');
    expect(c.query(CONTEXT, '', '')).toBeDefined();
    expect(a.query(CONTEXT, '', '')).toBeDefined();
    expect(ids(1)).toEqual(['c']);
    expect(ids()).toEqual(['c', 'd']);
    // The other instances are in use, and the one that is being emptied accepts no more entities.
    c.close();
    const f = open('f');
    d.close();
    expect(ids()).toEqual([]);
    expect([a, b, e, f].map(({ lost }) => lost)).toEqual([false, false, false, false]);
  });

  test('names none of the only instance, which takes the next one', async () => {
    const { entities } = await liveGuest(HUNGRY, { memoryBytesTotalMax: 4 * PAGE });
    await entities.open(entityRef('a'), undefined);
    expect(entities.toClose!(10)).toEqual([]);
  });
});

/** Entities of two pages; a command grows the memory by as many pages as its name has letters. */
const HUNGRY: GuestParts = {
  command: '(drop (memory.grow (local.get $name-length))) (call $clear)',
  handle: `(drop (memory.grow (local.get $query-length)))
    (drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200)) (i32.const 16)`,
};
/** The first instance of the endpoints has two pages, too; the non-suspending one is created with the first request. */
const hungry = (pages: number, limits: Partial<WasmLimits> = {}) =>
  liveGuest(HUNGRY, { entitiesPerInstance: 1, ...limits, memoryBytesTotalMax: pages * PAGE });

describe('the instances of a module', () => {
  test('that was not used for longest is released for a new one, and its entities are reopened', async () => {
    const { entities } = await hungry(6);
    const first = await entities.open(entityRef('a'), undefined);
    const second = await entities.open(entityRef('b'), undefined);
    // The idle instance of the endpoints was released before any entity.
    const third = await entities.open(entityRef('c'), undefined);
    expect([first.lost, second.lost, third.lost]).toEqual([false, false, false]);
    await first.query(CONTEXT, 'q', '');
    await entities.open(entityRef('d'), undefined);
    expect([first.lost, second.lost, third.lost]).toEqual([false, true, false]);
    await entities.open(entityRef('b'), undefined);
    expect([first.lost, third.lost]).toEqual([false, true]);
  });

  test('that grow take the room of others, and never their own', async () => {
    const { entities } = await hungry(8);
    const first = await entities.open(entityRef('a'), undefined);
    const second = await entities.open(entityRef('b'), undefined);
    await first.command(CONTEXT, 'five_', '');
    expect([first.lost, second.lost]).toEqual([false, true]);
  });

  test('that grow beyond all that there is are a fault, and give it back', async () => {
    const { entities } = await hungry(8);
    const first = await entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => first.command(CONTEXT, 'seven__', ''));
    expect([fault.faultCause, fault.limit]).toEqual(['memory', 'memory']);
    const names = ['a', 'b', 'c', 'd'];
    const opened = [];
    for (const id of names) opened.push(await entities.open(entityRef(id), undefined));
    expect(opened.map(({ lost }) => lost)).toEqual([false, false, false, false]);
  });

  test('that grow at the very end of a call are counted with it', async () => {
    const { entities } = await liveGuest(
      {
        fields: `(func (export "cabi_post_svc:runtime/diagnostics@0.1.0#take-log") (param i32)
          (drop (memory.grow (i32.load (i32.const 8)))))`,
        command: '(i32.store (i32.const 8) (i32.const 3)) (call $clear)',
      },
      { memoryBytesTotalMax: 4 * PAGE },
    );
    const first = await entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => first.command(CONTEXT, 'c', ''))).limit).toBe('memory');
  });

  test('that grow before they serve are counted, and a fault is their start’s', async () => {
    const limits = { ...WASM_LIMITS_DEFAULT, memoryBytesTotalMax: 4 * PAGE };
    const fields = '(func $grow (drop (memory.grow (i32.const 3)))) (start $grow)';
    const starting = createWasmGuest(await guestModule({ fields }), limits);
    const cause = { limit: 'memory' };
    await expect(starting).rejects.toMatchObject({ code: 'SVC_MODULE_START_FAILED', cause });
  });

  test('are refused where even that does not help', async () => {
    const waiting = Promise.withResolvers<never>();
    const parts = {
      handle: `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256)) unreachable`,
    };
    const { endpoints } = await liveGuest(parts, { memoryBytesTotalMax: 2 * PAGE });
    const calls = hostCalls({ call: () => waiting.promise });
    const held = endpoints.handle(CONTEXT, request(0), calls) as Promise<unknown>;
    expect(() => endpoints.handle(CONTEXT, request(1), calls)).toThrow(overloaded);
    waiting.reject(new GuestFault('trap', 'enough'));
    await faultOf(() => held);
    await expect(endpoints.handle(CONTEXT, request(1), calls)).rejects.toThrow(GuestFault);
  });

  test('of endpoints count for as long as they are kept', async () => {
    const { endpoints, entities } = await hungry(6, { reusedPagesMax: 3 });
    const first = await entities.open(entityRef('a'), undefined);
    const fastPath = hostCalls({ speculate: () => undefined });
    const grow = async (pages: number) =>
      endpoints.handle(CONTEXT, request(0, { query: 'x'.repeat(pages) }), fastPath);
    for (let time = 0; time < 10; time++) expect(await grow(2)).toMatchObject({ status: 200 });
    // The idle instance is released, so there is room for another entity.
    await entities.open(entityRef('b'), undefined);
    expect(first.lost).toBe(false);
    expect((await faultOf(() => grow(5))).limit).toBe('memory');
    // Everything idle had to be released for it.
    expect(first.lost).toBe(true);
  });

  test('of endpoints that have grown beyond the limit for reuse are released at once', async () => {
    const limits = { ...WASM_LIMITS_DEFAULT, reusedPagesMax: 3 };
    const module = admitModule(await guestModule(HUNGRY), limits);
    const memory = new InstanceMemory(limits);
    const pool = new EndpointPool({ module, limits, memory, log: () => {} });
    const fastPath = hostCalls({ speculate: () => undefined });
    const held: number[] = [];
    for (const query of ['', 'x', 'xx', '']) {
      await pool.handle(CONTEXT, request(0, { query }), fastPath);
      held.push(memory.bytes / PAGE);
    }
    expect(held).toEqual([4, 5, 2, 4]);
    pool.close();
    expect(memory.bytes).toBe(0);
  });
});

test('an instance that has grown too much in a call that was cancelled serves no other request', async () => {
  const grows = 'memory.grow (i32.const 9)';
  const { endpoints } = await liveGuest(
    {
      handle: `(if (local.get $query-length) (then (drop (${grows}))
          (call $read ${'(i32.const 0)'.repeat(4)} (i64.const 0) (i32.const 1) (i32.const 256))))
        (drop (call $clear))
        (i32.store16 (i32.const 20) (i32.add (i32.const 200) (memory.size))) (i32.const 16)`,
    },
    { memoryBytesTotalMax: 8 * PAGE },
  );
  const calls = hostCalls({ speculate: () => ({ kind: 'reply', json: '1' }) });
  const fault = await faultOf(() =>
    endpoints.handle(CONTEXT, request(0, { query: 'grow' }), calls),
  );
  expect([fault.faultCause, fault.limit]).toEqual(['memory', 'memory']);
  // A request of the other route, so that it is tried on the same instance.
  expect(await endpoints.handle(CONTEXT, request(1), calls)).toMatchObject({ status: 202 });
});

/** Grows by as many pages as its query is long, and then waits for its call. */
const GROWING: GuestParts = {
  handle: `(drop (memory.grow (local.get $query-length)))
    (call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))
    (drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200)) (i32.const 16)`,
};
const given = async () => ({ kind: 'reply', json: '1' }) as const;

test('the non-suspending instance is released for one that can suspend', async () => {
  const { endpoints } = await liveGuest(GROWING, { memoryBytesTotalMax: 8 * PAGE });
  // It grows until there is no room for the idle instance, and then has to wait.
  const asked = request(0, { query: 'grown' });
  const calls = hostCalls({ speculate: () => undefined, call: given });
  expect(await endpoints.handle(CONTEXT, asked, calls)).toMatchObject({ status: 200 });
});

test('a request that has made calls is not turned down for want of memory, but fails', async () => {
  const { endpoints } = await liveGuest(GROWING, { memoryBytesTotalMax: 8 * PAGE });
  const never = hostCalls({ call: () => new Promise(() => {}) });
  void endpoints.handle(CONTEXT, request(0, { query: 'grown' }), never);
  const next = (hasCalled: boolean) => async () =>
    endpoints.handle(CONTEXT, request(1), hostCalls({ call: given, beginReplay: () => hasCalled }));
  await expect(next(false)).rejects.toMatchObject({ code: 'SVC_OVERLOADED' });
  const fault = await faultOf(next(true));
  expect([fault.faultCause, fault.limit]).toEqual(['memory', 'memory']);
});
