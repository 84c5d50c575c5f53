// The clock of a handler reports the time of the request while the handler computes, and advances where the handler
// has waited for the host, so that no module can time its own work.
import { expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { liveGuest, CONTEXT, hostCalls, request } from '../support/live-guest.ts';

const CALL = `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256))`;
const READ = `(call $read ${'(i32.const 0)'.repeat(4)} (i64.const 0) (i32.const 1) (i32.const 256))`;
/** Answers 200 with how far its clock has advanced since the time of the request. */
const moved = (work: string) => ({
  realloc: '(i32.const 4096)',
  handle: `(local $i i32) (if (i64.ne (local.get $now) (call $now-ms)) (then unreachable)) ${work}
    (drop (call $clear)) (i32.store16 (i32.const 20)
      (i32.add (i32.const 200) (i32.wrap_i64 (i64.sub (call $now-ms) (local.get $now)))))
    (i32.const 16)`,
});
const WORK = `(loop $l (drop (call $now-ms)) (local.set $i (i32.add (local.get $i) (i32.const 1)))
  (br_if $l (i32.lt_u (local.get $i) (i32.const 9000))))`;
const failure = new SvcError('SVC_OVERLOADED', 'too much');
const reply = { kind: 'reply', json: '1' } as const;

/** A clock of the host that advances with each reading, beginning at the time of the request. */
function running(given: Partial<HostCalls>): HostCalls {
  let { nowMs } = CONTEXT;
  return hostCalls({ nowMs: () => ++nowMs, ...given });
}

test.each<[string, string, Partial<HostCalls>]>([
  ['has only worked', WORK, {}],
  ['was answered at once', CALL + WORK + CALL, { call: () => reply }],
  [
    'failed at once',
    CALL,
    {
      call: () => {
        throw failure;
      },
    },
  ],
  ['was told at once what it read', READ, { readEvents: () => [] }],
  ['was answered where it cannot wait', CALL, { speculate: () => reply }],
])('the clock of a handler that %s stands still', async (_what, work, given) => {
  const { endpoints } = await liveGuest(moved(work));
  const answer = await endpoints.handle(CONTEXT, request(0), running(given));
  expect(answer).toMatchObject({ status: 200 });
});

test.each<[string, string, Partial<HostCalls>]>([
  ['a call', CALL, { call: async () => reply }],
  ['a call that fails', CALL, { call: () => Promise.reject(failure) }],
  ['a read', READ, { readEvents: async () => [] }],
  ['a read that fails', READ, { readEvents: () => Promise.reject(failure) }],
])('the clock of a handler moves on once it has waited for %s', async (_what, wait, given) => {
  const { endpoints } = await liveGuest(moved(wait));
  const calls = running(given);
  expect(await endpoints.handle(CONTEXT, request(0), calls)).toMatchObject({ status: 201 });
});

test('it moves on at the end of each wait, and stands still between them', async () => {
  const { endpoints } = await liveGuest(moved(WORK + CALL + WORK + READ + WORK));
  const calls = running({ call: async () => reply, readEvents: async () => [] });
  expect(await endpoints.handle(CONTEXT, request(0), calls)).toMatchObject({ status: 202 });
  const next = running({ call: async () => reply, readEvents: async () => [] });
  expect(await endpoints.handle(CONTEXT, request(0), next)).toMatchObject({ status: 202 });
});
