// Phases: the code of a command, a query or a handler may call the host, and code that runs while its values are
// lowered, lifted or freed may not.
import { expect, test } from 'vitest';
import type { GuestParts } from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const CLOCK = '(drop (call $now-ms))';
const NO_CLOCK =
  'The module called clock.now-ms where it may not be called. Commands, queries and handlers have the time, a fold has ' +
  'none: put it into the event.';
const ENTITY = 'svc:runtime/entity@0.1.0#[method]instance';
const postReturn = (name: string) => ({
  fields: `(func (export "cabi_post_${name}") (param i32) ${CLOCK})`,
});
/** Set by a command, because opening the entity is not part of the test. */
const WHEN_SET = `(if (i32.load (i32.const 8)) (then ${CLOCK}))`;
const SET = '(i32.store (i32.const 8) (i32.const 1))';

test.each<[string, GuestParts]>([
  [
    'a destructor within a command',
    {
      command: '(call $resource-drop (call $resource-new (i32.const 1))) (call $clear)',
      destroy: CLOCK,
    },
  ],
  ['what frees the answer of a command', postReturn(`${ENTITY}.command`)],
  [
    'the log of a command',
    { command: `${SET} (call $clear)`, takeLog: `${WHEN_SET} (call $clear)` },
  ],
  [
    'what frees the log of a command',
    {
      command: `${SET} (call $clear)`,
      fields: `(func (export "cabi_post_svc:runtime/diagnostics@0.1.0#take-log") (param i32) ${WHEN_SET})`,
    },
  ],
])('%s does not reach the clock', async (_what, parts) => {
  const { entities } = await liveGuest(parts);
  const entity = await entities.open(entityRef('a'), undefined);
  const fault = await faultOf(() => entity.command(CONTEXT, '', ''));
  expect([fault.faultCause, fault.message]).toEqual(['trap', NO_CLOCK]);
});

test.each<[string, GuestParts]>([
  ['what frees the answer of a handler', postReturn('svc:runtime/http@0.1.0#handle')],
  [
    'what gives memory to a handler for a reply',
    {
      fields: `(func $take ${SET}
        (call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256)))`,
      handle: '(call $take) unreachable',
      realloc: `${WHEN_SET} (i32.const 5000)`,
    },
  ],
])('%s does not reach the clock either', async (_what, parts) => {
  const { endpoints } = await liveGuest(parts);
  const calls = hostCalls({ nowMs: () => 1, call: async () => ({ kind: 'reply', json: '{}' }) });
  const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
  expect(fault.message).toBe(NO_CLOCK);
  expect(fault.frames?.length).toBeGreaterThan(0);
});
