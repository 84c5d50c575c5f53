// Why a timer is put off or dead is stored and logged, so it has no secrets of the configuration.
import { expect, test } from 'vitest';
import { TimersUnderTest } from '../../../support/timers-under-test.ts';

const SECRET = 'sk_live_4711';

test.each([
  ['in it', `no: ${SECRET}!`, 'it was refused with TOO_MANY_REQUESTS: no: ***!'],
  ['where it is cut', `${'x'.repeat(955)}${SECRET}`, expect.stringMatching(/x\*\*\*$/)],
])('a failed timer has a reason without the secret %s', async (_where, message, reason) => {
  const it = new TimersUnderTest({ shown: (text) => text.replaceAll(SECRET, '***') });
  const refusal = { kind: 'refusal', code: 'TOO_MANY_REQUESTS', message };
  await it.set('a', 'effect', refusal, { attempts: 2 });
  expect(await it.fired(it.timerOf('a')!)).toBe('retried');
  const timer = it.timerOf('a')!;
  expect(timer.fault).toEqual(reason);
  expect(await it.fired(timer)).toBe('dead');
  expect(it.memory.timer(timer.number)!.fault).toEqual(reason);
  expect(it.deadTimers).toEqual([[expect.anything(), 2, reason]]);
});
