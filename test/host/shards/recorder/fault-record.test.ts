// The record of a failure in a span.
import { describe, expect, test } from 'vitest';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { outcomeOfFailure, SPAN_OUTCOMES } from '../../../../model/span-outcome.ts';
import { recordedFault } from '../../../../host/shards/recorder/fault-record.ts';

const FRAMES = [{ functionIndex: 12, offset: 0x1a2b }];
const NOTHING = { limit: undefined, guestMessage: undefined, frames: undefined };

test.each([
  [
    "a guest's fault: its cause, limit, words and frames",
    new GuestFault('fuel', 'It used up its fuel.', {
      limit: 'command-fuel',
      guestMessage: 'abort: late',
      logLines: ['a line'],
      frames: FRAMES,
    }),
    {
      code: 'fuel',
      limit: 'command-fuel',
      reason: 'It used up its fuel.',
      guestMessage: 'abort: late',
      logLines: ['a line'],
      frames: FRAMES,
    },
  ],
  [
    'a failure of the runtime: its code',
    new SvcError('SVC_JOURNAL_FULL', 'There is no room.'),
    { code: 'SVC_JOURNAL_FULL', reason: 'There is no room.', ...NOTHING },
  ],
  [
    "a failure of the runtime that a guest's fault led to: both",
    new SvcError('SVC_ANSWER_TIMED_OUT', 'It took too long.', {
      cause: new GuestFault('time', 'Late.', {
        limit: 'request-time',
        logLines: ['a line'],
        frames: FRAMES,
      }),
    }),
    {
      code: 'SVC_ANSWER_TIMED_OUT',
      reason: 'It took too long.',
      limit: 'request-time',
      guestMessage: undefined,
      logLines: ['a line'],
      frames: FRAMES,
    },
  ],
  [
    'a refusal: its code',
    { kind: 'refusal', code: 'CONFLICT', message: 'It is taken.' },
    { code: 'CONFLICT', reason: 'It is taken.', ...NOTHING },
  ],
  [
    "a refusal with a word of the module's own: that",
    { kind: 'refusal', code: 'OTHER', otherCode: 'OUT_OF_STOCK', message: 'None left.' },
    { code: 'OUT_OF_STOCK', reason: 'None left.', ...NOTHING },
  ],
  [
    'what should not be: a bug',
    new TypeError('undefined is not a function'),
    { code: 'bug', reason: 'undefined is not a function', ...NOTHING },
  ],
  ['what is no error at all: a bug', 'oh no', { code: 'bug', reason: 'oh no', ...NOTHING }],
])('of %s', (_what, failure, kept) => {
  expect(recordedFault(failure, 'e1')).toEqual({ ...kept, errorId: 'e1' });
});

test("a module's words are cut", () => {
  const long = 'x'.repeat(1_000_000);
  const fault = recordedFault(new GuestFault('trap', long, { guestMessage: long }), undefined);
  expect(fault.reason).toHaveLength(2_001);
  expect(fault.guestMessage).toHaveLength(2_001);
  const refused = { kind: 'refusal', code: 'OTHER', otherCode: long, message: long };
  const { code, reason } = recordedFault(refused, undefined);
  expect([code.length, reason.length]).toEqual([2_001, 2_001]);
});

describe('it came out as', () => {
  test.each([
    [new GuestFault('trap', ''), 'Failed'],
    [new GuestFault('memory', ''), 'Failed'],
    [new GuestFault('stack', ''), 'Failed'],
    [new GuestFault('value', ''), 'Failed'],
    [new GuestFault('limit', ''), 'Failed'],
    [new GuestFault('fuel', ''), 'TimedOut'],
    [new GuestFault('time', ''), 'TimedOut'],
    [new SvcError('SVC_ANSWER_TIMED_OUT', ''), 'TimedOut'],
    [new SvcError('SVC_OVERLOADED', ''), 'Failed'],
    [new SvcError('SVC_JOURNAL_UNAVAILABLE', ''), 'Failed'],
    [new Error('a bug'), 'Failed'],
  ])('%s %#: %s', (failure, word) => {
    expect(SPAN_OUTCOMES[outcomeOfFailure(failure)]).toBe(word);
  });
});
