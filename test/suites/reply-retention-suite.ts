// How long every journal keeps the replies to idempotency keys, by `ReplyToStore.retentionMs`.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../model/entity.ts';
import { answerTo, type JournalUnderTest, keep } from './journal-suite.ts';

export function replyRetentionSuite(name: string, open: () => Promise<JournalUnderTest>): void {
  describe(`the replies in a journal ${name}`, () => {
    const one: EntityRef = { component: 'Cart', id: 'one' };
    const two: EntityRef = { component: 'Cart', id: 'two' };
    let underTest: JournalUnderTest;
    let journal: Journal;

    beforeEach(async () => {
      underTest = await open();
      ({ journal } = underTest);
    });
    afterEach(async () => {
      await underTest.discard();
    });

    test('are forgotten at that age, whatever their entity, and no younger one', async () => {
      for (let time = 1; time <= 9; time++)
        await keep(journal, time % 2 === 0 ? one : two, [], answerTo(`k${time}`, time));
      // A few at a time, with each that is kept.
      for (let n = 0; n < 10; n++)
        await keep(journal, one, [], { ...answerTo(`later${n}`, 100), retentionMs: 94 });
      for (let time = 1; time <= 9; time++) {
        const answer = await journal.answer(time % 2 === 0 ? one : two, `k${time}`);
        expect(answer?.timeMs).toBe(time < 7 ? undefined : time);
      }
      expect((await journal.answer(one, 'later0'))?.timeMs).toBe(100);
    });

    // A journal whose writers have clocks of their own has its own time, and keeps any that are young by it.
    test('are not forgotten by a writer whose clock is an hour ahead, if they have more than an hour left', async () => {
      const [hourMs, retentionMs] = [3_600_000, 24 * 3_600_000];
      const startMs = 1_700_000_000_000;
      const ageHours = [22.9, 12, 0];
      for (const hours of ageHours)
        await keep(journal, one, [], answerTo(`${hours}`, startMs - hours * hourMs));
      for (let n = 0; n < 10; n++)
        await keep(journal, two, [], { ...answerTo(`k${n}`, startMs + hourMs + n), retentionMs });
      for (const hours of ageHours) expect(await journal.answer(one, `${hours}`)).toBeDefined();
      // The replies that are ahead keep no other one from being forgotten in its time.
      for (let n = 0; n < 10; n++)
        await keep(journal, one, [], { ...answerTo(`l${n}`, startMs + 2 * hourMs), retentionMs });
      const left = await Promise.all(
        ageHours.map(async (hours) => journal.answer(one, `${hours}`)),
      );
      expect(left.map((answer) => answer !== undefined)).toEqual([false, true, true]);
    });
  });
}
