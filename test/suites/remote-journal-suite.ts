// What a journal keeps of `host/engine/needs/journal.ts` beyond journal-suite.ts if its reads have to wait, and if it may lose the
// outcome of an append.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Journal, LEFT_TO_ANSWER, READ_UNITS_MAX } from '../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { SvcError } from '../../kit/svc-error.ts';
import { answerTo, append, keep, type JournalUnderTest, recordOf } from './journal-suite.ts';

export interface RemoteJournalUnderTest extends JournalUnderTest {
  readonly journal: Journal & Required<Pick<Journal, 'lookAhead'>>;
  /**
   * Loses the outcome of the first append that `queue` makes, stored or not, and returns what all of them settle with. The appends of
   * other entities may share its fate.
   */
  readonly loseOutcome: (
    isStored: boolean,
    queue: () => readonly Promise<SvcError | undefined>[],
  ) => Promise<readonly (SvcError | undefined)[]>;
}

export function remoteJournalSuite(
  place: string,
  open: () => Promise<RemoteJournalUnderTest>,
): void {
  describe(`the remote journal kept ${place}`, () => {
    const one: EntityRef = { component: 'Cart', id: 'one' };
    const two: EntityRef = { component: 'Cart', id: 'two' };
    let underTest: RemoteJournalUnderTest;
    let journal: RemoteJournalUnderTest['journal'];

    beforeEach(async () => {
      underTest = await open();
      ({ journal } = underTest);
    });
    afterEach(async () => {
      await underTest.discard();
    });

    test('an answer that is looked up ahead is the one that is found', async () => {
      const { retentionMs, ...first } = answerTo('k', 1);
      expect(await journal.lookAhead(one, 'k')).toBeUndefined();
      await keep(journal, one, [{ ...recordOf(1), key: 'k' }], { ...first, retentionMs });
      const keys = [
        [one, 'k'],
        [one, 'K'],
        [two, 'k'],
        [one, 'k'],
      ] as const;
      const found = keys.map(([entity, key]) => journal.lookAhead(entity, key));
      expect(await Promise.all(found)).toEqual([first, undefined, undefined, first]);
      await keep(journal, one, [], answerTo('k', 2));
      expect(await journal.lookAhead(one, 'k')).toMatchObject({ timeMs: 2 });
      await journal.close();
      await expect(journal.lookAhead(one, 'k')).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
    });

    test('lookups ahead bring a bounded number of bytes, and leave the rest to those that run', async () => {
      const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
      const json = JSON.stringify('x'.repeat(READ_UNITS_MAX / 4));
      for (const key of keys)
        await keep(journal, one, [], { ...answerTo(key, 1), outcome: { kind: 'reply', json } });
      const found = await Promise.all(keys.map((key) => journal.lookAhead(one, key)));
      const brought = found.filter((reply) => reply !== LEFT_TO_ANSWER);
      // The last one of a response may be beyond the limit.
      expect(brought.length).toBeGreaterThan(0);
      expect(brought.length).toBeLessThanOrEqual(5);
      for (const reply of brought) expect(reply?.outcome).toEqual({ kind: 'reply', json });
      for (const key of keys)
        expect((await journal.answer(one, key))?.outcome).toEqual({ kind: 'reply', json });
      // Of those that have no reply, none takes memory.
      const absent = keys.map((key) => journal.lookAhead(two, key));
      expect(await Promise.all(absent)).toEqual(keys.map(() => undefined));
    });

    test('an incarnation says that there is more, however many bytes its characters take', async () => {
      // The first four have as many units as a page ends with, and three bytes a unit.
      const json = JSON.stringify('語'.repeat(READ_UNITS_MAX / 3 - 5_000));
      const records = [1, 2, 3, 4, 5].map((seq) => recordOf(seq, json));
      for (const record of records) expect(await append(journal, one, record)).toBeUndefined();
      const { records: first, isWhole } = await journal.incarnation(one, 10, undefined);
      expect(first.length).toBeLessThan(5);
      expect(isWhole).toBe(false);
      const rest = await journal.read(one, first.length, 10);
      expect([...first, ...rest]).toEqual(records);
    });

    test.each([
      ['is stored', true],
      ['is not stored', false],
    ])(
      'after an append of which nobody learns that it %s, reads are final, and those behind it fail',
      async (_what, isStored) => {
        await append(journal, one, recordOf(1));
        const keyed = { ...recordOf(2), key: 'k' };
        const outcomes = await underTest.loseOutcome(isStored, () => [
          keep(journal, one, [keyed], answerTo('k', 1)),
          append(journal, one, recordOf(3)),
          append(journal, two, recordOf(1)),
        ]);
        expect(outcomes[0]?.code).toBe('SVC_CALL_UNCERTAIN');
        expect(outcomes[1]).toBeDefined();
        // The append of the other entity may have shared the fate.
        expect([undefined, 'SVC_CALL_UNCERTAIN']).toContain(outcomes[2]?.code);
        const isOtherStored = outcomes[2] === undefined || isStored;
        expect(await journal.read(two, 0, 10)).toHaveLength(isOtherStored ? 1 : 0);
        const stored = await journal.read(one, 0, 10);
        expect(stored.slice(0, 2)).toEqual(isStored ? [recordOf(1), keyed] : [recordOf(1)]);
        const found = await Promise.all([journal.answer(one, 'k'), journal.lookAhead(one, 'k')]);
        expect(found.map((reply) => (typeof reply === 'object' ? reply.timeMs : reply))).toEqual(
          isStored ? [1, 1] : [undefined, undefined],
        );
        const next = stored.length + 1;
        expect(await append(journal, one, recordOf(next))).toBeUndefined();
        expect((await journal.incarnation(one, 10, undefined)).records).toHaveLength(next);
      },
    );
  });
}
