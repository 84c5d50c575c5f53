// What every journal keeps of `host/engine/needs/journal.ts`.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ReplyToStore,
  type Journal,
  type StoredReply,
  READ_UNITS_MAX,
} from '../../host/engine/needs/journal.ts';
import type { Refusal, Reply } from '../../model/call.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import type { SvcError } from '../../kit/svc-error.ts';

/** A journal for one test. */
export interface JournalUnderTest {
  readonly journal: Journal;
  /** Ends what the test used, whatever state it is in. */
  discard(): Promise<void>;
}

export function recordOf(seq: number, json = `{"type":"E","n":${seq}}`): JournalRecord {
  return { kind: 'event', seq, timeMs: 1_700_000_000_000 + seq, event: { manifest: 'E', json } };
}

export function deletionAt(seq: number): JournalRecord {
  return { kind: 'deleted', seq, timeMs: 1_700_000_000_000 + seq };
}

/** Settles as the append does, as a value. */
export function append(
  journal: Journal,
  entity: EntityRef,
  ...records: readonly JournalRecord[]
): Promise<SvcError | undefined> {
  return new Promise((resolve) => {
    journal.append(entity, records, resolve);
  });
}

/** As `append`, with an answer. */
export function keep(
  journal: Journal,
  entity: EntityRef,
  records: readonly JournalRecord[],
  answer: ReplyToStore,
): Promise<SvcError | undefined> {
  return new Promise((resolve) => {
    journal.append(entity, records, resolve, { reply: answer });
  });
}

export function answerTo(key: string, timeMs: number): ReplyToStore {
  const outcome: Reply = { kind: 'reply', json: `"${key} at ${timeMs}"` };
  return { key, digest: `digest of ${key}`, timeMs, outcome, retentionMs: Infinity };
}

function keyed(seq: number): JournalRecord {
  return { ...recordOf(seq), key: 'k' };
}

function kept({ key, digest, timeMs, outcome }: ReplyToStore): StoredReply {
  return { key, digest, timeMs, outcome };
}

