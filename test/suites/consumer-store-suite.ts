// What every journal does with the consumers and lanes of host/engine/needs/consumers.ts.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  ConsumerReader,
  ConsumerWriter,
  StoredLane,
} from '../../host/engine/needs/consumers.ts';
import type { Position } from '../../host/engine/needs/feed.ts';
import type { Journal } from '../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../model/entity.ts';
import { eventKey } from '../../model/event-key.ts';
import { answerTo, append, keep, recordOf } from './journal-suite.ts';

/** A journal for one test. */
export interface ConsumersUnderTest {
  readonly journal: Journal;
  readonly writer: ConsumerWriter;
  readonly reader: ConsumerReader;
  /** Ends what the test used, whatever state it is in. */
  discard(): Promise<void>;
}

type Consumer = Parameters<ConsumerWriter['settleConsumer']>[0];

const LEDGER = { id: 'ledger', start: 'beginning' } as const;
/** An id with characters that a journal may confuse. */
const ODD_ID = '😀 / % ä\u0000';
const one: EntityRef = { component: 'Cart', id: 'one' };
const three: EntityRef = { component: 'Order', id: 'one' };

function lane(entity: EntityRef, seq: number, more: Partial<StoredLane> = {}): StoredLane {
  const waiting = { attempts: 0, round: 0, nextMs: 1_700_000_000_000, reason: undefined };
  return { entity, seq, ...waiting, ...more };
}

/** `oddId`: for a journal that has no entity with the odd id of the others. */
export function consumerStoreSuite(
  place: string,
  open: () => Promise<ConsumersUnderTest>,
  oddId = ODD_ID,
): void {
  describe(`consumers that are kept ${place}`, () => {
    const two: EntityRef = { component: 'Cart', id: oddId };
    let underTest: ConsumersUnderTest;
    let writer: ConsumerWriter;
    let reader: ConsumerReader;

    beforeEach(async () => {
      underTest = await open();
      ({ writer, reader } = underTest);
      for (const entity of [one, two, three])
        // oxlint-disable-next-line no-await-in-loop -- the order of the entities is that of the appends
        await append(underTest.journal, entity, recordOf(1));
    });
    afterEach(() => underTest.discard());

    const settle = (
      lanes: readonly StoredLane[],
      rejoined: readonly EntityRef[] = [],
      consumer: Consumer = LEDGER,
      position = underTest.journal.positions.end(),
    ) => writer.settleConsumer(consumer, { position, lanes, rejoined });

    test('a consumer is stored with its first settlement', async () => {
      expect(await reader.consumer('ledger')).toBeUndefined();
      expect(await reader.lanes('ledger', 10)).toEqual([]);
      const { start } = underTest.journal.positions;
      await settle([], [], LEDGER, start);
      expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position: start });
      await settle([]);
      const position = underTest.journal.positions.end();
      expect(await reader.consumer('ledger')).toEqual({ ...LEDGER, position });
    });

    test('lanes are read back as they were stored, replaced and removed', async () => {
      const waiting = lane(one, 1, { attempts: 3, round: 2, reason: 'not "yet"\n😀' });
      const parked = lane(two, 1, { round: 2 ** 40, nextMs: undefined, reason: 'It faulted.' });
      await settle([waiting, parked, lane(three, 1)]);
      expect(new Set(await reader.lanes('ledger', 10))).toEqual(
        new Set([waiting, parked, lane(three, 1)]),
      );
      const later = lane(one, 7, { nextMs: 0 });
      await settle([later], [three]);
      expect(new Set(await reader.lanes('ledger', 10))).toEqual(new Set([later, parked]));
      await settle([], [one, two, three]);
      expect(await reader.lanes('ledger', 10)).toEqual([]);
    });

    test('lanes are read in pages', async () => {
      const stored = [lane(one, 1), lane(two, 2), lane(three, 3)];
      await settle(stored);
      const found: StoredLane[] = [];
      for (let page = await reader.lanes('ledger', 1); page.length > 0;) {
        expect(page).toHaveLength(1);
        found.push(...page);
        page = await reader.lanes('ledger', 1, page[0]!.entity);
      }
      expect(found).toHaveLength(3);
      expect(new Set(found)).toEqual(new Set(stored));
    });

    test('consumers do not see one another', async () => {
      const mailer = { id: `mailer'; --`, start: 'now' } as const;
      await settle([lane(one, 1)]);
      await settle([lane(one, 2), lane(two, 1)], [], mailer);
      await settle([], [two], mailer);
      expect(await reader.consumer(mailer.id)).toMatchObject(mailer);
      expect(await reader.lanes('ledger', 10)).toEqual([lane(one, 1)]);
      expect(await reader.lanes(mailer.id, 10)).toEqual([lane(one, 2)]);
    });

    test('a settlement fails once the journal is closed', async () => {
      await underTest.discard();
      const closed = expect.objectContaining({ code: 'SVC_JOURNAL_UNAVAILABLE' }) as Error;
      await expect(settle([], [], LEDGER, '0')).rejects.toEqual(closed);
    });
  });
}

