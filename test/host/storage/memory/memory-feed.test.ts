import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { feedSuite } from '../../../suites/feed-suite.ts';

feedSuite('in memory', async () => {
  const journal = new MemoryJournal();
  return {
    journal,
    feed: () => journal.feed(),
    discard: () => journal.close(),
  };
});
