// A module that tries to leave something behind in the instance that served a request: the next request sees the
// instance as it was after initialisation, wherever the module stores data.
import { describe, expect, test } from 'vitest';
import type { GuestParts } from '../support/guest-module.ts';
import { CONTEXT, hostCalls, liveGuest, request } from '../support/live-guest.ts';

/** Answers with what it finds, and leaves what a later request could find. `found` leaves a number from 0 to 63. */
function leaving(found: string, leave: string, more: GuestParts = {}): GuestParts {
  return {
    ...more,
    handle: `(local $seen i32) (local.set $seen (i32.and ${found} (i32.const 63)))
      ${WAITS} ${leave} (drop (call $clear))
      (i32.store16 (i32.const 20) (i32.add (i32.const 200) (local.get $seen))) (i32.const 16)`,
  };
}
/** Requests with a query wait for a component; others need not. */
const WAITS = `(if (local.get $query-length)
  (then (call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))))`;

const TRACES: readonly (readonly [what: string, parts: GuestParts])[] = [
  [
    'the memory that it began with',
    leaving('(i32.load (i32.const 5000))', '(i32.store (i32.const 5000) (i32.const 7))'),
  ],
  [
    'the last byte of that memory',
    leaving('(i32.load8_u (i32.const 131071))', '(i32.store8 (i32.const 131071) (i32.const 7))'),
  ],
  [
    'data that it was built with',
    leaving(
      '(i32.sub (i32.load8_u (i32.const 5000)) (i32.const 65))',
      '(i32.store8 (i32.const 5000) (i32.const 90))',
      { fields: '(data (i32.const 5000) "A")' },
    ),
  ],
  [
    'the memory before that data',
    leaving('(i32.load (i32.const 3000))', '(i32.store (i32.const 3000) (i32.const 7))', {
      fields: '(data (i32.const 5000) "A")',
    }),
  ],
  [
    'a memory that has grown',
    leaving('(i32.sub (memory.size) (i32.const 2))', '(drop (memory.grow (i32.const 3)))'),
  ],
  [
    'the pages that it grew by',
    leaving(
      '(block (result i32) (drop (memory.grow (i32.const 1))) (i32.load (i32.const 140000)))',
      '(i32.store (i32.const 140000) (i32.const 7))',
    ),
  ],
  ...(['i32', 'i64', 'f32', 'f64'] as const).map((type): readonly [string, GuestParts] => [
    `a global of the type ${type}`,
    leaving(
      type === 'i32'
        ? '(global.get $kept)'
        : type === 'i64'
          ? '(i32.wrap_i64 (global.get $kept))'
          : `(i32.trunc_${type}_s (global.get $kept))`,
      `(global.set $kept (${type}.const 7))`,
      { fields: `(global $kept (mut ${type}) (${type}.const 0))` },
    ),
  ]),
  [
    'a global that holds a function',
    leaving('(i32.eqz (ref.is_null (global.get $kept)))', '(global.set $kept (ref.func $some))', {
      fields: '(global $kept (mut funcref) (ref.null func)) (func $some) (elem declare func $some)',
    }),
  ],
  [
    'handles of its own resources, by their numbers',
    leaving(
      '(i32.sub (call $resource-new (i32.const 3)) (i32.const 1))',
      '(drop (call $resource-new (i32.const 4)))',
    ),
  ],
  [
    'handles that it gave up',
    leaving(
      '(i32.sub (call $resource-new (i32.const 3)) (i32.const 1))',
      `(drop (call $resource-new (i32.const 4)))
        (call $resource-drop (i32.const 1)) (call $resource-drop (i32.const 2))`,
    ),
  ],
];

describe('a request finds nothing that another left in', () => {
  test.each(TRACES)('%s', async (_what, parts) => {
    const { endpoints } = await liveGuest(parts, { endpointInstancesMax: 1 });
    const reply = { kind: 'reply', json: '1' } as const;
    const statuses: number[] = [];
    for (const query of ['', '', 'waits', 'waits', '', 'waits']) {
      const calls = hostCalls({
        ...(query === '' ? { speculate: () => reply } : {}),
        call: async () => reply,
      });
      const answer = await endpoints.handle(CONTEXT, request(0, { query }), calls);
      statuses.push(answer.kind === 'response' ? answer.status : 0);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });
});

test('the lines of one request are not handed out with those of another', async () => {
  // The log begins with lines of an abandoned request, which the next one must not take.
  const parts: GuestParts = {
    handle: `(i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
      (if (local.get $query-length) (then unreachable))
      (drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200)) (i32.const 16)`,
    takeLog: `(drop (call $clear))
      (i32.store (i32.const 16) (i32.const 4096)) (i32.store (i32.const 20) (i32.load (i32.const 8)))
      (i32.const 16)`,
  };
  const guest = await liveGuest(parts, { endpointInstancesMax: 1 });
  for (let time = 0; time < 3; time++)
    await guest.endpoints.handle(CONTEXT, request(0), hostCalls());
  expect(guest.lines).toHaveLength(3);
});