export function journalSuite(place: string, open: () => Promise<JournalUnderTest>): void {
  describe(`the journal kept ${place}`, () => {
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

    test('what was appended is read back in order, from where one asks and no more', async () => {
      const records = Array.from({ length: 25 }, (_, index) => recordOf(index + 1));
      for (const record of records) expect(await append(journal, one, record)).toBeUndefined();
      expect(await journal.read(one, 0, 1_000)).toEqual(records);
      expect(await journal.read(one, 7, 10)).toEqual(records.slice(7, 17));
      expect(await journal.read(one, 20, 10)).toEqual(records.slice(20));
      expect(await journal.read(one, 25, 10)).toEqual([]);
    });

    test('a read ends after the record with which its JSON reaches the units of a page', async () => {
      const quarter = READ_UNITS_MAX / 4;
      const records = [1, 2, 3, 4, 5, 6].map((seq) =>
        recordOf(seq, `"${'x'.repeat(quarter - 2)}"`),
      );
      records.push(recordOf(7, `"${'x'.repeat(READ_UNITS_MAX)}"`), recordOf(8));
      for (const record of records) expect(await append(journal, one, record)).toBeUndefined();
      expect(await journal.read(one, 0, 100)).toEqual(records.slice(0, 4));
      expect(await journal.read(one, 0, 3)).toEqual(records.slice(0, 3));
      expect(await journal.read(one, 4, 100)).toEqual(records.slice(4, 7));
      expect(await journal.read(one, 6, 100)).toEqual(records.slice(6, 7));
      expect(await journal.read(one, 7, 100)).toEqual(records.slice(7));
    });

    test('a record keeps the author of its command, and a record without an author has none', async () => {
      const by = '["https://login.example.com","user-1"]';
      const records = [{ ...recordOf(1), by }, recordOf(2), { ...deletionAt(3), by }];
      for (const record of records) expect(await append(journal, one, record)).toBeUndefined();
      expect(await journal.read(one, 0, 10)).toEqual(records);
    });

    test('an entity without records has none, and was never deleted', async () => {
      expect(await journal.read(one, 0, 10)).toEqual([]);
      expect(await journal.lastDeletion(one)).toBe(0);
    });

    test('an append settles after the call has returned, and can be read then', async () => {
      let settled = false;
      const stored = new Promise<readonly JournalRecord[]>((resolve) => {
        journal.append(one, [recordOf(1)], () => {
          settled = true;
          resolve(journal.read(one, 0, 10));
        });
      });
      expect(settled).toBe(false);
      expect(await stored).toEqual([recordOf(1)]);
    });

    test('appends settle once each, those of an entity in the order in which they were queued', async () => {
      const settled = new Map<string, string[]>([
        ['one', []],
        ['two', []],
      ]);
      const all = Array.from({ length: 200 }, (_, index) => {
        const entity = index % 2 === 0 ? one : two;
        const seq = Math.floor(index / 2) + 1;
        return new Promise<void>((resolve) => {
          journal.append(entity, [recordOf(seq)], (failure) => {
            settled.get(entity.id)!.push(`${seq} ${failure?.code ?? 'stored'}`);
            resolve();
          });
        });
      });
      await Promise.all(all);
      await append(journal, one, recordOf(101));
      const inOrder = Array.from({ length: 100 }, (_, index) => `${index + 1} stored`);
      expect([...settled]).toEqual([
        ['one', inOrder],
        ['two', inOrder],
      ]);
    });

    test('the records of one append are stored together', async () => {
      const records = [recordOf(1), recordOf(2), deletionAt(3)];
      expect(await append(journal, one, ...records)).toBeUndefined();
      expect(await journal.read(one, 0, 10)).toEqual(records);
    });

    test('a number that is taken or leaves a hole fails its append alone', async () => {
      await append(journal, one, recordOf(1));
      const outcomes = await Promise.all([
        append(journal, { component: 'Cart', id: 'before' }, recordOf(1)),
        append(journal, one, recordOf(1, '"again"'), recordOf(2, '"again"')),
        append(journal, two, recordOf(2), recordOf(3)),
        append(journal, { component: 'Cart', id: 'after' }, recordOf(1)),
      ]);
      expect(outcomes.map((failure) => failure?.code)).toEqual([
        undefined,
        'SVC_JOURNAL_UNAVAILABLE',
        'SVC_JOURNAL_UNAVAILABLE',
        undefined,
      ]);
      expect(await journal.read(one, 0, 10)).toEqual([recordOf(1)]);
      expect(await journal.read(two, 0, 10)).toEqual([]);
    });

    test('what was queued behind a failed append of its entity fails, even where its number fits', async () => {
      await append(journal, one, recordOf(1));
      const outcomes = await Promise.all([
        append(journal, one, recordOf(1, '"conflict"')),
        append(journal, one, recordOf(2, '"on a state that never was"')),
        append(journal, two, recordOf(1)),
      ]);
      expect(outcomes.map((failure) => failure?.code)).toEqual([
        'SVC_JOURNAL_UNAVAILABLE',
        'SVC_JOURNAL_UNAVAILABLE',
        undefined,
      ]);
      expect(await append(journal, one, recordOf(2))).toBeUndefined();
      expect(await journal.read(one, 0, 10)).toEqual([recordOf(1), recordOf(2)]);
    });

    test('an append from within the callback of a failed one is a new one', async () => {
      await append(journal, one, recordOf(1));
      const retried = new Promise((resolve) => {
        journal.append(one, [recordOf(1)], () => journal.append(one, [recordOf(2)], resolve));
      });
      expect(await retried).toBeUndefined();
    });

    test('of several deletions, the last one is returned', async () => {
      await append(journal, one, recordOf(1), deletionAt(2));
      expect(await journal.lastDeletion(one)).toBe(2);
      await append(journal, one, recordOf(3));
      await append(journal, one, deletionAt(4));
      await append(journal, one, recordOf(5));
      expect(await journal.lastDeletion(one)).toBe(4);
      expect(await journal.lastDeletion(two)).toBe(0);
      expect(await journal.read(one, 4, 10)).toEqual([recordOf(5)]);
    });

    test('the life of an entity begins after its last deletion, and says whether there is more', async () => {
      expect(await journal.incarnation(one, 10, undefined)).toEqual({
        afterSeq: 0,
        snapshot: undefined,
        records: [],
        isWhole: true,
      });
      await append(journal, one, recordOf(1), recordOf(2));
      expect(await journal.incarnation(one, 10, undefined)).toMatchObject({
        afterSeq: 0,
        records: [recordOf(1), recordOf(2)],
        isWhole: true,
      });
      await append(journal, one, deletionAt(3));
      expect(await journal.incarnation(one, 10, 'f')).toMatchObject({ afterSeq: 3, records: [] });
      const later = Array.from({ length: 300 }, (_, index) => recordOf(index + 4));
      await append(journal, one, ...later);
      for (const limit of [1, 2, 128, 129, 299]) {
        const life = await journal.incarnation(one, limit, undefined);
        expect(life).toMatchObject({ afterSeq: 3, records: later.slice(0, limit) });
        expect(life.isWhole).toBe(false);
      }
      expect(await journal.incarnation(one, 1_000, undefined)).toMatchObject({ records: later });
    });

    test('the first page of a life ends as a read does', async () => {
      const half = `"${'x'.repeat(READ_UNITS_MAX / 2)}"`;
      const records = [1, 2, 3].map((seq) => recordOf(seq, half));
      for (const record of records) await append(journal, one, record);
      expect(await journal.incarnation(one, 100, undefined)).toMatchObject({
        records: records.slice(0, 2),
        isWhole: false,
      });
    });

    test('a snapshot is what a life begins with, where its fingerprint is asked for', async () => {
      await append(journal, one, recordOf(1), recordOf(2), recordOf(3));
      await append(journal, two, recordOf(1), recordOf(2));
      journal.keepSnapshot(one, { seq: 1, fingerprint: 'f', state: '"after 1"' });
      journal.keepSnapshot(one, { seq: 2, fingerprint: 'f', state: '"after 2: ä😀"' });
      journal.keepSnapshot(two, { seq: 2, fingerprint: 'f', state: '"two"' });
      // What is sent later is stored later.
      await append(journal, one, recordOf(4));
      const snapshot = '"after 2: ä😀"';
      const records = [recordOf(3), recordOf(4)];
      const life = { afterSeq: 2, snapshot, records, isWhole: true };
      expect(await journal.incarnation(one, 10, 'f')).toEqual(life);
      expect(await journal.incarnation(one, 1, 'f')).toMatchObject({
        snapshot,
        records: [recordOf(3)],
        isWhole: false,
      });
      expect(await journal.incarnation(two, 10, 'f')).toEqual({
        afterSeq: 2,
        snapshot: '"two"',
        records: [],
        isWhole: true,
      });
      const whole = [1, 2, 3, 4].map((seq) => recordOf(seq));
      for (const fingerprint of ['another', undefined])
        expect(await journal.incarnation(one, 10, fingerprint)).toEqual({
          afterSeq: 0,
          snapshot: undefined,
          records: whole,
          isWhole: true,
        });
    });

    test('a snapshot of an earlier incarnation is ignored', async () => {
      await append(journal, one, recordOf(1));
      journal.keepSnapshot(one, { seq: 1, fingerprint: 'f', state: '"old"' });
      await append(journal, one, deletionAt(2));
      expect(await journal.incarnation(one, 10, 'f')).toMatchObject({
        afterSeq: 2,
        snapshot: undefined,
      });
      await append(journal, one, recordOf(3));
      expect(await journal.incarnation(one, 10, 'f')).toMatchObject({
        afterSeq: 2,
        snapshot: undefined,
        records: [recordOf(3)],
      });
    });

    test('entities of the same id in different components are different entities', async () => {
      await append(journal, one, recordOf(1, '"cart"'));
      await append(journal, { component: 'Order', id: 'one' }, recordOf(1, '"order"'));
      expect(await journal.read(one, 0, 10)).toEqual([recordOf(1, '"cart"')]);
    });

    test.each([
      ['an empty object', '{}'],
      ['quotes and backslashes', String.raw`{"a":"\"\\'; DROP TABLE journal; --"}`],
      ['all planes', '"ä€😀\u2028\u{10ffff}\u007f"'],
      ['a megabyte', `"${'€x'.repeat(262_144)}"`],
    ])('a text comes back as it was: %s', async (_, json) => {
      const entity = { component: 'Cart', id: '😀 / % ä' };
      expect(await append(journal, entity, recordOf(1, json))).toBeUndefined();
      expect(await journal.read(entity, 0, 10)).toEqual([recordOf(1, json)]);
    });

    test('an answer is found by its entity and key, with or without records, and the newest counts', async () => {
      const [first, second, other] = [answerTo('k', 1), answerTo('k', 2), answerTo('other', 3)];
      expect(await keep(journal, one, [keyed(1), keyed(2)], first)).toBeUndefined();
      expect(await journal.answer(one, 'k')).toEqual(kept(first));
      expect(await keep(journal, one, [], other)).toBeUndefined();
      expect(await keep(journal, one, [keyed(3)], second)).toBeUndefined();
      expect(await journal.answer(one, 'k')).toEqual(kept(second));
      expect(await journal.answer(one, 'other')).toEqual(kept(other));
      expect(await journal.answer(one, 'K')).toBeUndefined();
      expect(await journal.answer(two, 'k')).toBeUndefined();
      expect(await journal.read(one, 0, 10)).toEqual([keyed(1), keyed(2), keyed(3)]);
    });

    test('an answer is kept with its records or not at all', async () => {
      await append(journal, one, recordOf(1));
      const conflict = keep(journal, one, [recordOf(1, '"conflict"')], answerTo('k', 1));
      const dependent = keep(journal, one, [], answerTo('dependent', 1));
      expect((await conflict)?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
      expect((await dependent)?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
      expect(await journal.answer(one, 'k')).toBeUndefined();
      expect(await journal.answer(one, 'dependent')).toBeUndefined();
      expect(await keep(journal, one, [], answerTo('dependent', 2))).toBeUndefined();
    });

    test('a refusal is kept as it was', async () => {
      const outcome: Refusal = {
        kind: 'refusal',
        code: 'OTHER',
        otherCode: 'SOLD_OUT',
        message: 'ä "quoted" €',
        details: '{"left":0}',
      };
      await keep(journal, one, [], { ...answerTo('k', 1), outcome });
      expect((await journal.answer(one, 'k'))?.outcome).toEqual(outcome);
    });

    test('a refusal is kept with its round, and a reply replaces it', async () => {
      const outcome: Refusal = { kind: 'refusal', code: 'CONFLICT', message: 'not yet' };
      await keep(journal, one, [], { ...answerTo('k', 1), outcome, round: 3 });
      expect(await journal.answer(one, 'k')).toMatchObject({ outcome, round: 3 });
      expect((await journal.answer(one, 'k'))?.outcome).toEqual(outcome);
      const reply = answerTo('k', 2);
      await keep(journal, one, [], { ...reply, round: 4 });
      expect((await journal.answer(one, 'k'))?.outcome).toEqual(reply.outcome);
    });

    test('close waits for what is queued; afterwards nothing is taken any more', async () => {
      const queued = Array.from({ length: 50 }, (_, index) =>
        append(journal, one, recordOf(index + 1)),
      );
      let settledCount = 0;
      for (const settled of queued) void settled.then(() => settledCount++);
      await Promise.all([
        journal.close(),
        journal.close().then(() => expect(settledCount).toBe(50)),
      ]);
      expect(await Promise.all(queued)).toEqual(Array.from({ length: 50 }));
      expect((await append(journal, one, recordOf(51)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
      await expect(journal.read(one, 0, 10)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
      journal.keepSnapshot(one, { seq: 1, fingerprint: 'f', state: '1' });
      await expect((async () => journal.incarnation(one, 10, 'f'))()).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
      await expect(journal.lastDeletion(one)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
      await expect((async () => journal.answer(one, 'k'))()).rejects.toMatchObject({
        code: 'SVC_JOURNAL_UNAVAILABLE',
      });
    });
  });
}
