// Each limit that a running module can hit: its own setting enforces it, and the fault names it.
import { describe, expect, test } from 'vitest';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { LimitName } from '../../../../../model/limit-name.ts';
import { answering, deciding, put, put8, replying } from '../support/canonical-guest.ts';
import { type GuestParts, guestModule } from '../support/guest-module.ts';
import {
  CONTEXT,
  type LiveGuest,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

/** A long loop that ends: with more fuel there is no fault. */
const LONG = `(loop $l
  (i32.store (i32.const 12) (i32.add (i32.load (i32.const 12)) (i32.const 1)))
  (br_if $l (i32.lt_u (i32.load (i32.const 12)) (i32.const 100000))))`;
const LONG_RESULT = `${LONG} (call $clear)`;
const RECURSE = {
  fields: '(func $down (param i32) (call $down (local.get 0)) (call $down (local.get 0)))',
};
const open = (guest: LiveGuest) => guest.entities.open(entityRef('a'), undefined);
const DRIVES = {
  open: (guest: LiveGuest) => open(guest),
  apply: async (guest: LiveGuest) =>
    (await open(guest)).apply([{ manifest: 'm', json: '{}' }], undefined),
  command: async (guest: LiveGuest) => (await open(guest)).command(CONTEXT, 'c', ''),
  query: async (guest: LiveGuest) => (await open(guest)).query(CONTEXT, 'q', ''),
  snapshot: async (guest: LiveGuest) => (await open(guest)).snapshot(),
  request: async (guest: LiveGuest) =>
    guest.endpoints.handle(
      CONTEXT,
      request(0),
      hostCalls({ nowMs: () => 1, call: () => ({ kind: 'reply', json: '1' }) }),
    ),
} as const;
const CALL = `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`;
/** Does it twice, so that a limit of one is hit the second time. */
const twice = (body: string) => ({ handle: `${body} ${body} (drop (call $clear)) unreachable` });
const headers = (count: number) => answering(put(24, 4096) + put(28, count));
const events = (count: number) => deciding(put(20, 4096) + put(24, count));

type Row = readonly [
  limit: LimitName,
  what: string,
  parts: GuestParts,
  drive: keyof typeof DRIVES,
  limits: Partial<WasmLimits>,
];

const LITTLE = 10_000;
const ROWS: readonly Row[] = [
  [
    'entity-fuel',
    'to open an entity',
    { construct: `${LONG} (call $resource-new (i32.const 7))` },
    'open',
    { entityFuel: LITTLE },
  ],
  ['entity-fuel', 'for a snapshot', { snapshot: LONG_RESULT }, 'snapshot', { entityFuel: LITTLE }],
  [
    'apply-fuel',
    'to fold an event',
    { apply: LONG_RESULT },
    'apply',
    { applyFuelPerEvent: LITTLE },
  ],
  ['command-fuel', 'for a command', { command: LONG_RESULT }, 'command', { commandFuel: LITTLE }],
  ['query-fuel', 'for a query', { query: LONG_RESULT }, 'query', { queryFuel: LITTLE }],
  ['handler-fuel', 'for a request', { handle: LONG_RESULT }, 'request', { handlerFuel: LITTLE }],
  [
    'handler-fuel',
    'for what a call moves',
    {
      handle: `(loop $l (call $call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 0) (i32.const 4096) (i32.const 50000) ${'(i32.const 0)'.repeat(5)}
        (i32.const 256)) (br $l)) unreachable`,
    },
    'request',
    { handlerFuel: 200_000 },
  ],
  [
    'collection-fuel',
    'for the log of a command',
    {
      command: `${put(8, 1)} (call $clear)`,
      takeLog: `(if (i32.load (i32.const 8)) (then ${LONG})) (call $clear)`,
    },
    'command',
    { collectionFuel: LITTLE },
  ],
  [
    'memory',
    'of an instance',
    {
      command:
        '(loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable',
    },
    'command',
    { memoryPagesMax: 8 },
  ],
  [
    'stack',
    'of a command',
    { ...RECURSE, command: '(call $down (i32.const 1)) unreachable' },
    'command',
    {},
  ],
  [
    'handles',
    'of its own',
    { command: '(loop $l (drop (call $resource-new (i32.const 1))) (br $l)) unreachable' },
    'command',
    { handlesMax: 5 },
  ],
  [
    'host-calls',
    'of one call',
    { query: '(loop $l (drop (call $now-ms)) (br $l)) unreachable' },
    'query',
    { hostCallsMax: 5 },
  ],
  ['component-calls', 'of one request', twice(CALL), 'request', { componentCallsMax: 1 }],
  ['call-depth', 'of a command that calls', { command: `${CALL} unreachable` }, 'command', {}],
  ['call-depth', 'of a query that calls', { query: `${CALL} unreachable` }, 'query', {}],
  ['lifted-bytes', 'of strings', replying(4096, 1025), 'query', { liftedBytesMax: 2049 }],
  ['lifted-bytes', 'of items', headers(33), 'request', { liftedBytesMax: 33 * 64 - 1 }],
  [
    'lifted-bytes',
    'of a body',
    answering(put8(32, 3) + put(36, 4096) + put(40, 2049)),
    'request',
    { liftedBytesMax: 2048 },
  ],
  ['string-bytes', 'of a reply', replying(4096, 101), 'query', { stringBytesMax: 100 }],
  ['list-items', 'of an answer', headers(11), 'request', { listItemsMax: 10 }],
];

describe('a limit', () => {
  test.each(ROWS)('%s is met: %s', async (limit, _what, parts, drive, limits) => {
    const guest = await liveGuest(parts, limits);
    const fault = await faultOf(() => DRIVES[drive](guest));
    expect([fault.limit, fault.faultCause]).toEqual([limit, causeOf(limit)]);
  });

  test.each([
    ['before the module serves', { takeLog: LONG_RESULT }],
    ['in its initialisation', { fields: `(func (export "_initialize") ${LONG})` }],
    ['in its start function', { fields: `(func $s ${LONG}) (start $s)` }],
  ])('start-fuel is met: %s', async (_when, parts) => {
    const limits = { ...WASM_LIMITS_DEFAULT, startFuel: LITTLE };
    const starting = createWasmGuest(await guestModule(parts), limits);
    const cause = { faultCause: 'fuel', limit: 'start-fuel' };
    await expect(starting).rejects.toMatchObject({ code: 'SVC_MODULE_START_FAILED', cause });
  });

  test('keeps its name beside the last words of the module', async () => {
    const { entities } = await liveGuest(
      {
        fields: `(data (i32.const 8192) "abort: too much at a.ts:1:2")`,
        command: `${put(8, 1)} ${LONG_RESULT}`,
        takeLog: `(drop (call $clear)) (if (i32.load (i32.const 8)) (then
          ${put(16, 4096)} ${put(20, 1)} ${put8(4096, 3)} ${put(4100, 8192)} ${put(4104, 27)}))
          (i32.const 16)`,
      },
      { commandFuel: LITTLE },
    );
    const entity = await entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.command(CONTEXT, 'c', ''));
    expect(fault).toMatchObject({
      limit: 'command-fuel',
      guestMessage: 'abort: too much at a.ts:1:2',
    });
  });

  test.each([
    ['utf8', 100],
    ['utf16', 50],
    ['latin1+utf16', 100],
  ] as const)('on strings counts bytes as they lie in the memory: %s', async (encoding, units) => {
    const limits = { stringBytesMax: 100 };
    const fits = await liveGuest(replying(4096, units), limits, encoding);
    expect(await DRIVES.query(fits)).toMatchObject({ kind: 'reply' });
    const tooLong = await liveGuest(replying(4096, units + 1), limits, encoding);
    expect((await faultOf(() => DRIVES.query(tooLong))).limit).toBe('string-bytes');
  });

  test.each([{ listItemsMax: 10 }, { liftedBytesMax: 11 * 64 - 1 }, { stringBytesMax: 3 }])(
    'that the events of a command meet is a refusal, and their instance stays: %o',
    async (limits) => {
      const text = put(4096 + 8, 64) + put(4096 + 12, 4);
      const { command } = events(11);
      const guest = await liveGuest({ command: `${text} ${command}` }, limits);
      const [entity, neighbour] = [await open(guest), await open(guest)];
      for (let time = 0; time < 2; time++)
        expect(await entity.command(CONTEXT, 'c', '')).toMatchObject({
          kind: 'refusal',
          code: 'UNPROCESSABLE',
          message: expect.stringContaining('(SVC_EVENT_TOO_LARGE)') as string,
        });
      expect([entity.lost, neighbour.lost]).toEqual([false, false]);
    },
  );

  test('on calls of components is for each request anew', async () => {
    const parts = { handle: `${CALL} (drop (call $clear)) ${put(20, 200)} (i32.const 16)` };
    const guest = await liveGuest(parts, { componentCallsMax: 1 });
    for (let time = 0; time < 3; time++)
      expect(await DRIVES.request(guest)).toMatchObject({ status: 200 });
  });

  test('is worded so that the author knows what to change', async () => {
    const guest = await liveGuest({ command: `${CALL} unreachable` });
    const { message } = await faultOf(() => DRIVES.command(guest));
    expect(message).toMatch(/An entity called a component.*Let the endpoint make the call\./);
  });
});

function causeOf(limit: LimitName): string {
  if (limit.endsWith('-fuel')) return 'fuel';
  return limit === 'memory' || limit === 'stack' ? limit : 'limit';
}
