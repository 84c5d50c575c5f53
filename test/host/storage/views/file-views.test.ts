// The store of views on disk, as every store of views.
import { rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileViews } from '../../../../host/storage/views/file-views.ts';
import { viewStoreSuite } from '../../../suites/view-store-suite.ts';

viewStoreSuite('in files', (limits) => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  return {
    store: new FileViews(dir, limits),
    discard: () => rmSync(dir, { recursive: true, force: true }),
  };
});
