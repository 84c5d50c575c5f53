// TimedJournal is a journal in a folder beside the clock of a test: no time passes while a write is on its way to the disk, so that
// the same commands are stored at the same times however fast the disk is.
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { ConsumerWriter } from '../engine/needs/consumers.ts';
import type { Journal } from '../engine/needs/journal.ts';

type Hold = NonNullable<ServiceClock['hold']>;

/** `journal` is used through what this returns alone. */
export function timedJournal(journal: Journal, hold: Hold): Journal {
  return {
    positions: journal.positions,
    append(entity, records, settled, beside) {
      const release = hold();
      const stored: typeof settled = (failure) => {
        release();
        settled(failure);
      };
      journal.append(entity, records, stored, beside);
    },
    read: (...page) => journal.read(...page),
    lastDeletion: (entity) => journal.lastDeletion(entity),
    incarnation: (...start) => journal.incarnation(...start),
    keepSnapshot: (entity, snapshot) => journal.keepSnapshot(entity, snapshot),
    answer: (entity, key) => journal.answer(entity, key),
    timer: (number) => journal.timer(number),
    close: () => journal.close(),
  };
}

/** `writer` is used through what this returns alone. */
export function timedConsumers(writer: ConsumerWriter, hold: Hold): ConsumerWriter {
  return {
    async settleConsumer(...settlement) {
      const release = hold();
      try {
        await writer.settleConsumer(...settlement);
      } finally {
        release();
      }
    },
  };
}
