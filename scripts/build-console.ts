// Builds the console's page to where its server looks for it. Whoever reads there meanwhile finds the one before, whole;
// of two who build at once one is left.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CONSOLE_PAGE, buildConsolePage } from './console-page.ts';

const fresh = join(import.meta.dirname, '..', 'build', `console-${process.pid}`);
try {
  await buildConsolePage(fresh);
  rmSync(CONSOLE_PAGE, { recursive: true, force: true });
  renameSync(fresh, CONSOLE_PAGE);
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
