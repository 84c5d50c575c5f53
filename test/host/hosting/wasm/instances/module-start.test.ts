// The error for a module that fails while it starts.
import { describe, expect, test } from 'vitest';
import { counter } from '../support/counter.ts';
import { liveGuest } from '../support/live-guest.ts';

describe('a module that fails while it starts', () => {
  const spin = '(loop $l (br $l))';
  const fields = {
    'spins in its start function': `(func $s ${spin}) (start $s)`,
    'traps in its start function': '(func $s unreachable) (start $s)',
    'spins in its initialisation': `(func (export "_initialize") ${spin})`,
    'calls the clock in its start function': '(func $s (drop (call $now-ms))) (start $s)',
    'calls a component in its initialisation': `(func (export "_initialize")
      (call $call ${'(i32.const 0)'.repeat(14)}))`,
    'reads a journal in its start function': `(func $s (call $read
      ${'(i32.const 0)'.repeat(4)} (i64.const 0) (i32.const 1) (i32.const 0))) (start $s)`,
    'makes a resource in its start function':
      '(func $s (drop (call $resource-new (i32.const 1)))) (start $s)',
  };

  test.each(Object.entries(fields))('is refused: it %s', async (_what, field) => {
    const started = liveGuest({ fields: field }, { startFuel: 100_000 });
    await expect(started).rejects.toMatchObject({ code: 'SVC_MODULE_START_FAILED' });
  });

  test('is reported with its own last message', async () => {
    const started = liveGuest({
      ...counter,
      fields: `${counter.fields} (func (export "_initialize")
        (call $line (i32.const 3) (i32.const 1120) (i32.const 29)) unreachable)`,
    });
    await expect(started).rejects.toThrow('abort: boom at counter.ts:3:5');
  });

  test('is reported with its message when it cannot free it', async () => {
    const started = liveGuest({
      ...counter,
      fields: `${counter.fields} (func (export "_initialize")
        (call $line (i32.const 3) (i32.const 1120) (i32.const 29)) unreachable)
        (func (export "cabi_post_svc:runtime/diagnostics@0.1.0#take-log") (param i32) unreachable)`,
    });
    await expect(started).rejects.toThrow('abort: boom at counter.ts:3:5');
  });
});
