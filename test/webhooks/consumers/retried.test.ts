// Events that cannot be handled are handled again, whatever the reason is.
import { expect, test } from 'vitest';
import { refuse } from '@svc/host';
import { SvcError } from '@svc/kit/svc-error';
import { retried } from '../../../webhooks/consumers/retried.ts';

type Context = Parameters<typeof retried>[0];
type Verdict = ReturnType<Context['retry']>;

async function handledBy(handle: Parameters<typeof retried>[2]) {
  const reasons: string[] = [];
  const failures: string[] = [];
  const again = {} as Verdict;
  const retry: Context['retry'] = (reason) => {
    reasons.push(reason);
    return again;
  };
  const verdict = await retried({ retry }, (reason) => void failures.push(reason), handle);
  expect(failures).toEqual(reasons);
  return { isAgain: verdict === again, reasons };
}

test('an error has the event handled again, also one that is no SvcError', async () => {
  const emfile = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  for (const error of [
    emfile,
    new TypeError('no such thing'),
    new SvcError('SVC_DISK_FULL', 'Full.'),
  ])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await handledBy(() => Promise.reject(error))).toEqual({
      isAgain: true,
      reasons: [String(error)],
    });
});

test('a refusal has the event handled again, and does not park it', async () => {
  expect(await handledBy(() => Promise.resolve(refuse('not now', 'CONFLICT')))).toEqual({
    isAgain: true,
    reasons: ['CONFLICT: not now'],
  });
});

test('a verdict is passed on', async () => {
  const done = {} as Verdict;
  expect(await handledBy(() => Promise.resolve(done))).toEqual({ isAgain: false, reasons: [] });
});
