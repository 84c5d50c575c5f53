// ConsolePage: the console's page in a checkout, where it is built when it is needed. An installed package has it.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from './command.ts';
import { errorStyle } from './terminal.ts';

/** Of a checkout. */
const BUILT = 'console/public/index.html';
const SOURCES = 'console/page';
const HOW = 'scripts/console-page.ts';
const BUILD = 'scripts/build-console.ts';

/** Builds it unless it is built of the sources as they are. Throws CommandFailure. */
export function buildStalePage(checkout: string): void {
  if (!isPageStale(checkout)) return;
  process.stderr.write(`${errorStyle('dim', "Building the console's page …")}\n`);
  const script = join(checkout, BUILD);
  const built = existsSync(script)
    ? spawnSync(process.execPath, [script], { cwd: checkout, encoding: 'utf8' })
    : undefined;
  if (built?.status === 0) return;
  throw new CommandFailure(
    'SVC_CONSOLE_UNAVAILABLE',
    `The console's page is not built of its present sources, and building it failed. Run node ${BUILD} ` +
      `in ${checkout}, after npm install.${built === undefined ? '' : ` It said: ${built.stderr.trim()}`}`,
  );
}

/** Whether it is not built, or a source has changed, come or gone since. */
export function isPageStale(checkout: string): boolean {
  const builtMs = changedMs(join(checkout, BUILT));
  if (builtMs === undefined) return true;
  const sources = join(checkout, SOURCES);
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  // A folder tells of what has come to it, and what has gone.
  const looked = [sources, join(checkout, HOW), ...files.map((file) => join(sources, file))];
  return looked.some((file) => (changedMs(file) ?? 0) > builtMs);
}

function changedMs(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
