// A service with one entity and handlers that call it in every way, with an engine and a journal whose writes can be
// held: for tests of the fast path.
import { createEngine } from '../../../../../host/engine/entity-engine.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { requestHandler } from '../../../../../host/http/requests/request-handler.ts';
import { systemEventLoop, systemDigest } from '../../../../../host/system.ts';
import { MemoryJournal } from '../../../../../host/storage/memory/memory-journal.ts';
import { unlimitedEventLoop } from '../../../../support/unlimited-event-loop.ts';
import { HeldJournal } from '../../../../support/held-journal.ts';
import {
  type GuestParts,
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
} from './guest-module.ts';
import { entityRef, request } from './live-guest.ts';

const nothing = { type: 'null' } as const;
const handler = (name: string) => ({ name, input: nothing, reply: nothing });
const KIND_NAMES = [
  'query',
  'command',
  /** Calls a query, and then a command that stores. */
  'both',
  /** Calls a command that stores, and then a query. */
  'further',
  'visits',
  'deep',
  'deepCommand',
  'trap',
  'commandAndTrap',
  'spin',
  'faulty',
  'read',
] as const;
export type Kind = (typeof KIND_NAMES)[number];
const KINDS = KIND_NAMES.length;
/**
 * The behaviour of a route is its number modulo KINDS. There are many routes, because one that had to wait skips the
 * fast path for a while.
 */
const TURNS = 80;
export const routeOf = (kind: Kind, turn = 0) => KIND_NAMES.indexOf(kind) + turn * KINDS;

const ADDRESSES = {
  counter: 4096,
  get: 4112,
  add: 4120,
  fault: 4128,
  null: 4136,
  counted: 4144,
} as const;
/** Size of a `stored-event`. */
const EVENT = 4160;
const text = (word: keyof typeof ADDRESSES) =>
  `(i32.const ${ADDRESSES[word]}) (i32.const ${word.length})`;
const ask = (name: 'get' | 'add' | 'fault') =>
  `(call $call ${text('counter')} (i32.load (local.get $parameters))
    (i32.load offset=4 (local.get $parameters)) ${text(name)} ${text('null')}
    ${'(i32.const 0)'.repeat(5)} (i32.const 256))`;
const when = (kind: Kind, body: string) =>
  `(if (i32.eq (i32.rem_u (local.get $route) (i32.const ${KINDS})) (i32.const ${KIND_NAMES.indexOf(kind)})) (then ${body}))`;
/** Answers 200 with a number. */
const status = (number: string) => `(drop (call $clear))
  (i32.store16 (i32.const 20) (i32.add (i32.const 200) ${number})) (return (i32.const 16))`;

/**
 * An entity whose query replies with how often its instance was called, modulo 64, and whose command stores an event;
 * and handlers that call it.
 */