/** What every journal does with the replies to the calls of consumers. Parameters are those of consumerStoreSuite. */
export function consumerReplySuite(
  place: string,
  open: () => Promise<ConsumersUnderTest>,
  oddId = ODD_ID,
): void {
  describe(`the reply to a consumer's call that is kept ${place}`, () => {
    const two: EntityRef = { component: 'Cart', id: oddId };
    let underTest: ConsumersUnderTest;

    const settle = (lanes: readonly StoredLane[], consumer: Consumer = LEDGER, at?: Position) =>
      underTest.writer.settleConsumer(consumer, {
        position: at ?? underTest.journal.positions.end(),
        lanes,
        rejoined: [],
      });

    const DAY_MS = 86_400_000;
    const FRIDAY_MS = Date.UTC(2026, 2, 27, 12);
    const key = `${eventKey({ consumer: 'ledger', entity: two, seq: 1 })}.book.1`;

    /** Stores the reply of Friday, and on Monday as many others as there are to remove the old ones. */
    const onMonday = async (): Promise<number | undefined> => {
      for (let n = 0; n < 20; n++)
        // oxlint-disable-next-line no-await-in-loop -- a few are removed with each that is stored
        await keep(underTest.journal, three, [], {
          ...answerTo(`k${n}`, FRIDAY_MS + 3 * DAY_MS + n),
          retentionMs: DAY_MS,
        });
      return (await underTest.journal.answer(one, key))?.timeMs;
    };

    beforeEach(async () => {
      underTest = await open();
      const { journal } = underTest;
      for (const entity of [one, two, three])
        // oxlint-disable-next-line no-await-in-loop -- the order of the entities is that of the appends
        await append(journal, entity, recordOf(1));
      await keep(journal, one, [], answerTo('before', FRIDAY_MS - 1));
      await keep(journal, one, [], answerTo(key, FRIDAY_MS));
      await keep(journal, one, [], answerTo('after', FRIDAY_MS + 1));
    });

    afterEach(() => underTest.discard());

    test('is kept while the event is after the position of the consumer', async () => {
      await settle([], LEDGER, underTest.journal.positions.start);
      expect(await onMonday()).toBe(FRIDAY_MS);
    });

    test('is kept while the event is parked, and other replies are not', async () => {
      await settle([lane(two, 1, { nextMs: undefined })]);
      expect(await onMonday()).toBe(FRIDAY_MS);
      expect(await underTest.journal.answer(one, 'before')).toBeUndefined();
      expect(await underTest.journal.answer(one, 'after')).toBeUndefined();
    });

    test('is forgotten once the event is settled', async () => {
      await settle([lane(two, 1, { nextMs: undefined })]);
      await settle([lane(two, 2), lane(one, 1)]);
      expect(await onMonday()).toBeUndefined();
    });

    test('is forgotten if another consumer waits, or none', async () => {
      const mailer = { id: 'mailer', start: 'now' } as const;
      await settle([lane(two, 1, { nextMs: undefined })], mailer);
      expect(await onMonday()).toBeUndefined();
    });
  });
}
