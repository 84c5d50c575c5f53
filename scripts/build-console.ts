// Builds the console's page into the folder of its server. The page is built in a folder of its own, which then
// replaces the old page, so a reader never sees parts of both. Of two builds at the same time, one wins.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CONSOLE_PAGE, buildConsolePage } from './console-page.ts';

const fresh = join(import.meta.dirname, '..', 'build', `console-${process.pid}`);
try {
  await buildConsolePage(fresh);
  rmSync(CONSOLE_PAGE, { recursive: true, force: true });
  renameSync(fresh, CONSOLE_PAGE);
} catch (error) {
  // ENOTEMPTY: another build has moved its page there meanwhile.
  if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
