import { describe, expect, test } from 'vitest';
import { FaultReport } from '../../model/fault-report.ts';
import { LimitCounters } from '../../model/limit-counters.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../kit/svc-error.ts';

function report() {
  const counters = new LimitCounters();
  const counts = () =>
    Object.fromEntries(Object.entries(counters.read()).filter(([, count]) => count > 0));
  return { faults: new FaultReport(counters), counts };
}

describe('a fault', () => {
  test('is logged with its cause, its limit and the message of the module, and counted by both', () => {
    const { faults, counts } = report();
    const fault = new GuestFault('fuel', 'It ran out.', {
      limit: 'command-fuel',
      guestMessage: 'abort: boom at cart.ts:1:2',
    });
    expect(faults.fields(fault)).toEqual({
      code: 'fuel',
      limit: 'command-fuel',
      reason: 'It ran out.',
      guestMessage: 'abort: boom at cart.ts:1:2',
    });
    expect(counts()).toEqual({ 'fault:fuel': 1, 'limit:command-fuel': 1 });
  });

  test('that is reported twice is counted once, and the message of the module is logged once', () => {
    const { faults, counts } = report();
    const fault = new GuestFault('trap', 'It trapped.', { guestMessage: 'boom' });
    faults.fields(fault);
    expect(faults.fields(fault)).toEqual({ code: 'trap', reason: 'It trapped.' });
    expect(counts()).toEqual({ 'fault:trap': 1 });
    faults.fields(new GuestFault('trap', 'It trapped.'));
    expect(counts()).toEqual({ 'fault:trap': 2 });
  });
});

test('an answer that was not in time has met the limit of a request once, however the handler ends', () => {
  const { faults, counts } = report();
  const cause = new GuestFault('time', 'It was not done.', { limit: 'request-time' });
  const late = new SvcError('SVC_ANSWER_TIMED_OUT', 'It took too long.', { cause });
  faults.fields(late);
  expect(faults.fields(late)).toEqual({
    code: 'SVC_ANSWER_TIMED_OUT',
    reason: 'It took too long.',
  });
  const counted = { 'failure:SVC_ANSWER_TIMED_OUT': 1, 'fault:time': 1, 'limit:request-time': 1 };
  expect(counts()).toEqual(counted);
  // The guest message is known only after the handler has ended.
  const ended = new GuestFault('time', 'It was not done.', {
    limit: 'request-time',
    guestMessage: 'still counting',
    cause,
  });
  expect(faults.fields(ended)).toMatchObject({ guestMessage: 'still counting' });
  expect(counts()).toEqual(counted);
});

test('a fault that another shard has counted is not counted here, and its message is logged if it was not', () => {
  const [there, here] = [report(), report()];
  const told = new GuestFault('trap', 'It trapped.', { guestMessage: 'boom' });
  there.faults.fields(told);
  expect(there.faults.passedOn(told)).toBe(true);
  const untold = new GuestFault('trap', 'It trapped.', { guestMessage: 'boom' });
  expect(there.faults.passedOn(untold)).toBe(false);
  expect(there.faults.fields(untold)).toEqual({ code: 'trap', reason: 'It trapped.' });
  expect(there.counts()).toEqual({ 'fault:trap': 2 });

  const first = new GuestFault('trap', 'It trapped.', { guestMessage: 'boom' });
  const second = new GuestFault('trap', 'It trapped.', { guestMessage: 'boom' });
  here.faults.isKnown(first, true);
  expect(here.faults.fields(first)).not.toHaveProperty('guestMessage');
  here.faults.isKnown(second, false);
  expect(here.faults.fields(second)).toMatchObject({ guestMessage: 'boom' });
  expect(here.faults.fields(second)).not.toHaveProperty('guestMessage');
  expect(here.counts()).toEqual({});
});

test('a failure of the runtime is logged with its code, a bug with its stack', () => {
  const { faults, counts } = report();
  expect(faults.fields(new SvcError('SVC_JOURNAL_UNAVAILABLE', 'It is gone.'))).toEqual({
    code: 'SVC_JOURNAL_UNAVAILABLE',
    reason: 'It is gone.',
  });
  expect(faults.fields(new TypeError('oh'))).toMatchObject({
    code: 'bug',
    reason: expect.stringMatching(/^TypeError: oh\n +at /),
  });
  expect(counts()).toEqual({ 'failure:SVC_JOURNAL_UNAVAILABLE': 1 });
});
