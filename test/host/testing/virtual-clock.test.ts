// The clock of a test: in which order what is due happens, and when time passes.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../host/testing.ts';

/** Returns a clock, and a function that notes what has happened and when. */
function noting() {
  const clock = new VirtualClock(1_000_000);
  const noted: string[] = [];
  const note = (what: string) => () => void noted.push(`${what}@${clock.monotonicMs()}`);
  return { clock, noted, note };
}

test('what is due happens in the order of its times, and then in that of its calls', async () => {
  const { clock, noted, note } = noting();
  clock.after(20, note('third'));
  clock.after(10, note('first'));
  clock.after(10, note('second'));
  clock.after(21, note('late'));
  await clock.advance(20);
  expect(noted).toEqual(['first@10', 'second@10', 'third@20']);
  expect([clock.nowMs(), clock.monotonicMs(), clock.waiting]).toEqual([1_000_020, 20, 1]);
});

test('what a callback waits for happens in the same step', async () => {
  const { clock, noted, note } = noting();
  clock.after(10, () => {
    note('one')();
    clock.after(5, note('two'));
    clock.after(0, note('at once'));
  });
  await clock.advance(15);
  expect(noted).toEqual(['one@10', 'at once@10', 'two@15']);
});

test('a callback that was cancelled never happens, and others of its time do', async () => {
  const { clock, noted, note } = noting();
  const cancels = ['a', 'b', 'c'].map((name) => clock.after(10, note(name)));
  cancels[1]!();
  cancels[1]!();
  await clock.advance(10);
  cancels[0]!();
  expect([noted, clock.waiting]).toEqual([['a@10', 'c@10'], 0]);
});

test('no time passes while promises and callbacks of setImmediate follow one another', async () => {
  const { clock, noted, note } = noting();
  clock.after(10, () => {
    const again = (left: number): void => {
      if (left === 0) note('done')();
      else setImmediate(() => void Promise.resolve().then(() => again(left - 1)));
    };
    again(50);
  });
  clock.after(11, note('next'));
  await clock.advance(20);
  expect(noted).toEqual(['done@10', 'next@11']);
});

test('two clocks at once do not wait for each other', async () => {
  const [one, other] = [noting(), noting()];
  one.clock.after(5, one.note('one'));
  other.clock.after(3, other.note('other'));
  await Promise.all([one.clock.advance(10), other.clock.advance(10)]);
  expect([...one.noted, ...other.noted]).toEqual(['one@5', 'other@3']);
});

test('no time passes while it is held, and each holder lets go once', async () => {
  const { clock, noted, note } = noting();
  const holders = [clock.hold(), clock.hold()];
  clock.after(1, note('passed'));
  const advanced = clock.advance(1);
  holders[0]!();
  holders[0]!();
  await sleep(20);
  expect(noted).toEqual([]);
  holders[1]!();
  await advanced;
  expect(noted).toEqual(['passed@1']);
});

test('the wall clock can be set, and the monotonic one does not notice', async () => {
  const { clock, noted, note } = noting();
  clock.after(10, note('due'));
  clock.set(-500_000);
  expect(clock.nowMs()).toBe(500_000);
  await clock.advance(10);
  expect(noted).toEqual(['due@10']);
  expect(clock.nowMs()).toBe(500_010);
});

test('until ends once its condition is met, and fails after its limit', async () => {
  const { clock } = noting();
  let isMet = false;
  clock.after(1_000, () => void (isMet = true));
  await clock.until(() => isMet, 2_000);
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(1_000);
  await expect(clock.until(() => false, 100)).rejects.toThrow('not so within 100 ms');
});
