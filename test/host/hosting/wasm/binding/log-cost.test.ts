// The cost of a module's log: the lines and bytes of one call are limited, and paid for with fuel.
import { expect, test } from 'vitest';
import type { StringEncoding } from '../../../../../host/hosting/wasm/binary/component-outline.ts';
import { put } from '../support/canonical-guest.ts';
import type { GuestParts } from '../support/guest-module.ts';
import { CONTEXT, entityRef, faultOf, liveGuest } from '../support/live-guest.ts';

const LINES_AT = 4096;

/** After a command, the log has this many lines, all of which point at the same text. */
function logging(count: number, length: number): GuestParts {
  return {
    memory: '(memory (export "memory") 4)',
    command: `${put(8, 1)} (call $clear)`,
    takeLog: `(local $at i32) (drop (call $clear)) (local.set $at (i32.const ${LINES_AT}))
      (if (i32.load (i32.const 8)) (then
        (loop $l
          (i32.store (local.get $at) (i32.const 1))
          (i32.store offset=4 (local.get $at) (i32.const 131072))
          (i32.store offset=8 (local.get $at) (i32.const ${length}))
          (local.set $at (i32.add (local.get $at) (i32.const 12)))
          (br_if $l (i32.lt_u (local.get $at) (i32.const ${LINES_AT + count * 12}))))
        ${put(16, LINES_AT)} ${put(20, count)}))
      (i32.const 16)`,
  };
}

async function logged(
  parts: GuestParts,
  limits: Parameters<typeof liveGuest>[1],
  encoding?: StringEncoding,
) {
  const guest = await liveGuest(parts, limits, encoding);
  const entity = await guest.entities.open(entityRef('a'), undefined);
  await entity.command(CONTEXT, 'c', '');
  return guest.lines.map(({ message }) => message);
}

test('a thousand lines over one text are kept up to the bytes of a call, the last ones', async () => {
  const lines = await logged(logging(1_000, 10_000), { logBytesMax: 100_000 });
  expect(lines).toEqual(['991 lines were dropped here', ...Array(9).fill('\0'.repeat(10_000))]);
});

test.each([
  ['utf8', 936],
  ['utf16', 468],
  ['latin1+utf16', 936],
] as const)(
  'bytes are counted as they are read, beside 64 of each line: %s',
  async (encoding, units) => {
    const lines = await logged(logging(3, units), { logBytesMax: 2_000 }, encoding);
    expect(lines.map(({ length }) => length)).toEqual([
      '1 lines were dropped here'.length,
      units,
      units,
    ]);
  },
);

test('empty lines count, too', async () => {
  const lines = await logged(logging(1_000, 0), { logBytesMax: 640 });
  expect(lines).toEqual(['990 lines were dropped here', ...Array(10).fill('')]);
});

test('a line that is cut costs only what is read of it', async () => {
  const lines = await logged(logging(2, 100_000), { logBytesMax: 2 * (16_384 + 64) });
  expect(lines.map(({ length }) => length)).toEqual([16_385, 16_385]);
});

test('lines have a limit beside that of their bytes', async () => {
  const lines = await logged(logging(50, 1), { logLinesMax: 2 });
  expect(lines).toEqual(['48 lines were dropped here', '\0', '\0']);
});

test('what is kept is paid for with fuel before it is read', async () => {
  const fuel = { collectionFuel: 100_000, lastWordsFuel: 100_000 };
  expect(await logged(logging(5, 10_000), fuel)).toHaveLength(5);
  const guest = await liveGuest(logging(20, 10_000), fuel);
  const entity = await guest.entities.open(entityRef('a'), undefined);
  const fault = await faultOf(() => entity.command(CONTEXT, 'c', ''));
  expect([fault.faultCause, fault.limit, guest.lines]).toEqual(['fuel', 'collection-fuel', []]);
});