const PARTS: GuestParts = {
  fields: `${Object.entries(ADDRESSES)
    .map(([word, at]) => `(data (i32.const ${at}) "${word}")`)
    .join('')}
    (global $visits (mut i32) (i32.const 0))
    (global $asked (mut i32) (i32.const 0))
    (func $first (result i32) (i32.load8_u (i32.load (i32.const 260))))
    ${(['get', 'add'] as const)
      .map(
        (name) => `(func $deep-${name} (param $left i32) (param $parameters i32)
      (if (local.get $left) (then
        (call $deep-${name} (i32.sub (local.get $left) (i32.const 1)) (local.get $parameters))
        (return)))
      ${ask(name)})`,
      )
      .join('')}`,
  command: `(drop (call $clear))
    ${[ADDRESSES.counted, 'counted'.length, ADDRESSES.null, 'null'.length]
      .map((word, index) => `(i32.store (i32.const ${EVENT + 4 * index}) (i32.const ${word}))`)
      .join('')}
    (i32.store (i32.const 20) (i32.const ${EVENT})) (i32.store (i32.const 24) (i32.const 1))
    (i32.store (i32.const 32) (i32.const ${ADDRESSES.null})) (i32.store (i32.const 36) (i32.const 4))
    (i32.const 16)`,
  query: `(drop (call $clear))
    (if (i32.eq (local.get $name-length) (i32.const 5)) (then unreachable))
    (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
    (i32.store8 (i32.const 128)
      (i32.add (i32.const 48) (i32.and (global.get $asked) (i32.const 63))))
    (i32.store (i32.const 20) (i32.const 128)) (i32.store (i32.const 24) (i32.const 1)) (i32.const 16)`,
  handle: `
    ${when('query', `${ask('get')} ${status('(i32.sub (call $first) (i32.const 48))')}`)}
    ${when('command', `${ask('add')} ${status('(i32.load8_u (i32.const 256))')}`)}
    ${when('both', `${ask('get')} ${ask('add')} ${status('(i32.load8_u (i32.const 256))')}`)}
    ${when('further', `${ask('add')} ${ask('get')} ${status('(i32.sub (call $first) (i32.const 48))')}`)}
    ${when(
      'visits',
      `(global.set $visits (i32.add (global.get $visits) (i32.const 1)))
       (i32.store (i32.const 4096) (i32.load (i32.const 5000)))
       (i32.store (i32.const 5000) (i32.const 7)) (drop (memory.grow (i32.const 1)))
       (i32.store (i32.const 4096) (i32.const 0x6e756f63)) ${ask('add')} ${ask('get')}
       ${status('(i32.add (i32.mul (global.get $visits) (i32.const 10)) (memory.size))')}`,
    )}
    ${when('deep', `(call $deep-get (local.get $query-length) (local.get $parameters)) ${status('(i32.const 4)')}`)}
    ${when('deepCommand', `(call $deep-add (local.get $query-length) (local.get $parameters)) ${status('(i32.load8_u (i32.const 256))')}`)}
    ${when('commandAndTrap', `${ask('add')} unreachable`)}
    ${when('trap', `${ask('get')} unreachable`)}
    ${when('spin', `${ask('get')} (loop $l (br $l)) unreachable`)}
    ${when('faulty', `${ask('fault')} ${status('(i32.load8_u (i32.const 256))')}`)}
    ${when('read', `(call $read ${text('counter')} ${text('null')} (i64.const 0) (i32.const 1) (i32.const 256)) ${status('(i32.load8_u (i32.const 256))')}`)}
    unreachable`,
};

const compiled = component(guestWat(PARTS)).then((bytes) => {
  const { entities, endpoints, ...rest } = testDescriptor();
  const routes = Array.from({ length: TURNS * KINDS }, (_, index) => ({
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

/** The routes call the entity `a`. */
export async function service(limits: Partial<WasmLimits> = {}) {
  const guest = await createWasmGuest(await compiled, {
    ...WASM_LIMITS_DEFAULT,
    liftedBytesMax: 64 * 1024 * 1024,
    ...limits,
  });
  const clock = { nowMs: () => 1, monotonicMs: () => 1 };
  const random = { next64: () => 2n };
  const faults: unknown[] = [];
  const journal = new HeldJournal(new MemoryJournal());
  const engine = createEngine({
    guest,
    journal,
    clock,
    random,
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: (_entity, _handler, fault) => faults.push(fault),
    limits: { purityCheckInterval: 0, purityRefoldInterval: 0 },
  });
  const handle = requestHandler({ guest, engine, clock, random, eventLoop: unlimitedEventLoop() });
  const send = (kind: Kind, turn = 0, query = '') =>
    handle(request(routeOf(kind, turn), { parameters: ['a'], query }), []);
  const wake = async () => engine.call(entityRef('a'), 'get', 'null', []);
  const events = async () => (await journal.read(entityRef('a'), 0, 1_000_000)).length;
  return { guest, engine, journal, faults, send, wake, events };
}
