// LocatedFaults: each fault is located once, in the module that ran then, and a failure loses only the location.
import { describe, expect, test } from 'vitest';
import { SvcError } from '../../../kit/svc-error.ts';
import type { RecordedFault } from '../../../host/shards/recorder/recorded-span.ts';
import type { HistoryQuestion } from '../../../host/history/reader/history-reader.ts';
import { LocatedFaults } from '../../../host/introspection/located-faults.ts';

type Asked = Extract<HistoryQuestion, { kind: 'locations' }>;

const fault = (guestMessage?: string): RecordedFault => ({
  code: 'trap',
  limit: undefined,
  reason: 'The module trapped.',
  guestMessage,
  frames: undefined,
  errorId: undefined,
});
const location = (file: string, line: number, name = 'bill.share') => ({
  file,
  line,
  column: null,
  function: name,
});
const ran = { kind: 'query', component: 'bill', handler: 'share' } as const;

/** The line of a location is the number of faults that were asked for before. */
function placedFaults(isAway: () => boolean = () => false, wait = Promise.resolve()) {
  const asked: Asked[] = [];
  const past = {
    ask: async (question: Asked) => {
      asked.push(question);
      await wait;
      if (isAway()) throw new SvcError('SVC_ANSWER_TIMED_OUT', 'It computes.');
      const { of, faults } = question;
      return {
        kind: 'locations',
        locations: faults.map((_, at) => [location(of.file!, at, 'entity_query')]),
      };
    },
  };
  return { asked, faults: new LocatedFaults(past as never, 50) };
}

const ONE = { kind: 'wasm' as const, file: 'one.wasm', fingerprint: '1', sinceMs: 0 };
const TWO = { kind: 'wasm' as const, file: 'two.wasm', fingerprint: '2', sinceMs: 100 };

describe('a location', () => {
  test('is asked for once, together with the others', async () => {
    const { asked, faults } = placedFaults();
    faults.served(ONE);
    const [first, second] = [fault('a'), fault('b')];
    const spans = [
      { ...ran, startMs: 1, fault: first },
      { ...ran, startMs: 2, fault: second },
      { ...ran, startMs: 3, fault: undefined },
    ];
    await faults.find(spans);
    await faults.find(spans);
    expect(asked.length).toBe(1);
    expect([faults.locationsOf(first), faults.locationsOf(second)]).toEqual([
      [location('one.wasm', 0)],
      [location('one.wasm', 1)],
    ]);
  });

  test('is not asked for without frames or a message', async () => {
    const { asked, faults } = placedFaults();
    faults.served(ONE);
    const plain = fault();
    await faults.find([{ ...ran, startMs: 1, fault: plain }]);
    expect([asked, faults.locationsOf(plain)]).toEqual([[], []]);
  });

  test('is in the sources of the module that was served then', async () => {
    const { asked, faults } = placedFaults();
    faults.served(ONE);
    faults.served(TWO);
    const [old, recent] = [fault('a'), fault('b')];
    await faults.find([
      { ...ran, startMs: 99, fault: old },
      { ...ran, startMs: 100, fault: recent },
    ]);
    expect(faults.locationsOf(old)).toEqual([location('one.wasm', 0)]);
    expect(faults.locationsOf(recent)).toEqual([location('two.wasm', 0)]);
    expect(asked.map(({ of }) => of.fingerprint)).toEqual(['1', '2']);
  });

  test('that cannot be found is none, and is asked for again', async () => {
    let isAway = true;
    const { asked, faults } = placedFaults(() => isAway);
    faults.served(ONE);
    const one = fault('a');
    await faults.find([{ ...ran, startMs: 1, fault: one }]);
    expect(faults.locationsOf(one)).toEqual([]);
    isAway = false;
    await faults.find([{ ...ran, startMs: 1, fault: one }]);
    expect(faults.locationsOf(one)).toEqual([location('one.wasm', 0)]);
    expect(asked.length).toBe(2);
  });

  test('that is not found in time is not waited for, nor asked for twice, and is known later', async () => {
    const busy = Promise.withResolvers<void>();
    const { asked, faults } = placedFaults(undefined, busy.promise);
    faults.served(ONE);
    const one = fault('a');
    await faults.find([{ ...ran, startMs: 1, fault: one }]);
    await faults.find([{ ...ran, startMs: 1, fault: one }]);
    expect([asked.length, faults.locationsOf(one)]).toEqual([1, []]);
    busy.resolve();
    await faults.find([{ ...ran, startMs: 1, fault: one }]);
    expect([asked.length, faults.locationsOf(one)]).toEqual([1, [location('one.wasm', 0)]]);
  });
});
