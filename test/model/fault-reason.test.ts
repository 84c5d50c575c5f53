// The reason of a failure as operators read it beside a timer, a consumer or a view.
import { expect, test } from 'vitest';
import { faultReason } from '../../model/fault-reason.ts';
import { GuestFault } from '../../model/guest-fault.ts';

const TRAPPED = 'The module trapped: unreachable.';
const ABORT = 'abort: boom: at all at assembly/ledger.ts:37:39';

test.each([
  [
    'an abort',
    new GuestFault('trap', TRAPPED, { guestMessage: ABORT }),
    'boom: at all (assembly/ledger.ts:37:39)',
  ],
  [
    'an abort within something that is named',
    new GuestFault('trap', `event 2 cannot be folded: ${TRAPPED}`, { guestMessage: ABORT }),
    'event 2 cannot be folded: boom: at all (assembly/ledger.ts:37:39)',
  ],
  [
    'an abort of several lines',
    new GuestFault('trap', TRAPPED, { guestMessage: 'abort: one\ntwo at a.ts:1:2' }),
    'one (a.ts:1:2)',
  ],
  ['a trap without words', new GuestFault('trap', TRAPPED), TRAPPED],
  ['words of another form', new GuestFault('trap', TRAPPED, { guestMessage: 'abort' }), 'abort'],
  [
    'an error that a program threw: its stack is for the log',
    new GuestFault('trap', "command 'a' threw an error", {
      guestMessage: 'Error: boom\n    at a.ts:1:2',
    }),
    "command 'a' threw an error: Error: boom",
  ],
  [
    'a limit that says more than the words',
    new GuestFault('memory', 'The module trapped after its memory could not grow.', {
      guestMessage: ABORT,
    }),
    'The module trapped after its memory could not grow: boom: at all (assembly/ledger.ts:37:39)',
  ],
  ['another error', new Error('lost'), 'lost'],
  ['what is no error', 'lost', 'lost'],
])('is given for %s', (_what, failure, reason) => {
  expect(faultReason(failure)).toBe(reason);
});
