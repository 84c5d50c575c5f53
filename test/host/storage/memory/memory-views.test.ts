// The store of views in memory, as every store of views.
import { MemoryViews } from '../../../../host/storage/memory/memory-views.ts';
import { viewStoreSuite } from '../../../suites/view-store-suite.ts';

viewStoreSuite('in memory', (limits) => ({
  store: new MemoryViews(limits),
  discard() {
    // Nothing outlives the test.
  },
}));
