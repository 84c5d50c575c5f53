import { expect, test } from 'vitest';
import type { TimerLimits } from '../../../../model/timer-limits.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { consumerReplySuite, consumerStoreSuite } from '../../../suites/consumer-store-suite.ts';
import { answerTo, journalSuite, keep } from '../../../suites/journal-suite.ts';
import { replyRetentionSuite } from '../../../suites/reply-retention-suite.ts';
import { timerAdministrationSuite } from '../../../suites/timer-administration-suite.ts';
import { timerSuite } from '../../../suites/timer-suite.ts';

test('a journal in memory forgets answers from the oldest on, of whatever entity', async () => {
  const journal = new MemoryJournal();
  const keepAt = (id: string, time: number, retentionMs: number) =>
    keep(journal, { component: 'Cart', id }, [], { ...answerTo(`k${time}`, time), retentionMs });
  for (const time of [1, 2, 3]) await keepAt(`e${time}`, time, Infinity);
  // In the place of an older one it is the newest.
  await keep(journal, { component: 'Cart', id: 'e1' }, [], {
    ...answerTo('k1', 20),
  });
  await keepAt('e4', 4, 2);
  const left = [1, 2, 3, 4].map((n) => journal.answer({ component: 'Cart', id: `e${n}` }, `k${n}`));
  expect(left.map((answer) => answer?.timeMs)).toEqual([20, undefined, 3, 4]);
});

async function open() {
  const journal = new MemoryJournal();
  return { journal, discard: () => journal.close() };
}

journalSuite('in memory', open);
replyRetentionSuite('in memory', open);

function withTimers(timerLimits: TimerLimits) {
  const journal = new MemoryJournal({ timerLimits });
  return {
    journal,
    administration: journal,
    due: (nowMs: number, limit = Infinity) => journal.dueTimers(nowMs, limit),
    discard: () => journal.close(),
  };
}

timerSuite('in memory', async (limits) => withTimers(limits));
timerAdministrationSuite('in memory', async () => withTimers({ max: 20, perEntityMax: 5 }));

for (const suite of [consumerStoreSuite, consumerReplySuite])
  suite('in memory', async () => {
    const journal = new MemoryJournal();
    return { journal, writer: journal, reader: journal.consumers, discard: () => journal.close() };
  });
