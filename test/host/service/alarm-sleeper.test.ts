// The sleep of the dispatcher: what ends it, and which ends count as signals of the journal.
import { expect, test } from 'vitest';
import { AlarmSleeper } from '../../../host/service/alarm-sleeper.ts';
import { TimerAlarm } from '../../../host/storage/timer-alarm.ts';

const NOW = 1_700_000_000_000;
/** A sleep of this length would fail its test. */
const LONG_MS = 600_000;

function sleeping(alarm = new TimerAlarm()) {
  return { alarm, sleeper: new AlarmSleeper(alarm, () => NOW) };
}

test('a sleep ends after its time, without a signal', async () => {
  const { sleeper } = sleeping();
  expect(await sleeper.sleep(1)).toBe(false);
  expect(await sleeper.sleep(0)).toBe(false);
});

test('a sleep of no time lets the event loop go on', async () => {
  const { sleeper } = sleeping();
  const order: string[] = [];
  setImmediate(() => order.push('other'));
  await sleeper.sleep(0);
  order.push('awake');
  expect(order).toEqual(['other', 'awake']);
});

test('a timer that is due before the end of the sleep ends it, and one that is due later does not', async () => {
  const { alarm, sleeper } = sleeping();
  let isAwake = false;
  const slept = sleeper.sleep(LONG_MS).finally(() => (isAwake = true));
  alarm.stored(NOW + LONG_MS);
  await new Promise(setImmediate);
  expect(isAwake).toBe(false);
  alarm.stored(NOW + LONG_MS - 1);
  expect(await slept).toBe(true);
});

test('a timer that is stored between two sleeps ends the next one at once, and no other', async () => {
  const { alarm, sleeper } = sleeping();
  await sleeper.sleep(0);
  alarm.stored(NOW + 10 * LONG_MS);
  expect(await sleeper.sleep(LONG_MS)).toBe(true);
  expect(await sleeper.sleep(1)).toBe(false);
});

test('an interruption ends the sleep, or the next one, and is no signal', async () => {
  const { sleeper } = sleeping();
  const slept = sleeper.sleep(LONG_MS);
  sleeper.interrupt();
  sleeper.interrupt();
  expect(await slept).toBe(false);
  sleeper.interrupt();
  expect(await sleeper.sleep(LONG_MS)).toBe(false);
  expect(await sleeper.sleep(1)).toBe(false);
});

test('a signal counts also when an interruption ends the same sleep', async () => {
  const { alarm, sleeper } = sleeping();
  const slept = sleeper.sleep(LONG_MS);
  sleeper.interrupt();
  alarm.stored(NOW);
  expect(await slept).toBe(true);
});

test('a signal counts when the count of the alarm wraps', async () => {
  const { shared } = new TimerAlarm();
  new Int32Array(shared)[0] = 2 ** 31 - 1;
  const { alarm, sleeper } = sleeping(new TimerAlarm(shared));
  alarm.wake();
  expect(await sleeper.sleep(LONG_MS)).toBe(true);
});
