import { MemoryJournal } from '../../../host/storage/memory-journal.ts';
import { journalSuite } from '../../suites/journal-suite.ts';

journalSuite('in memory', async () => {
  const journal = new MemoryJournal();
  return { journal, discard: () => journal.close() };
});
